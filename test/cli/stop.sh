#!/bin/sh
# stop.sh SIGNAL COMMAND... -- starts COMMAND, which must be long, sends it SIGNAL as soon as it catches SIGTERM (bit 14
# of its mask), however fast or slow the machine is, and exits with its code.
signal=$1
shift
"$@" &
until grep -qs '^SigCgt:.*[4-7c-f]...$' "/proc/$!/status"; do
    [ -d "/proc/$!" ] || break
    sleep 0.01
done
kill -"$signal" $!
wait $!
