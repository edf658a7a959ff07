# a figure is drawn from compare's CSV; the data in the figure are written to a file beside it
? command -v gnuplot
$ printf 'compressor,bits_per_element,relative_error\nnone,32,0\nsvd,2,0.5\n' >r.csv; atomo-bench plot pareto r.csv -o f.svg; ls; head -n 1 f.plot.csv
> f.svg
> f.plot.csv
> series,bits_per_element,encode_ms,*,compressor,colour,mark,dash,label
2>
= 0

# the script in plots/ draws the same data without the program
? command -v gnuplot
$ printf 'compressor,tensor,bits_per_element,relative_error\nnone,*,32,0\nsvd:rank=2,*,2,0.5\nsvd,a,1,9\n' >r.csv; gnuplot -d -c "$SRC"/plots/pareto.gp r.csv f.svg && grep -c '<text>svd' f.svg
> 1
= 0

# without gnuplot the package to install is named, and the data file is written
$ printf 'compressor,bits_per_element,relative_error\nnone,32,0\n' >r.csv; b=$(command -v atomo-bench); PATH=/nonexistent "$b" plot pareto r.csv -o f.pdf; echo $?; ls
> 1
> f.plot.csv
2> atomo-bench: plot: gnuplot: not found
2> hint: install the package gnuplot-nox, or put gnuplot in PATH
- f.pdf
= 0

# a failure leaves an earlier figure unchanged
$ echo before >f.svg; echo x >r.csv; atomo-bench plot pareto r.csv --force -o f.svg; cat f.svg
> before
2> atomo-bench: plot: r.csv: it has no column "bits_per_element"
2> hint: pareto draws what atomo-bench sweep or compare writes*
= 0

$ atomo-bench plot pareto nothing.csv -o f.svg
2> atomo-bench: plot: nothing.csv: cannot open: No such file or directory
= 1

# a name in the data is never run as a command
? command -v gnuplot
$ printf 'compressor,bits_per_element,relative_error\n`touch a`,1,1\n"$(touch b)",2,1\n' >r.csv; atomo-bench plot pareto r.csv -o f.svg && ls
- a
- b
= 0

# figures of singular values and of the distribution of elements, from inspect's CSV and JSON
? command -v gnuplot
$ for k in spectrum histogram; do atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -q --$k -o r.csv && atomo-bench plot $k r.csv -o $k.svg && grep -c '<text>fc1.weight' $k.svg; done; atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -q --spectrum -o r.json && atomo-bench plot spectrum r.json -o j.svg && cmp j.plot.csv spectrum.plot.csv && echo same; ls
> 1
> same
> spectrum.svg
> histogram.plot.csv
2>
= 0

# their scripts in plots/ draw inspect's CSV without the program
? command -v gnuplot
$ for k in spectrum histogram; do atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -q --$k -t 'fc*.weight' -o r.csv; gnuplot -d -c "$SRC"/plots/$k.gp r.csv f.svg && grep -c '<text>fc1.weight' f.svg; gnuplot -d -c "$SRC"/plots/$k.gp /dev/null f.svg 2>no || echo refused; done
> 1
> refused
= 0

# a figure has at most 400 lines; with more it is refused, and 400 are drawn
$ lines() { awk -v n=$1 'BEGIN { print "compressor,bits_per_element,relative_error"; for (i = 1; i <= n; i++) print "c" i ",1,0.5" }' >r.csv; }; lines 401; atomo-bench plot pareto r.csv -o f.svg; echo $?; ls; mkdir bin; printf '#!/bin/sh\necho drawing 400\nexit 1\n' >bin/gnuplot; chmod +x bin/gnuplot; PATH=$PWD/bin:$PATH; lines 400; atomo-bench plot pareto r.csv -o f.svg
> 1
- f.*
2> atomo-bench: plot: r.csv: it has over 400 lines: a figure has at most that many
2> hint: atomo-bench report RESULT --where selects records
2> atomo-bench: plot: gnuplot: drawing 400
= 1

# the inputs that these figures need
$ atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -o r.csv; atomo-bench plot spectrum r.csv -o f.svg; atomo-bench plot histogram r.csv -o f.svg
2> atomo-bench: plot: r.csv: it has no column "index"
2> hint: spectrum draws what atomo-bench inspect writes with --spectrum*
2> atomo-bench: plot: r.csv: it has no column "bin_low"
= 1

