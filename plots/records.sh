#!/bin/sh
# records.sh -- copies a file's first records: sh plots/records.sh BYTES_OF_A_RECORD RECORDS FILE -o OUT
set -eu
export LC_ALL=C
size=$(($1 * $2)) from=$3 to=$5
mkdir -p "${to%/*}"
head -c $size "$from" >"$to"
[ "$(wc -c <"$to")" -eq $size ] || { echo "$from: $(($(wc -c <"$to") / $1)) records, want $2 or more" >&2; exit 1; }
