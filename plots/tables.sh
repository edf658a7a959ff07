#!/bin/sh
# tables.sh -- makes tables from the CSV of atomo-bench report.
#
#     sh tables.sh across BENCH RESULT FIELD OUT.{csv,json} --columns LIST [OPTION]...
#         a row for each value of the first column of LIST; the other columns of LIST occur once for each value of FIELD
#     sh tables.sh tuned BENCH OUT.json RESULT...
#         results of atomo-train tune with several seeds: means over the seeds, with standard errors; for each compressor, the
#         step size with the least mean loss is chosen
#     sh tables.sh speedups BENCH OUT.json RESULT...
#         results of atomo-train run with several seeds: for each compressor the mean speed-up to each accuracy over plain
#         SGD of the same seed, the mean of the last test accuracies, and the mean difference to that of plain SGD
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

# One CSV of each result, and of them all a JSON with the means.
each_seed() { # AWK_OPTION...
    n=0
    for one; do
        [ "$one" = -q ] && continue
        n=$((n + 1))
        if [ $job = tuned ]; then
            "$bench" report "$one" --columns compressor,lr,validation_loss,validation_accuracy,chosen -f csv >"$tmp/$n"
        else
            "$bench" report "$one" --speedup -f csv >"$tmp/times"
            "$bench" report "$one" --where record=summary --columns test_accuracy -f csv >"$tmp/accuracies"
            paste -d , "$tmp/times" "$tmp/accuracies" >"$tmp/$n"
        fi
        seeds="${seeds:+$seeds, }$(sed -n 's/^  "seed": \([0-9]*\).*/\1/p' "$one")"
    done
    meta="\"meta\": {\"source\": \"means over the seeds $seeds, with standard errors\"},"
}

if [ "$job" = tuned ] || [ "$job" = speedups ]; then
    out=$result seeds=
    each_seed "$@"
    set --
    while [ $n -gt 0 ]; do
        set -- "$tmp/$n" "$@"
        n=$((n - 1))
    done
    if [ "$job" = tuned ]; then
        awk -v job=means -v schema=atomo-tune/1 -v keys=2 -v best=validation_loss -v meta="$meta" -f "$awk" "$@" >"$tmp/out"
    else
        awk -v job=means -v schema=atomo-means/1 -v keys=1 -v against=none -v meta="$meta" -f "$awk" "$@" >"$tmp/out"
    fi
elif [ "$job" = across ]; then
    field=$1 out=$2 list=$4
    shift 4
    "$bench" report "$result" --columns "$list,$field" "$@" -f csv >"$tmp/own"
    meta=$(sed -n '/^"meta"/,/^"results"/p' "$result" | sed '/^"results"/d; s/\\/\\\\/g')
    # CSV has no facts about the run.
    repeats=
    case $out in *.json) repeats=$(printf '%s\n' "$meta" | sed -n 's/^  "repeats": \([0-9]*\).*/\1/p') ;; esac
    awk -v job=across -v repeats="$repeats" -v meta="$meta" -f "$awk" "$tmp/own" >"$tmp/out"
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
