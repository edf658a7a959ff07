#!/bin/sh
# rates.sh -- tables of one gradient at several sizes, from results of atomo-bench compare --equal-bits.
#
#     sh rates.sh specs BENCH RESULT
#         the options -c SPEC of the codecs that RESULT has at its size; those whose sizes come in steps may be 15 % off
#     sh rates.sh table BENCH QUARTER ONE FOUR MERGE -o OUT.json
#         a row for each codec: its relative errors at a quarter of a bit, one and four bits per element;
#         the error of the workers' mean, and whether payloads merge, from MERGE, a result of atomo-bench merge
#     sh rates.sh all OUT.json RESULT...
#         the records of all RESULTs, which such a table or tables.sh has made, each with the name of its file
#
# BENCH is the program atomo-bench.
set -eu
export LC_ALL=C
here=$(dirname "$0") job=$1
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

lay() { awk -f "$here/tables.awk" -f "$here/paired.awk" "$@"; }

columns() { "$bench" report "$1" --columns "$2" -f csv; } # RESULT FIELDS

bits_of() { sed -n 's/^  "command": ".* --equal-bits \([0-9.]*\) .*/\1/p' "$1"; }

case $job in
specs)
    bench=$1
    columns "$2" compressor,bits_per_element_expected >"$tmp/sizes"
    lay -v job=near -v bits="$(bits_of "$2")" "$tmp/sizes"
    ;;
table)
    bench=$1 quarter=$2 one=$3 four=$4 merge=$5 out=$7
    errors=relative_error,relative_error_se,relative_error_expected
    columns "$quarter" compressor,bits_per_element_expected,$errors >"$tmp/quarter"
    columns "$one" compressor,bits_per_element_expected,$errors >"$tmp/one"
    columns "$four" compressor,bits_per_element_expected,$errors >"$tmp/four"
    columns "$merge" compressor,relative_error,relative_error_expected,merge_ms >"$tmp/merge"
    meta=$(sed -n '/^"meta"/,/^"results"/p' "$one" | sed '/^"results"/d; s/\\/\\\\/g')
    lay -v job=rates -v bits="$(bits_of "$quarter") $(bits_of "$one") $(bits_of "$four")" -v meta="$meta" \
        -v repeats="$(sed -n 's/^  "repeats": \([0-9]*\).*/\1/p' "$one")" \
        "$tmp/quarter" "$tmp/one" "$tmp/four" "$tmp/merge" >"$tmp/out"
    mv "$tmp/out" "$out"
    ;;
all)
    out=$1
    shift
    {
        echo '{"schema": "atomo-pivot/1",'
        sed -n '/^"meta"/,/^"results"/p' "$1"
        for one; do
            name=${one##*/}
            sed -n "/^{\"compressor\"/{s/^{/{\"of\": \"${name%.json}\", /; s/\"seeds\":/\"repeats\":/; s/,*\$/,/; p;}" "$one"
        done | sed '$s/,$//'
        echo ']}'
    } >"$tmp/out"
    mv "$tmp/out" "$out"
    ;;
esac
