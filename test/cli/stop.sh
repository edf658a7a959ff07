#!/bin/sh
# stop.sh SIGNAL COMMAND... -- starts COMMAND, which must be long, sends it SIGNAL as soon as it catches that, and exits with
# its code.
signal=$1
shift
"$@" &
sh "$(dirname "$0")"/catches.sh $!
kill -"$signal" $!
wait $!
