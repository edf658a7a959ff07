# after --resume the bar begins at the records of FILE.part; a limit on the size of files ends the first run in time, however busy the machine is
? command -v script && command -v cc
$ cc -shared -fPIC -D_GNU_SOURCE -o hurry.so "$SRC/test/cli/hurry.c"; h="LD_PRELOAD=$PWD/hurry.so ASAN_OPTIONS=verify_asan_link_order=0"; atomo-bench synth --shape 400x300 --shape 400x301 --shape 400x302 -o g.h5 -q >/dev/null; set -- compare g.h5 -c svd:rank=1/2/3/4/5/6/7/8 --repeats 2 --threads 1 -o r.csv; (ulimit -f 100; atomo-bench "$@" -q 2>/dev/null); old=$(($(wc -l <r.csv.part) - 1)); TERM=xterm script -qc "stty cols 120; $h atomo-bench $* --resume" /dev/null | tr '\r' '\n' >bar; first=$(sed -n 's|.*comparing .*  *\([0-9]*\)/32 records.*|\1|p' bar | head -n 1); [ "$old" -ge 8 ] && [ "$first" -ge "$old" ] && echo goes on || echo "from $first, with $old in FILE.part"
> goes on
= 0

# a failed write leaves the earlier file unchanged and no other file
$ echo before >list.csv; (ulimit -f 0; atomo-bench list --force -o list.csv 2>&1; echo $?) | cat; cat list.csv; ls -A
> atomo-bench: list.csv: cannot write: File too large
> 1
> before
> list.csv
- *.tmp
= 0

# after a signal no unfinished file is left
$ atomo-bench synth -o g.h5 --shape 4000x4000 --steps 40 -q & until ls -A | grep -q tmp || ! kill -0 $!; do sleep 0.002; done; kill -TERM $!; wait $!; echo $?; ls -A
> 130
- *tmp*
- g.h5
2> atomo-bench: *stopped*
= 0

# after a signal neither a running gnuplot nor its directory is left
$ mkdir bin tmp; printf '#!/bin/sh\necho $$ >"$HOME/child"\nexec sleep 50\n' >bin/gnuplot; chmod +x bin/gnuplot; export HOME="$PWD" TMPDIR="$PWD/tmp" PATH="$PWD/bin:$PATH"; printf 'compressor,bits_per_element,relative_error\nnone,32,0\n' >r.csv; for c in 'plot pareto r.csv -o f.svg' doctor; do rm -f child; atomo-bench $c & until [ -s child ] || ! kill -0 $!; do sleep 0.002; done; kill -TERM $!; wait $!; echo $?; kill -0 $(cat child) 2>/dev/null && echo alive; done; ls -A . tmp
> 130
2> atomo-bench: plot: stopped
2> atomo-bench: doctor: stopped
- alive
- f.svg
- atomo-plot*
- *tmp.*
= 0

# looking through 100,000 records of cost takes seconds of processor time
$ mkdir bin; printf '#!/bin/sh\necho drawing\nexit 1\n' >bin/gnuplot; chmod +x bin/gnuplot; PATH="$PWD/bin:$PATH"; awk 'BEGIN {print "compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,bytes_up"; for (i = 0; i < 100000; i++) printf "qsgd:bits=%d,%d,1,1,1,1,4,0.5,below,400\n", i % 8 + 1, i / 8 + 1}' >r.csv; (ulimit -t 15; atomo-bench plot break-even r.csv -o f.svg)
2> atomo-bench: plot: gnuplot: drawing
= 1

# a named pipe without its other end: the first signal ends the wait for it
$ mkfifo p in; exec 3<>in; atomo-bench synth -o g.h5 --shape 30 -q; atomo-bench compare g.h5 -c none --repeats 1 -q -o r.csv; for c in 'report p' 'plot pareto p -o x.svg' 'cost g.h5 -c none --compute-from p' 'report -' 'list -o p' 'compare g.h5 -c none --repeats 1 -q -o p' 'encode g.h5 -c none -o p -q' 'report r.csv -o p'; do atomo-bench $c <&3 3<&- & pid=$!; sh "$SRC"/test/cli/catches.sh $pid; sleep 0.2; kill -TERM $pid; wait $pid; echo "$c: $?"; done; ls -A
> report p: 130
> plot pareto p -o x.svg: 130
> cost g.h5 -c none --compute-from p: 130
> report -: 130
> list -o p: 130
> compare g.h5 -c none --repeats 1 -q -o p: 130
> encode g.h5 -c none -o p -q: 130
> report r.csv -o p: 130
- x.svg
- *.part
2> atomo-bench: report: p: stopped
2> atomo-bench: p: stopped before a reader came
= 0

# a named pipe is read to its end, and written, where the other end comes a little later or earlier; HDF5 goes into none
$ mkfifo p; atomo-bench synth -o g.h5 --shape 30 -q; atomo-bench compare g.h5 -c none --repeats 1 -q -o r.csv; for i in 1 2 3 4 5; do cat r.csv >p & atomo-bench report p -f csv -o r$i.csv -q; wait $!; echo "cat $?"; done; { sleep 0.3; cat r.csv >p; } & atomo-bench report p -f csv -o late.csv -q; wait $!; sort -u r?.csv late.csv | cmp - "$(sort r1.csv >s; echo s)" && echo read; { sleep 0.3; cat p >l; } & atomo-bench list -o p; wait $!; atomo-bench list | cmp - l && echo written; atomo-bench synth -o p --shape 3
> read
> written
- cat 1*
2> atomo-bench: p: not a regular file, which HDF5 needs
= 2

# SIGINT that is ignored at the start, as a shell does for "&", stays ignored; where it is not, it stops the program, which waits for a reader
? env --default-signal=INT true # needs GNU env
$ mkfifo p; atomo-bench synth -o g.h5 --shape 30 -q; for s in ignored caught; do case $s in ignored) set -- env --ignore-signal=INT ;; *) set -- env --default-signal=INT ;; esac; "$@" atomo-bench compare g.h5 -c qsgd --repeats 2 -q -f csv -o p 2>/dev/null & pid=$!; sh "$SRC"/test/cli/catches.sh $pid; kill -INT $pid; [ $s = caught ] || cat p >csv & wait $pid; echo "$s $?"; done; : 3<>p; wait; grep -c qsgd csv
> ignored 0
> caught 130
> 2
= 0

# a signal that comes when the output is there: the message says that it is whole
? command -v cc && ! nm -D "$(command -v atomo-bench)" | grep -q asan # needs cc, and no sanitizer
$ cc -shared -fPIC -D_GNU_SOURCE -o late.so "$SRC/test/cli/late.c"; atomo-bench synth -o g.h5 --shape 30 -q; LD_PRELOAD=$PWD/late.so atomo-bench convert g.h5 x.npz -q; echo $?; atomo-bench inspect x.npz >/dev/null && echo whole
> 130
> whole
2> atomo-bench: stopped when its work was done: the output is whole
= 0
