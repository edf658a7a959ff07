#!/bin/sh
# catches.sh PID -- waits until the process, one of this project's programs, catches SIGTERM (bit 14 of its signal
# mask) or has ended.
until grep -qs '^SigCgt:.*[4-7c-f]...$' "/proc/$1/status"; do
    [ -d "/proc/$1" ] || break
    sleep 0.01
done
