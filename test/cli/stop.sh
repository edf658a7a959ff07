#!/bin/sh
# stop.sh SIGNAL COMMAND... -- starts COMMAND, which must run for long, sends SIGNAL as soon as COMMAND catches it, and exits
# with COMMAND's exit code.
signal=$1
shift
"$@" &
sh "$(dirname "$0")"/catches.sh $!
kill -"$signal" $!
wait $!
