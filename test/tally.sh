#!/bin/sh
# tally.sh LOG... -- prints the last line of `make check`: how many tests and cases passed and how many were skipped,
# from the logs of all test programs, of the command lines and of the Python package. Skipped tests are named. Under
# CI=true, where every package can be installed, a skipped test counts as a failure unless a glob in may_skip.txt
# matches its line.
allowed=$(dirname "$0")/may_skip.txt
skips=$(mktemp) || exit 1
trap 'rm -f "$skips"' EXIT

# cmocka names a skipped test twice
for log; do
    sed -n 's/^\[  SKIPPED \] \([a-z_]*[a-z][a-z0-9_]*\)$/\1/p' "$log" | sort -u
    sed -n -e 's/^skip\(ped\)*: *//p' -e 's/^SKIP *//p' -e "s/^skip \(test_[a-z]*: .*\)/\1/p" \
        -e "s/^\(.*\) \.\.\. skipped '\(.*\)'$/\1 (\2)/p" "$log"
done | sort >"$skips"
cat "$@" | awk '/^\[  PASSED/ {passed += $4}
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
printf '\n%d passed, 0 failed, %d skipped' "$passed" "$count"
[ "$unexpected" = 0 ] && echo || echo ", $unexpected of them against expectation"
[ "$unexpected" = 0 ]
