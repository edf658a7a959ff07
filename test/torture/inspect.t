# a file is not replaced by one without the singular values that memory does not suffice for
$ atomo-bench synth -o g.h5 --shape 300x200 -q; atomo-bench inspect g.h5 -o i.csv -q; cp i.csv was; (ulimit -v 100000; atomo-bench inspect g.h5 -o i.csv -q); echo $?; cmp i.csv was && ls
> 1
> g.h5
> i.csv
> was
2> atomo-bench: g.h5: *
= 0
