#!/bin/sh
# intervals.sh PROGRAM TENSOR... -- docs/generated/interval-counts.md to standard output, by PROGRAM (interval_level). Exit 1: a share is too low.
program=$1; shift
code=0
cat <<'END'
# Interval counts

<!-- page: make intervals -->
`make intervals` compares three tensors of LeNet's gradient 300 times with 10 repeats each, counts in how many percent of the experiments the 95 % interval of
a field holds the true value, and writes this page; it exits with 1 if a share is below 88 %. The true value is the closed form, else the mean of all results. The
standard deviation of a share of 95 % is 1.3 %. A dash: half of the experiments or more show no interval. [How far a number can be trusted](../intervals.md) says what the counts mean.
END
for tensor; do
    printf '\n`%s`:\n\n' "$tensor"
    "$program" datasets/lenet-mnist.h5 '*1000' "$tensor" 300 || code=1
done
exit $code
