# a command that is stopped or refused before its first record leaves no FILE.part, and speaks of no --resume; an older one with records stays
$ atomo-bench synth --shape 30x30 -q -o g.h5 >/dev/null; ln -s /nonexistent/x.h5 d; atomo-train run --network softmax --dataset digits --max-steps 2 --train-dir d -o r.csv -q; echo "train $?"; ls; atomo-bench compare g.h5 -c none -o c.csv --memory 1 -q; ls c.csv.part 2>/dev/null; printf '{"part": "atomo-run/1"}\n{"record": "step"}\n' >r.csv.part; atomo-train run --network softmax --dataset digits --max-steps 2 -o r.csv -q; wc -l <r.csv.part; atomo-bench synth --shape 3000x3000 -q -o big.h5 >/dev/null; for ticks in 0 50; do atomo-bench compare big.h5 -c svd --equal-bits 1 -q -o s.csv & until [ -e s.csv.part ] || ! kill -0 $!; do sleep 0.002; done; sh "$SRC"/test/cli/busy.sh $! $ticks; kill -TERM $!; wait $!; echo "stopped at $ticks: $?"; ls s.csv.part 2>/dev/null; done; [ $? != 0 ]
> train 1
> 2
> stopped at 0: 130
> stopped at 50: 130
2> atomo-bench: big.h5: stopped before the first record
- s.csv.part
- *resume continues*
- r.csv.part
- c.csv.part
= 0

# a list that was empty is named as an option that was not given
$ atomo-bench synth --shape 300x300 --shape 30 -q -o g.h5; atomo-bench compare g.h5 -c svd --repeats 100000 -q -o r.csv & until [ "$(grep -cs '' r.csv.part)" -ge 1 ] || ! kill -0 $!; do sleep 0.02; done; kill -9 $!; wait $!; head -n 1 r.csv.part >one; { cat one; echo '{}'; } >r.csv.part; atomo-bench compare g.h5 -c svd --repeats 100000 -t '*0*' -q -o r.csv --resume
2> atomo-bench: r.csv.part: has records of another run: --tensor (none there, [*]0[*] here)
= 2
