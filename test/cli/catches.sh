#!/bin/sh
# catches.sh PID -- waits until a program of ours catches SIGTERM (bit 14 of its mask), however fast or slow the machine is,
# or is gone.
until grep -qs '^SigCgt:.*[4-7c-f]...$' "/proc/$1/status"; do
    [ -d "/proc/$1" ] || break
    sleep 0.01
done
