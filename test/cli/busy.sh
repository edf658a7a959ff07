#!/bin/sh
# busy.sh PID TICKS -- waits until the process has used TICKS hundredths of a second of processor time or has ended.
[ $# -eq 2 ] || exit 2
while set -- "$1" "$2" $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) && [ $# -gt 20 ] && [ $((${14} + ${15})) -lt "$2" ]; do sleep 0.01; done
