#!/bin/sh
# tables.sh -- makes tables from the CSV of atomo-bench report.
#
#     sh tables.sh across BENCH RESULT FIELD OUT.{csv,json} --columns LIST [OPTION]...
#         a row for each value of the first column of LIST; the other columns of LIST occur once for each value of FIELD
#     sh tables.sh JOB BENCH OUT.json RESULT...
#         means over results with several seeds, with standard errors; rows of RESULTs of one seed stand under one another. JOB is
#         tuned: of atomo-train tune; for each compressor, the step size with the least mean loss is chosen
#         speedups: of atomo-train run: for each compressor the speed-up to each accuracy over plain SGD of the same seed, the
#             last test accuracy, and its difference to that of plain SGD
#         costs: of atomo-train run: steps and bytes to each accuracy, all bytes, last test accuracy and loss; paired-costs without bytes and loss
#         tests: of atomo-train run: the test accuracies of each step
#         late: of atomo-train run: first and last step size, and of the tests in the second half the least and the last accuracy
#     sh tables.sh paired-JOB BENCH OUT.json RESULT...
#         the differences of each compressor to plain SGD of the same seed, with intervals and probabilities: paired.awk
#     sh tables.sh beside BENCH RESULT PUBLISHED ON COLUMNS OUT.json [OPTION]...
#         COLUMNS of each row of RESULT, and of the rows of PUBLISHED that have the same values in the fields ON; the meta
#         is that of PUBLISHED. In texts of PUBLISHED, "*" and "[0-9]" are patterns, as in a shell.
#
# BENCH is the program atomo-bench; OPTIONs go to its command report.
set -eu
export LC_ALL=C
here=$(dirname "$0") job=${1#paired-} bench=$2 result=$3 lay_out=means
[ "$1" = "$job" ] || lay_out=paired
shift 3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

lay() { awk -f "$here/tables.awk" -f "$here/paired.awk" "$@"; }

# The columns of JOB, as CSV, of a result.
columns_of() { # RESULT
    case $job in
    tuned) "$bench" report "$1" --columns compressor,lr,validation_loss,validation_accuracy,chosen -f csv ;;
    speedups)
        "$bench" report "$1" --speedup -f csv >"$tmp/times"
        "$bench" report "$1" --where record=summary --columns test_accuracy -f csv | paste -d , "$tmp/times" -
        ;;
    costs)
        # Bytes follow from the steps: they have no differences of their own.
        sizes='^steps_to_|^bytes_to_|^bytes_up' loss=,test_loss
        [ $lay_out = means ] || sizes='^steps_to_' loss=
        "$bench" report "$1" --where record=summary -f csv >"$tmp/all"
        targets=$(head -n 1 "$tmp/all" | tr , '\n' | grep -E "$sizes" | paste -sd, -)
        "$bench" report "$1" --where record=summary --columns "compressor,${targets:+$targets,}test_accuracy$loss" -f csv
        ;;
    tests)
        "$bench" report "$1" --where record=step --columns step,compressor,test_accuracy -f csv >"$tmp/steps"
        sed '/,$/d' "$tmp/steps"
        ;;
    late)
        "$bench" report "$1" --where record=step --columns compressor,step,lr,test_accuracy -f csv >"$tmp/steps"
        lay -v job=late "$tmp/steps"
        ;;
    esac
}

# Writes a CSV of each seed; sets `files`, `seeds` and `meta`.
each_seed() { # RESULT...
    for one; do
        [ "$one" = -q ] && continue
        columns_of "$one" >"$tmp/columns"
        seed=$(sed -n 's/^  "seed": \([0-9]*\).*/\1/p' "$one")
        if [ -f "$tmp/$seed.csv" ]; then
            sed 1d "$tmp/columns" >>"$tmp/$seed.csv"
        else
            mv "$tmp/columns" "$tmp/$seed.csv"
            seeds="${seeds:+$seeds, }$seed" files="$files $tmp/$seed.csv"
        fi
    done
    meta="\"meta\": {\"source\": \"means over the seeds $seeds, with standard errors\"},"
}

case $job in
tuned) schema=atomo-tune/1 keys=2 against= best=validation_loss ;;
speedups | costs) schema=atomo-means/1 keys=1 against=none best= ;;
tests) schema=atomo-means/1 keys=2 against= best= ;;
late) schema=atomo-means/1 keys=3 against=none best= ;;
*) schema= ;;
esac
[ $lay_out = means ] || schema=atomo-means/1 against=none

if [ -n "$schema" ]; then
    out=$result seeds= files=
    each_seed "$@"
    lay -v job=$lay_out -v schema=$schema -v keys=$keys -v against=$against -v best=$best -v meta="$meta" $files >"$tmp/out"
elif [ "$job" = across ]; then
    field=$1 out=$2 list=$4
    shift 4
    "$bench" report "$result" --columns "$list,$field" "$@" -f csv >"$tmp/own"
    meta=$(sed -n '/^"meta"/,/^"results"/p' "$result" | sed '/^"results"/d; s/\\/\\\\/g')
    # CSV has no facts about the run.
    repeats=
    case $out in *.json) repeats=$(sed -n -e 's/^  "repeats": \([0-9]*\).*/\1/p' -e 's/^{.*"seeds": \([0-9]*\)}.*/\1/p' "$result" | sed 1q) ;; esac
    lay -v job=across -v repeats="$repeats" -v meta="$meta" "$tmp/own" >"$tmp/out"
else
    published=$1 on=$2 columns=$3 out=$4
    shift 4
    # The fields of RESULT among COLUMNS: those of PUBLISHED are two words, or one of three.
    own=$(printf '%s\n' "$on,$columns" | tr , '\n' | grep -v -e ' ' -e '^setting$' -e '^method$' -e '^how$' -e '^place$' -e '^cause$' | awk '!seen[$0]++' | paste -sd, -)
    # Standard errors and expected values of these, which tables print beside them.
    more=$(grep -o '"[a-z_0-9]*":' "$result" | tr -d '":' | sort -u | awk -v own="$own" '
        BEGIN { for (n = split(own, name, ","); n; n--) asked[name[n]] = 1 }
        { field = $0; sub(/_se$/, "", field); sub(/_expected$/, "", field) }
        !($0 in asked) && field != $0 && field in asked' | paste -sd, -)
    own=$own${more:+,$more} columns=$columns${more:+,$more}
    "$bench" report "$result" --columns "$own" "$@" -f csv >"$tmp/own"
    "$bench" report "$published" --all -f csv >"$tmp/other"
    lay -v job=beside -v on="$on" -v columns="$columns" -v meta="$(sed -n '/^"meta"/p' "$published" | sed 's/\\/\\\\/g')" \
        "$tmp/own" "$tmp/other" >"$tmp/out"
fi
mv "$tmp/out" "$out"
