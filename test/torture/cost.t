# a stopped run leaves the earlier result
$ atomo-bench synth -o g.h5 --shape 2000x640 -q; echo earlier >x.csv; sh $SRC/test/cli/stop.sh TERM atomo-bench cost g.h5 -c svd:method=gesdd --repeats 1000 --force -o x.csv -q; echo $?; cat x.csv
> 130
> earlier
2> atomo-bench: g.h5: stopped with *
= 0
