# a figure is drawn from compare's CSV, with a line that says what and the caption; --data writes the points beside it
? command -v gnuplot
$ printf 'compressor,bits_per_element,relative_error,repeats,seed\nnone,32,0,3,1\nsvd,2,0.5,3,1\n' >r.csv; atomo-bench plot pareto r.csv -o f.svg; ls; atomo-bench plot pareto r.csv -q --data -o f.svg; cat f.plot.csv
> f.svg
> r.csv
> line,x,y,low,high,rate
> svd,2,0.5,,,
2> f.svg: pareto of 2 records
2> Relative error against bits per element; not shown: none with error 0; R = 3, seed 1.
= 0

# without gnuplot the package to install is named, and nothing is written
$ printf 'compressor,bits_per_element,relative_error\nnone,32,0\n' >r.csv; b=$(command -v atomo-bench); PATH=/nonexistent "$b" plot pareto r.csv -o f.pdf; echo $?; ls
> 1
- f.*
2> atomo-bench: plot: gnuplot: not found
2> hint: install the package gnuplot-nox, or put gnuplot in PATH
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
$ printf 'compressor,bits_per_element,relative_error\n`touch a`,1,1\n"$(touch b)",2,1\n' >r.csv; atomo-bench plot pareto r.csv -q -o f.svg && ls
- a
- b
= 0

# figures of singular values and of the distribution of elements, from inspect's CSV and JSON
? command -v gnuplot
$ for k in spectrum histogram; do atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -s '*1000' -q --$k -o r.csv && atomo-bench plot $k r.csv -q -o $k.svg && grep -c '<text>conv2.weight' $k.svg; done; atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -s '*1000' -q --spectrum -o r.json && atomo-bench plot spectrum r.json -q -o j.svg && for f in j spectrum; do grep -v '<desc>' $f.svg >$f; done; cmp j spectrum && echo same
> 1
> 1
> same
2>
= 0

# a figure has at most 400 lines; with more it is refused, and 400 are drawn
$ lines() { awk -v n=$1 'BEGIN { print "compressor,bits_per_element,relative_error"; for (i = 1; i <= n; i++) print "c" i ",1,0.5" }' >r.csv; }; lines 401; atomo-bench plot pareto r.csv -o f.svg; echo $?; ls; mkdir bin; printf '#!/bin/sh\necho drawing 400 >&2\nexit 1\n' >bin/gnuplot; chmod +x bin/gnuplot; PATH=$PWD/bin:$PATH; lines 400; atomo-bench plot pareto r.csv -o f.svg
> 1
- f.*
2> atomo-bench: plot: r.csv: it has over 400 lines: a figure has at most that many
2> hint: atomo-bench report RESULT --where selects records
2> atomo-bench: plot: gnuplot: drawing 400
= 1

# the inputs that these figures need
$ atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -t conv1.bias -o r.csv; atomo-bench plot spectrum r.csv -o f.svg; atomo-bench plot histogram r.csv -o f.svg
2> atomo-bench: plot: r.csv: it has no column "index"
2> hint: spectrum draws what atomo-bench inspect writes with --spectrum*
2> atomo-bench: plot: r.csv: it has no column "bin_low"
= 1

# a training run with two seeds has one line per compressor, with a band, on any of four axes
? command -v gnuplot
$ sh "$SRC"/test/cli/tiny.sh; for s in 1 2; do atomo-train run --network softmax --dataset mnist -c none -c sign --max-steps 3 --eval-freq 1 --batch-size 8 --seed $s -q -o r$s.csv; done; for x in time step bytes wall; do atomo-bench plot convergence r1.csv r2.csv --x $x -q --data -o f.svg && grep -c '<text>sign' f.svg; done; cut -d, -f1 f.plot.csv | sort | uniq -c | tr -s ' '; for y in error loss; do atomo-bench plot budget r1.csv r2.csv --y $y -q -o f.svg || echo $y; done; grep -c 'training loss against the bytes sent by a worker' f.svg
> 1
> 1
> 1
> 1
>  1 line
>  3 none
>  3 sign
> 1
= 0

