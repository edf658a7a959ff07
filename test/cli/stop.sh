#!/bin/sh
# stop.sh SIGNAL COMMAND... -- starts COMMAND, which must run for a long time, and sends SIGNAL as soon as COMMAND
# catches it. The exit code is COMMAND's.
signal=$1
shift
"$@" &
sh "$(dirname "$0")"/catches.sh $!
kill -"$signal" $!
wait $!
