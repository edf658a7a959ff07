# a stopped run leaves an earlier result unchanged
$ atomo-bench synth -o g.h5 --shape 4000x1000 -q; echo before >r.csv; sh $SRC/test/cli/stop.sh TERM atomo-bench verify g.h5 --force -o r.csv -q; echo $?; cat r.csv
> 130
> before
2> atomo-bench: g.h5: *stopped*
= 0