# the caption says that a run has not ended, and that times depend on the machine; the last number of the axis stands beside the names
? command -v gnuplot
$ row() { printf '{"record": "step", "compressor": "%s", "step": %d, "test_accuracy": %s, "sim_seconds": %d}\n' "$@"; }; { echo '{"part": "atomo-run/1"}'; row none 1 0.1 1; row none 1000 0.9 1; row sign 1 0.1 1; row sign 1000 0.5 9; } >r.csv.part; atomo-bench plot convergence r.csv.part -o t.svg; grep -c '<desc>.* has not ended' t.svg; { echo record,compressor,step,test_accuracy,sim_seconds; sed -n 's/.*"\(none\|sign\)", "step": \([0-9]*\), "test_accuracy": \([0-9.]*\).*/step,\1,\2,\3,1/p' r.csv.part; } >r.csv; atomo-bench plot convergence r.csv --x step -o s.svg; grep -c '>1000<' s.svg
> 1
> 1
2> test accuracy against simulated time, s; computing is measured: times grow with the load of the machine; of a run that has not ended.
2> test accuracy against step.
= 0

# every kind of figure has a line of help
$ atomo-bench plot --help | sed -n '/^kinds:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | paste -sd' '
> pareto errors spectrum histogram merge convergence iteration-time runtime break-even heat budget
= 0