# each script draws the command's CSV without the program, also when it is run in its own folder
? command -v gnuplot
$ printf 'tensor,compressor,elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg\n*,a_b,2,1,3,2,2\nw,c,1,1,1,1,1\n' >errors.csv; printf 'tensor,step,compressor,workers,merge_ms,decode_ms,decode_each_ms\n*,*,a_b,4,1,1,3\nw,1,c,4,1,1,9\n' >merge.csv; printf 'record,compressor,step,test_accuracy,sim_seconds,steps_to_0.5\nstep,a_b,1,0.3,1,\nstep,a_b,2,0.6,2,\nsummary,c,2,0.6,2,2\n' >convergence.csv; here=$PWD; cd "$SRC"/plots; for k in errors merge convergence; do gnuplot -d -c $k.gp "$here"/$k.csv "$here"/$k.svg && grep -c '<text>a_b' "$here"/$k.svg; grep '<text>c<' "$here"/$k.svg; done
> 1
> 1
> 1
2>
= 1

# for a training run with two seeds: one line per compressor, with a band, on any of four axes
? command -v gnuplot
$ sh "$SRC"/test/cli/tiny.sh; for s in 1 2; do atomo-train run --network softmax --dataset mnist -c none -c sign --max-steps 3 --eval-freq 1 --batch-size 8 --target-accuracy 0.9 --seed $s -q -o r$s.csv; done; for x in time step bytes wall; do atomo-bench plot convergence r1.csv r2.csv --x $x -o f.svg && grep -c '<text>sign' f.svg; done; cut -d, -f8,10 f.plot.csv | sort | uniq -c | tr -s ' '; grep -c 'mean of up to 2 runs' f.svg
> 1
> 1
> 1
> 1
>  1 ,
>  3 2,none
>  3 2,sign
>  1 runs,compressor
> 1
= 0

# every kind of figure has a line of help and a script
$ atomo-bench plot --help | sed -n '/^kinds:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | while read k; do test -f "$SRC"/plots/$k.gp || echo no script for $k; done; atomo-bench plot --help | grep -c '^  convergence  '
> 1
= 0

# the scripts, run without the program, draw only the rows over all tensors
? command -v gnuplot
$ printf 'tensor,compressor,bits_per_element,relative_error,unbiased,pareto,workers,merge_ms,decode_ms,decode_each_ms,elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg\n*,a,1,1,true,true,4,1,1,3,1,2,3,4,5\n*,a,8,0.1,true,true,8,1,1,6,1,2,3,4,5\n' >whole.csv; { cat whole.csv; echo 'w,a,3,0.0001,true,true,2,9,9,9,9,9,9,9,99'; } >all.csv; for k in pareto errors merge; do for d in whole all; do gnuplot -d -c "$SRC"/plots/$k.gp $d.csv $d.svg; done; cmp whole.svg all.svg && echo same; done
> same
> same
> same
2>
= 0

# a cell that is not a number is refused with its place, and nothing is written
$ printf 'compressor,bits_per_element,relative_error\nnone,32,0\nsvd,2,1e999\n' >r.csv; atomo-bench plot pareto r.csv -o f.svg; r=$?; ls; exit $r
> r.csv
2> atomo-bench: plot: r.csv: record 2: relative_error is "1e999": want a number
2> hint: leave the cell empty where there is no number
- f.svg
- f.plot.csv
= 1

