# a result or FILE.part that is too large for the memory is refused before it is read
? ! nm -D "$(command -v atomo-bench)" | grep -q asan && truncate -s 1T big && rm big
$ atomo-bench synth --shape 30 -q -o g.h5; truncate -s 1T big.csv; truncate -s 1T r.csv.part; ulimit -v 1000000; for c in 'report big.csv' 'plot pareto big.csv -o x.svg' 'compare g.h5 -c none -q -o r.csv'; do timeout -s KILL 60 atomo-bench $c; echo $?; done; ls
> 1
- 0
- 137
- x.svg
- r.csv
2> atomo-bench: report: big.csv: out of memory: *
2> atomo-bench: r.csv.part: out of memory: *
= 0

# ... and the message of compare, sweep, merge and cost names file and tensor, and the codec if it is at work
? ! nm -D "$(command -v atomo-bench)" | grep -q asan
$ atomo-bench synth --shape 3000x3000 --shape 10 -q -o g.h5 >/dev/null; for c in 'compare -c qsgd' 'sweep -c qsgd' 'merge -c qsgd --workers 4' 'cost -c qsgd'; do for v in 90000 110000 130000 150000 170000 190000 210000 230000; do (ulimit -v $v; timeout -s KILL 60 atomo-bench ${c%% *} g.h5 ${c#* } --repeats 1 --threads 1 -q 2>&1 >/dev/null); done | grep 'out of memory' >e; [ -s e ] && echo ${c%% *} ran out; grep -v '^atomo-bench: g.h5: \(qsgd on \)*\(step_000001/\)*layer0.weight: ' e; done
> compare ran out
> sweep ran out
> merge ran out
> cost ran out
- atomo-bench*
= 1