# LaTeX can include every kind of figure, with the packages that --help names
? command -v gnuplot && kpsewhich pict2e.sty && kpsewhich xcolor.sty && kpsewhich graphicx.sty && kpsewhich amssymb.sty
$ n='a_b%c&d#e{f}~g^h$i<j>k|l'; printf 'tensor,compressor,bits_per_element,relative_error,unbiased,elem_error_deciles,workers,merge_ms,decode_ms,decode_each_ms,compute_ms,encode_ms,comm_ms,total_ms,break_even_gbps,pays,bytes_up,record,step,test_accuracy,sim_seconds,steps_to_0.5\n*,%s,1,1,true,1 2 3;0.5 1 2,4,1,1,3,1,1,1,4,0.5,below,4,step,1,0.3,1,\n*,%s,8,0,false,2 3 4;0.5 1 2,8,2,1,6,1,1,1,4000,0.1,above,8,step,2,0.6,2,\n*,c,1,1,false,,4,,,3,1,1,1,4,,never,4,step,1,0.2,1,\nw,%s,1,1,,,,,,,,,,,,,,,,,,\n' "$n" "$n" "$n" >r.csv; printf 'tensor,index,value,bin_low,bin_high,count\n%s,1,4,0,1,2000\n%s,2,1,1,2,900\n' "$n" "$n" >i.csv; packages=$(atomo-bench plot --help | grep -o 'pict2e\|xcolor\|graphicx\|amssymb' | paste -sd ,); { printf '\\documentclass{article}\\usepackage{%s}\\begin{document}\n' "$packages"; for k in heat budget pareto errors merge convergence iteration-time runtime break-even spectrum histogram; do case $k in spectrum | histogram) d=i.csv ;; *) d=r.csv ;; esac; atomo-bench plot $k $d -q -o $k.tex && printf '\\input{%s.tex}\\clearpage\n' $k; done; printf '\\end{document}\n'; } >all.tex; pdflatex -halt-on-error -interaction=nonstopmode all.tex | grep -e '^!' -e 'Output written' -A 3
> Output written on all.pdf (11 pages*
- !*
= 0

# --title is text above every kind of figure; quotes and signs of gnuplot are text
? command -v gnuplot
$ printf 'compressor,bits_per_element,relative_error\nqsgd,1,2\nsvd,2,1\n' >p.csv; printf 'tensor,index,value\nw,1,3\nw,2,1\n' >s.csv; printf 'tensor,bin_low,bin_high,count\nw,0,1,3\nw,1,2,1\n' >h.csv; for k in pareto:p spectrum:s histogram:h; do for e in svg tex png pdf; do atomo-bench plot ${k%:*} ${k#*:}.csv --title "it's a \"test\" of 50 % \$(ls)" -q -o f.$e || exit; done; grep -c 'it.*s a .*test.* of 50 % \$(ls)' f.svg; grep -c "s a .*test.* of 50 .% .\$(ls)" f.tex; done | uniq -c
> *6 1
2>
= 0

# names are whole, the points of a figure do not replace another file, and gradients are no result
? command -v gnuplot
$ printf 'compressor,bits_per_element,relative_error\n' >p.csv; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo "countsketch$i,$i,$i" >>p.csv; done; atomo-bench plot pareto p.csv -q -o p.svg; grep -c '>countsketch[0-9]*<' p.svg; cp p.csv f.plot.csv; atomo-bench plot pareto f.plot.csv --data -q -o f.svg; atomo-bench plot spectrum $SRC/datasets/lenet-mnist.h5 -o l.svg
> 13
2> atomo-bench: plot: -o f.svg: its numbers would replace f.plot.csv, want another file
2> atomo-bench: plot: *lenet-mnist.h5: a file of tensors, not a result
2> hint: atomo-bench compare *lenet-mnist.h5 -o result.csv makes a result of gradients
= 2

# --label takes any letters, and mathematics in .tex; a name's bytes that are no UTF-8, and its marks that turn the writing round, are drawn as "?"
? command -v gnuplot
$ atomo-bench synth -o g.h5 --shape 20x10 -q; atomo-bench compare g.h5 -c qsgd -c svd -q -o c.json; for f in svg tex; do atomo-bench plot errors c.json --label 'svd=Größe ∑ $s_1$' -q -o f.$f; done; grep -c 'Größe ∑ \$s_1\$' f.tex; printf 'tensor,compressor,repeats,bits_per_element,relative_error\n*,svd\342\200\256\377,1,1,0.5\n' >b.csv; atomo-bench plot pareto b.csv -q -o b.svg; grep -c 'svd??' b.svg
> 1
> 1
= 0

# a logarithmic axis of under three decades has at least three numbers, no two alike
? command -v gnuplot
$ for r in '.05 .002' '2.5 .05' '4e-4 3e-5' '9 .8' '3000 2' '.9 .0011'; do set -- $r; printf 'tensor,compressor,workers,relative_error\n*,qsgd,2,%s\n*,qsgd,4,%s\n' $1 $2 >m.csv; atomo-bench plot merge m.csv --y error -q -o m.svg; tr -d '\n\t' <m.svg | sed 's/<text>/\n/g' | sed 's/<\/text>.*//; s/<[^>]*>/ /g; s/  *//g' | grep -E '^[0-9.e-]+$' | sed 1,2d >numbers; [ $(wc -l <numbers) -ge 3 ] && [ -z "$(sort numbers | uniq -d)" ] || { echo "$r:"; cat numbers; }; done
= 0

# heat draws no result of merge
$ printf 'tensor,compressor,workers,synthetic,bits_per_element,relative_error\nw,qsgd,2,0,1,0.1\n' >m.csv; atomo-bench plot heat m.csv -o m.svg
2> atomo-bench: plot: m.csv: heat draws what atomo-bench compare writes, and this is a result of merge
= 1

# names of lines that end at the top are whole, and an axis has at least two numbers
? command -v gnuplot
$ { echo record,compressor,step,test_accuracy; for k in 1 2 3; do for c in qsgd:1 svd:2 topk:3 terngrad:4; do echo "step,${c%:*},$k,0.${k}9${c#*:}"; done; done; } >r.csv; atomo-bench plot convergence r.csv --x step -q -o r.svg; for t in $(grep -o 'translate([0-9.]*,[0-9.-]*)' r.svg | sed 's/.*,//; s/)//'); do awk "BEGIN { exit $t > 7.5 }" && echo "cut at $t"; done; printf 'compressor,bits_per_element,relative_error\nqsgd,0.3,0.31\nqsgd,0.6,0.69\n' >p.csv; atomo-bench plot pareto p.csv --linear --height 1in -q -o p.svg; tr -d '\n\t' <p.svg | grep -o '<text>0[.][0-9]*<' | wc -l | awk '{ print ($1 >= 4 ? "enough" : $1) }'
> enough
= 0
