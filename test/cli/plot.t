# a figure from compare's CSV, and the data it shows beside it
? command -v gnuplot
$ printf 'compressor,bits_per_element,relative_error\nnone,32,0\nsvd,2,0.5\n' >r.csv; atomo-bench plot pareto r.csv -o f.svg; ls; head -n 1 f.plot.csv
> f.svg
> f.plot.csv
> series,bits_per_element,relative_error,unbiased,pareto,compressor
2>
= 0

# the script in plots/ draws the same data by itself
? command -v gnuplot
$ printf 'compressor,tensor,bits_per_element,relative_error\nnone,*,32,0\nsvd:rank=2,*,2,0.5\nsvd,a,1,9\n' >r.csv; gnuplot -d -c "$SRC"/plots/pareto.gp r.csv f.svg && grep -c '<text>svd' f.svg
> 1
= 0

# without gnuplot the package is named and the data stand
$ printf 'compressor,bits_per_element,relative_error\nnone,32,0\n' >r.csv; b=$(command -v atomo-bench); PATH=/nonexistent "$b" plot pareto r.csv -o f.pdf; echo $?; ls
> 1
> f.plot.csv
2> atomo-bench: plot: gnuplot: not found
2> hint: install the package gnuplot-nox, or put gnuplot in PATH
- f.pdf
= 0

# an earlier figure survives a failure
$ echo before >f.svg; echo x >r.csv; atomo-bench plot pareto r.csv -o f.svg; cat f.svg
> before
2> atomo-bench: plot: r.csv: it has no column "compressor"
2> hint: pareto draws what atomo-bench sweep or compare writes*
= 0

# what is missing or unknown
$ atomo-bench plot pareto
2> atomo-bench: plot: an argument is missing: want KIND DATA -o FIGURE
= 2

$ atomo-bench plot pareto r.csv
2> atomo-bench: plot: the figure's name is missing
2> hint: add -o FIGURE.pdf*
= 2

$ atomo-bench plot perato r.csv -o f.svg
2> atomo-bench: plot: no figure is called "perato" (did you mean pareto?)
= 2

$ atomo-bench plot pareto r.csv -o f.gif
2> atomo-bench: plot: f.gif: want a figure whose name ends in *
= 2

$ atomo-bench plot pareto nothing.csv -o f.svg
2> atomo-bench: plot: nothing.csv: cannot open: No such file or directory
= 1

# a name runs no command
? command -v gnuplot
$ printf 'compressor,bits_per_element,relative_error\n`touch a`,1,1\n"$(touch b)",2,1\n' >r.csv; atomo-bench plot pareto r.csv -o f.svg && ls
- a
- b
= 0

# how singular values fall and how elements are distributed, from inspect's CSV and JSON
? command -v gnuplot
$ for k in spectrum histogram; do atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -q --$k -o r.csv && atomo-bench plot $k r.csv -o $k.svg && grep -c '<text>fc1.weight' $k.svg; done; atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -q --spectrum -o r.json && atomo-bench plot spectrum r.json -o j.svg && cmp j.plot.csv spectrum.plot.csv && echo same; ls
> 1
> same
> spectrum.svg
> histogram.plot.csv
2>
= 0

# their scripts in plots/ draw inspect's CSV by themselves
? command -v gnuplot
$ for k in spectrum histogram; do atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -q --$k -t 'fc*.weight' -o r.csv; gnuplot -d -c "$SRC"/plots/$k.gp r.csv f.svg && grep -c '<text>fc1.weight' f.svg; gnuplot -d -c "$SRC"/plots/$k.gp /dev/null f.svg 2>no || echo refused; done
> 1
> refused
= 0

# what they are drawn from
$ atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -o r.csv; atomo-bench plot spectrum r.csv -o f.svg; atomo-bench plot histogram r.csv -o f.svg
2> atomo-bench: plot: r.csv: it has no column "index"
2> hint: spectrum draws what atomo-bench inspect writes with --spectrum*
2> atomo-bench: plot: r.csv: it has no column "bin_low"
= 1
