#!/bin/sh
# page.sh BUILD PART... -- docs/generated/certificate.md to standard output, from what the programs of test/certify drew. Exit 1: a promise failed.
build=$1; shift
failed=$(cat "$build/certify/level.md.code")
cat <<'END'
# Certificate

<!-- page: make certify -->
`make certify` draws the codecs, tests the promises below and writes this page; it exits with 1 if one fails. All seeds are fixed: on a CPU
with the same instruction sets the page comes out the same. It takes about ten minutes of two idle cores.

## Mean and variance

Every spec of the tests of all codecs that promises an unbiased estimate or has a closed form of its variance, on twelve gradients (normal,
Laplace, low rank, and the first convolution of LeNet; 500 elements as a vector, as a matrix of 25 x 20 and as a convolution of 20 x 1 x 5 x 5), with
1 and 3 threads, and with each instruction set of this CPU (base, AVX2, AVX-512): a *cell*, of 500 draws with a seed of its own. The draws of all cells
of one gradient are a group, those of one number of threads and of one instruction set as well. Each group has up to three tests: the gain
⟨ĝ, g⟩ / |g|² has mean 1 (Student's t); the mean estimate is no further from g than its variance allows (F); the squared error has the mean of the closed form
(Student's t). *would show* is the least deviation on one of the gradients, the worst for the spec, that its test finds with
probability 0.9 at the strictest level that Holm's method asks for. Deviations and their standard errors are over all draws of the spec.

END
page=$(cat "$@" | LC_ALL=C sort | "$build/test/certify/certify_report") || failed=1
cat <<END
$page

## The tests of bias that tables print

\`compare\` says of each row whether it is biased. 2,001 tables of twelve unbiased codecs on three vectors of LeNet's gradient (500, 5,000 and 50 elements), in 5, 10 and 30 repeats: at most 1.5 % of the tables
may have a false alarm. Where a table says what bias would show, that bias is planted in the decoded vectors, as a factor and as a shift; the tests must find a factor in 85 to 95 % of the tables and a shift in 85 % or more; stated are 90 %, and 90 % or more. The gain of \`eden\` is 1 in each draw, so any factor or shift shows.
Without bias the shares of p-values below 0.05 and 0.01 would be 5 and 1 %; a dash stands where a codec is not tested.
$(cat "$build/certify/level.md")

The biased codecs draw again what would be empty, the second one with clipped probabilities as ATOMO's released coder does. A verdict is wrong where none is seen
although this bias would show.
END
exit "$failed"
