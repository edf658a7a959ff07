# a stopped run prints how to continue
$ atomo-bench synth -o g.h5 --shape 10 --shape 2000x640 -q; atomo-bench compare g.h5 -c none -c svd:method=gesdd --repeats 1000 -o r.csv & until grep -qs layer0 r.csv.part || ! kill -0 $!; do sleep 0.01; done; kill -TERM $!; wait $!; echo $?; ls
> 130
> r.csv.part
- r.csv
2> atomo-bench: g.h5: stopped with * of 6 records finished
2> hint: the same command with --resume continues from r.csv.part
= 0

# a stopped run without an output file prints its finished records
$ atomo-bench synth -o g.h5 --shape 10 --shape 2000x640 -q; atomo-bench compare g.h5 -c none -c svd:method=gesdd --repeats 1000 -f csv --metrics bytes,encode_ms -v >out 2>err & until grep -q finished: err || ! kill -0 $!; do sleep 0.05; done; kill -TERM $!; wait $!; echo $?; cat out err
> 130
> step,worker,*
> 1,,layer0.weight,norm,10,10,none,1000,40,*
> *stopped with * of 6 records finished
= 0

# where a file cannot be written, a hint names FILE.part, from which --resume continues, and it does
$ atomo-bench synth -o g.h5 --shape 64x32 --shape 10 --steps 3 -q; set -- compare g.h5 -c qsgd -c topk -c none --repeats 2 --metrics bytes -f csv -q -o r.csv; (ulimit -f 16; atomo-bench "$@"); echo $?; atomo-bench "$@" --resume && wc -l <r.csv; ls
2> atomo-bench: r.csv.part: cannot write: File too large
2> hint: the same command with --resume continues from r.csv.part
> 1
> 31
> g.h5
> r.csv
= 0

# a second signal ends a command at once, in the middle of a call that takes seconds; it leaves neither a temporary file nor half an output
$ atomo-bench synth -o g.h5 --shape 3000x3000 -q; cp g.h5 was; echo before >r.csv; for c in 'compare g.h5 -c svd:method=gesdd --repeats 9 --metrics bytes -o r.csv' 'verify g.h5 -o r.csv' 'encode g.h5 -c svd:method=gesdd -o r.atomo' 'synth --shape 20000x20000 --steps 9 -o g.h5 --force'; do rm -f pid r.csv.part; sh -c 'echo $$ >pid; exec atomo-bench "$@"' sh $c -q 2>err & until [ -s pid ]; do sleep 0.01; done; sh $SRC/test/cli/catches.sh $(cat pid); sleep 0.3; kill -TERM $!; sleep 0.6; kill -TERM $! 2>/dev/null; wait $!; echo "code $?"; done; cat r.csv; cmp g.h5 was && echo same; ls -A
> before
> same
- code [02]
- code 137
- r.atomo
- *.tmp
= 0
