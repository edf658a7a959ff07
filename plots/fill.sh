#!/bin/sh
# fill.sh -- makes the tables of a page anew: sh plots/fill.sh BENCH DIRECTORY PAGE.md
#
# A line "<!-- table: FILE.json OPTION... -->" stands above each table, which is that of atomo-bench report
# DIRECTORY/FILE.json with the OPTIONs. A table whose FILE is not there stays, and is named.
set -eu
bench=$1 data=$2 page=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
filling=
while IFS= read -r line; do
    case $line in
    '<!-- table: '*)
        printf '%s\n' "$line"
        table=${line#<!-- table: } filling=
        table=${table% -->}
        if [ -f "$data/${table%% *}" ]; then
            filling=yes
            eval "set -- $table"
            shift
            "$bench" report "$data/${table%% *}" "$@" -f md >"$tmp/table"
            sed '/^|/!d; s/+-/±/g' "$tmp/table"
        else
            echo "fill: ${table%% *}: not there, its table stays" >&2
        fi
        ;;
    '|'*) [ -n "$filling" ] || printf '%s\n' "$line" ;;
    *)
        filling=
        printf '%s\n' "$line"
        ;;
    esac
done <"$page" >"$tmp/page"
cat "$tmp/page" >"$page"
