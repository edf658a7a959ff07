#!/bin/sh
# STATUS=N tally.sh LOG... -- prints the last lines of `make check`: how many tests and cases passed, failed and were
# skipped, from the logs of all test programs, of the command lines and of the Python package. Failed and skipped tests
# are named, and the ten that took most processor time (from NAME.times beside NAME.log). Fails if a test failed or STATUS, the exit code of the make that ran the tests, is not 0. Under
# CI=true, where every package can be installed, a skipped test counts as a failure unless a glob in may_skip.txt
# matches its line.
allowed=$(dirname "$0")/may_skip.txt
skips=$(mktemp) || exit 1
trap 'rm -f "$skips"' EXIT

# cmocka names a skipped test twice
for log; do
    [ -f "$log" ] || continue # not run
    sed -n 's/^\[  SKIPPED \] \([a-z_]*[a-z][a-z0-9_]*\)$/\1/p' "$log" | sort -u
    sed -n -e 's/^skip\(ped\)*: *//p' -e 's/^SKIP *//p' -e "s/^skip \(test_[a-z]*: .*\)/\1/p" \
        -e "s/^\(.*\) \.\.\. skipped '\(.*\)'$/\1 (\2)/p" "$log"
done | sort >"$skips"
cat "$@" 2>/dev/null | awk '/^\[  PASSED/ {passed += $4}
    /^Ran [0-9]+ tests? in/ {passed += $2}
    /^OK \(skipped=/ {passed -= substr($2, 10) + 0}
    /^cli: / {for (i = 2; i <= NF; i++) if ($i == "cases" || $i == "passed,") {passed += $2; break}}
    END {printf "%d\n", passed}' >"$skips.passed"
passed=$(cat "$skips.passed")
rm -f "$skips.passed"
count=0 unexpected=0
while IFS= read -r what; do
    count=$((count + 1))
    mark=skipped
    if [ "$CI" = true ]; then
        mark='SKIPPED AGAINST EXPECTATION'
        while IFS= read -r glob; do
            # shellcheck disable=SC2254  # the line is a glob
            case $glob in '' | '#'*) continue ;; esac
            # shellcheck disable=SC2254
            case $what in $glob) mark=skipped ;; esac
        done <"$allowed"
        [ "$mark" = skipped ] || unexpected=$((unexpected + 1))
    fi
    echo "$mark: $what"
done <"$skips"
grep -hs '^FAILED: ' "$@"
failed=$(cat "$@" 2>/dev/null | grep -c '^FAILED: ')
[ "$failed" != 0 ] || [ "${STATUS:-0}" = 0 ] || failed="some checks (above)"
for log; do
    name=${log%.log} shown=${log#build/*/}
    [ ! -f "$name.times" ] || awk -v name="$(x=${shown%.log}; echo "${x#test/}")" 'NR == 2 {
        gsub("s", "")
        split($1, own, "m"); split($2, kernel, "m")
        printf "%.1f %s\n", 60 * (own[1] + kernel[1]) + own[2] + kernel[2], name
    }' "$name.times"
done | sort -rn | awk '{sum += $1} NR <= 10 {list = list (NR > 1 ? ", " : "") $2 " " $1}
    END {if (NR) printf "seconds of processor time: %.0f; longest: %s\n", sum, list}'
printf '\n%d passed, %s failed, %d skipped' "$passed" "$failed" "$count"
[ "$unexpected" = 0 ] && echo || echo ", $unexpected of them against expectation"
[ "$unexpected" = 0 ] && [ "$failed" = 0 ]
