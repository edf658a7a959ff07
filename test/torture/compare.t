# a stopped run prints how to continue
$ atomo-bench synth -o g.h5 --shape 10 --shape 2000x640 -q; atomo-bench compare g.h5 -c none -c svd:method=gesdd --repeats 1000 -o r.csv & until grep -qs layer0 r.csv.journal || ! kill -0 $!; do sleep 0.01; done; kill -TERM $!; wait $!; echo $?; ls
> 130
> r.csv.journal
- r.csv
2> atomo-bench: g.h5: stopped with * of 6 records finished
2> hint: the same command with --resume continues from r.csv.journal
= 0

# a stopped run without an output file prints its finished records
$ atomo-bench synth -o g.h5 --shape 10 --shape 2000x640 -q; atomo-bench compare g.h5 -c none -c svd:method=gesdd --repeats 1000 -f csv --metrics bytes,encode_ms -v >out 2>err & until grep -q finished: err || ! kill -0 $!; do sleep 0.05; done; kill -TERM $!; wait $!; echo $?; cat out err
> 130
> step,worker,*
> 1,,layer0.weight,norm,10,10,none,1000,40,*
> *stopped with * of 6 records finished
= 0

# a journal with records is neither overwritten nor used without --resume
$ atomo-bench synth -o g.h5 --shape 10 --shape 2000x640 -q; set -- compare g.h5 -c none -c svd:method=gesdd --repeats 1000 -o r.csv; atomo-bench "$@" & until grep -qs layer0 r.csv.journal || ! kill -0 $!; do sleep 0.01; done; kill -9 $!; wait $!; cp r.csv.journal was; atomo-bench "$@"; echo $?; cmp was r.csv.journal && echo kept; ls; head -n 2 was >r.csv.journal; exec atomo-bench "$@"
> 2
> kept
- r.csv
2> atomo-bench: r.csv.journal: has * record* of a run that did not end, want --resume or no journal
2> atomo-bench: r.csv.journal: has 1 record of a run that did not end, want --resume or no journal
2> hint: --resume continues that run; to begin afresh, remove *.journal
= 2

# --resume refuses a journal with records of a codec that is not compared, and keeps it; it may compare more
$ atomo-bench synth -o g.h5 --shape 10 --shape 2000x640 -q; set -- compare g.h5 -c none -c svd:method=gesdd --repeats 100 -o r.csv; atomo-bench "$@" & until grep -qs layer0 r.csv.journal || ! kill -0 $!; do sleep 0.01; done; kill -9 $!; wait $!; head -n 2 r.csv.journal >was; cp was r.csv.journal; atomo-bench compare g.h5 -c fp16 --repeats 100 -o r.csv --resume; echo $?; cmp was r.csv.journal && echo kept; atomo-bench compare g.h5 -c none -c fp16 --repeats 100 -o r.csv --resume -q && ls
> 2
> kept
> g.h5
> r.csv
> was
2> atomo-bench: r.csv.journal: has records of none, which this run does not compare
2> hint: add -c none, or remove *.journal to begin afresh
= 0

# a journal of a run with other settings is not used
$ atomo-bench synth -o g.h5 --shape 10 --shape 2000x640 -q; atomo-bench compare g.h5 -c none -c svd:method=gesdd --repeats 1000 -o r.csv & until grep -qs layer0 r.csv.journal || ! kill -0 $!; do sleep 0.01; done; kill -9 $!; wait $!; atomo-bench compare g.h5 -c none --repeats 3 -o r.csv --resume
2> atomo-bench: r.csv.journal: was begun with --repeats 1000, but this command runs with --repeats 3
2> hint: run the command with --repeats 1000, or remove *.journal to begin afresh
= 2

# where a file cannot be written, a hint names the journal from which --resume continues, and it does
$ atomo-bench synth -o g.h5 --shape 64x32 --shape 10 --steps 3 -q; set -- compare g.h5 -c qsgd -c topk -c none --repeats 2 --metrics bytes -f csv -q -o r.csv; (ulimit -f 16; atomo-bench "$@"); echo $?; atomo-bench "$@" --resume && wc -l <r.csv; ls
2> atomo-bench: r.csv.journal: cannot write: File too large
2> hint: the same command with --resume continues from r.csv.journal
> 1
> 31
> g.h5
> r.csv
= 0

# killed at 50 random moments, with less time than one compressor takes: each start continues at the next record
$ atomo-bench synth -o g.h5 --shape 64x32 --shape 100x30 --shape 10 --steps 3 --workers 2 -q; set -- atomo-bench compare g.h5 -q --repeats 40 -c qsgd -c ef+terngrad -c powersgd:rank=2 -c joint:bits=1+entry --metrics bytes,mse,variance,wasserstein,residual_norm,cosine,bias_p; "$@" -o whole.csv 2>err; for i in $(seq 50); do timeout -s KILL 0.$(od -An -N1 -tu1 /dev/urandom | awk '{printf "%02d", 5 + $1 % 12}') "$@" -o r.csv --resume; done 2>err; "$@" -o r.csv --resume 2>err; cmp whole.csv r.csv && echo same; ls
> same
- *.journal
= 0

# a second signal ends a command at once, in the middle of a call that takes seconds; it leaves neither a temporary file nor half an output
$ atomo-bench synth -o g.h5 --shape 3000x3000 -q; cp g.h5 was; echo before >r.csv; for c in 'compare g.h5 -c svd:method=gesdd --repeats 9 --metrics bytes -o r.csv' 'verify g.h5 -o r.csv' 'encode g.h5 -c svd:method=gesdd -o r.atomo' 'synth --shape 20000x20000 --steps 9 -o g.h5 --force'; do rm -f pid r.csv.journal; sh -c 'echo $$ >pid; exec atomo-bench "$@"' sh $c -q 2>err & until [ -s pid ]; do sleep 0.01; done; sh $SRC/test/cli/catches.sh $(cat pid); sleep 0.3; kill -TERM $!; sleep 0.6; kill -TERM $! 2>/dev/null; wait $!; echo "code $?"; done; cat r.csv; cmp g.h5 was && echo same; ls -A
> before
> same
- code [02]
- code 137
- r.atomo
- *.tmp
= 0
