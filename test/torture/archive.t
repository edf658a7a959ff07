# on a full disk no output file appears
$ (ulimit -f 20; atomo-bench synth -o a.h5); ls -A
>
2> atomo-bench: a.h5: cannot write step_000001/layer*: File too large
= 0
