#!/bin/sh
# fill.sh -- makes the tables of a page anew: sh plots/fill.sh BENCH DIRECTORY PAGE.md
#
# A line "<!-- table: FILE.json OPTION... -->" stands above each table, which is that of atomo-bench report
# DIRECTORY/FILE.json with the OPTIONs. A table whose FILE is not there stays, and is named. A line "<!-- facts: FILE.json -->"
# stands above a line with the version and the machine of a result in the page's folder, and its checksum.
set -eu
export LC_ALL=C
facts() { # RESULT
    fact() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" "$2" | head -n 1; }
    echo "*atomo $(fact version "$1"), revision $(fact revision "$1"). $(fact cpu "$1"), $(fact isa "$1") kernels; $(fact os "$1"). SHA-256 of ${1##*/}: $(sha256sum <"$1" | cut -c 1-64)*"
}

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
    '<!-- facts: '*)
        printf '%s\n' "$line"
        from=$(dirname "$page")/${line#<!-- facts: } filling=facts
        facts "${from% -->}"
        ;;
    '*atomo '*) [ "$filling" = facts ] || printf '%s\n' "$line" ;;
    '|'*) [ -n "$filling" ] || printf '%s\n' "$line" ;;
    *)
        filling=
        printf '%s\n' "$line"
        ;;
    esac
done <"$page" >"$tmp/page"
cat "$tmp/page" >"$page"
