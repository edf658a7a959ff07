# under a limit on open files that is too low for gnuplot, the message names the limit instead of what gnuplot did not find
$ atomo-bench synth --shape 10 -q -o g.h5; atomo-bench compare g.h5 -c qsgd -c none --repeats 2 -q -o c.csv; for n in 4 5 6 7; do (ulimit -n $n; atomo-bench plot pareto c.csv -q -o f.png); echo $?; done; ls
2> atomo-bench: plot: gnuplot: the limit on open files is 5, want 16
2> hint: a limit is set, as by ulimit -n 5; a higher one may help
- *lacks*
- *Cannot*
- 0
- f.png
= 0