# LaTeX can include every kind of figure, with the packages that --help names
? command -v gnuplot && kpsewhich pict2e.sty && kpsewhich xcolor.sty && kpsewhich graphicx.sty && kpsewhich amssymb.sty
$ n='a_b%c&d#e{f}~g^h$i<j>k|l'; printf 'tensor,compressor,bits_per_element,relative_error,unbiased,elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg,workers,merge_ms,decode_ms,decode_each_ms,compute_ms,encode_ms,comm_ms,total_ms,break_even_gbps,pays,bytes_up,record,step,test_accuracy,sim_seconds,steps_to_0.5\n*,%s,1,1,true,1,0,3,4,5,4,1,1,3,1,1,1,4,0.5,below,4,step,1,0.3,1,\n*,%s,8,0,false,1,2,3000,4,5,8,2,1,6,1,1,1,4000,0.1,above,8,step,2,0.6,2,\n*,c,1,1,false,0,0,0,,,4,,,3,1,1,1,4,,never,4,step,1,0.2,1,\n' "$n" "$n" >r.csv; printf 'tensor,index,value,bin_low,bin_high,count\n%s,1,4,0,1,2000\n%s,2,1,1,2,900\n' "$n" "$n" >i.csv; packages=$(atomo-bench plot --help | grep -o 'pict2e\|xcolor\|graphicx\|amssymb' | paste -sd ,); { printf '\\documentclass{article}\\usepackage{%s}\\begin{document}\n' "$packages"; for k in pareto errors merge convergence iteration-time runtime break-even spectrum histogram; do case $k in spectrum | histogram) d=i.csv ;; *) d=r.csv ;; esac; atomo-bench plot $k $d -o $k.tex && printf '\\input{%s.tex}\\clearpage\n' $k; done; printf '\\end{document}\n'; } >all.tex; pdflatex -halt-on-error -interaction=nonstopmode all.tex | grep -e '^!' -e 'Output written' -A 3
> Output written on all.pdf (9 pages*
- !*
= 0

# the dotted lines are limits: a Gaussian's distortion at b bits is 4^-b; an unbiased estimate's variance is 1 / (4^b - 1)
? command -v gnuplot
$ { grep '^worst' "$SRC"/plots/pareto.gp; echo 'set print "-"; print sprintf("%.9f %.9f %.9f %.9f", worst(1), worst(3), worst_unbiased(1), worst_unbiased(0.5))'; } | gnuplot
> 0.250000000 0.015625000 0.333333333 1.000000000
= 0

# --note is a line of text above the heading, of every kind of figure; quotes and signs of gnuplot are text
? command -v gnuplot
$ printf 'compressor,bits_per_element,relative_error\nqsgd,1,2\nsvd,2,1\n' >p.csv; printf 'tensor,index,value\nw,1,3\nw,2,1\n' >s.csv; printf 'tensor,bin_low,bin_high,count\nw,0,1,3\nw,1,2,1\n' >h.csv; for k in pareto:p spectrum:s histogram:h; do for e in svg tex png pdf; do atomo-bench plot ${k%:*} ${k#*:}.csv --note "it's a \"test\" of 50 % \$(ls)" -o f.$e --force || exit; done; grep -c 'it.*s a .*test.* of 50 % \$(ls)' f.svg; grep -c "it's a .*test.* of 50 .% .\$(ls)" f.tex; done | uniq -c
> *6 1
2>
= 0

# a long name has a row of the key for itself, uncut, and the numbers of a figure do not replace another file; gradients are no result
? command -v gnuplot
$ printf 'compressor,bits_per_element,relative_error\n' >p.csv; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo "countsketch$i,$i,$i" >>p.csv; done; printf 'type,step,sim_seconds,test_accuracy,compressor\n' >c.csv; for c in $(cut -d, -f1 p.csv | tail -n +2) 'ef:decay=0.95+svd:method=randomized;vectors=qsgd'; do printf 'eval,1,1,0.5,%s\neval,2,2,0.6,%s\n' "$c" "$c"; done >>c.csv; atomo-bench plot pareto p.csv --width 3.25in -o p.svg; grep -c '>countsketch[0-9]*<' p.svg; atomo-bench plot convergence c.csv --width 3.25in -o c.svg; grep -o '>ef:.*qsgd<\|>countsketch1<' c.svg; atomo-bench plot spectrum $SRC/datasets/lenet-mnist.h5 -o l.svg
> 13
> >countsketch1<
> >ef:decay=0.95+svd:method=randomized;vectors=qsgd<
2> atomo-bench: plot: *lenet-mnist.h5: an HDF5 file, not a result
2> hint: atomo-bench inspect --spectrum *lenet-mnist.h5 -o result.csv, then plot spectrum result.csv
= 2

# --label takes any letters; a name's bytes that are no UTF-8, and its marks that turn the writing round, are drawn as "?"
$ atomo-bench synth -o g.h5 --shape 20x10 -q; atomo-bench compare g.h5 -c qsgd -c svd -q -o c.json; for f in svg tex; do atomo-bench plot errors c.json --label 'svd=Größe ∑' -o f.$f && n="$n $(grep -c 'Größe ∑' f.$f)"; done; printf 'tensor,compressor,repeats,bits_per_element,relative_error\n*,svd\342\200\256\377,1,1,0.5\n' >b.csv; atomo-bench plot pareto b.csv -o b.svg; echo $n $(grep -c 'svd??' b.plot.csv)
> 1 1 1
= 0
