#!/bin/sh
# tables.sh -- makes two kinds of tables from the CSV of atomo-bench report.
#
#     sh tables.sh across BENCH RESULT FIELD OUT.csv --columns LIST [OPTION]...
#         a row for each value of the first column of LIST; the other columns of LIST occur once for each value of FIELD
#     sh tables.sh beside BENCH RESULT PUBLISHED ON COLUMNS OUT.json [OPTION]...
#         COLUMNS of each row of RESULT, and of the rows of PUBLISHED that have the same values in the fields ON; the meta
#         is that of PUBLISHED. In texts of PUBLISHED, "*" and "[0-9]" are patterns, as in a shell.
#
# BENCH is the program atomo-bench; OPTIONs go to its command report.
set -eu
awk=$(dirname "$0")/tables.awk job=$1 bench=$2 result=$3
shift 3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ "$job" = across ]; then
    field=$1 out=$2 list=$4
    shift 4
    "$bench" report "$result" --columns "$list,$field" "$@" -f csv >"$tmp/own"
    awk -v job=across -f "$awk" "$tmp/own" >"$tmp/out"
else
    published=$1 on=$2 columns=$3 out=$4
    shift 4
    # The fields of RESULT among COLUMNS: those of PUBLISHED are two words, or one of three.
    own=$(printf '%s\n' "$on,$columns" | tr , '\n' | grep -v -e ' ' -e '^setting$' -e '^method$' -e '^how$' -e '^place$' -e '^cause$' | awk '!seen[$0]++' | paste -sd, -)
    # Standard errors and expected values of these, which tables print beside them.
    more=$("$bench" report "$result" --all -f csv | head -n 1 | tr , '\n' | awk -v own="$own" '
        BEGIN { for (n = split(own, name, ","); n; n--) asked[name[n]] = 1 }
        { field = $0; sub(/_se$/, "", field); sub(/_expected$/, "", field) }
        !($0 in asked) && field != $0 && field in asked' | paste -sd, -)
    own=$own${more:+,$more} columns=$columns${more:+,$more}
    "$bench" report "$result" --columns "$own" "$@" -f csv >"$tmp/own"
    "$bench" report "$published" --all -f csv >"$tmp/other"
    awk -v job=beside -v on="$on" -v columns="$columns" -v meta="$(sed -n '/^"meta"/p' "$published" | sed 's/\\/\\\\/g')" \
        -f "$awk" "$tmp/own" "$tmp/other" >"$tmp/out"
fi
mv "$tmp/out" "$out"
