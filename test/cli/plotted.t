# a bar is as long as its part of the iteration, and a payload's as its bytes, in the unit of the axis
? command -v gnuplot
$ printf 'compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,bytes_up\nnone,4,10,20,30,40,100,4000000\nqsgd,4,10,2,8,4,17,1000000\n' >c.csv; for k in iteration-time runtime; do gnuplot -d -e 'set table "t"' -c "$SRC"/plots/$k.gp c.csv f.svg; awk '!/#/ && NF > 3 && $2 != $3 { print $2 "-" $3 }' t | paste -sd' '; done
> 0-10 0-10 10-30 10-12 30-60 12-13 60-100 13-17
> 0-10 0-10 10-30 10-12 30-60 12-13 60-100 13-17 0-4 0-1
2>
= 0

# a merge's lines: decoding each payload, and merging all with decoding once
? command -v gnuplot
$ printf 'compressor,workers,merge_ms,decode_ms,decode_each_ms\na,2,1,2,9\na,4,3,4,18\n' >m.csv; gnuplot -d -e 'set table "t"' -c "$SRC"/plots/merge.gp m.csv f.svg; awk '!/#/ && NF && $1 != "NaN" { print $1 ":" $2 }' t | paste -sd' '
> 2:9 4:18 2:3 4:7
2>
= 0

# a line of 1 Gbit/s is at 0.125 GB/s
? command -v gnuplot
$ printf 'compressor,workers,break_even_gbps,pays\na,2,0.1,below\na,4,0.4,below\n' >b.csv; gnuplot -d -e "call '$SRC/plots/break-even.gp' 'b.csv' 'f.svg'; show label" 2>&1 | grep -o '"1 Gbit.*, first [0-9.]*'
> "1 Gbit/s" at (graph 1, first 0.125000
= 0

# a front by time stands at the sum of both times
? command -v gnuplot
$ printf 'compressor,relative_error,encode_ms,decode_ms,unbiased,pareto_time\na,0.5,1,2,true,true\nb,0.25,3,4,true,true\n' >p.csv; gnuplot -d -e "call '$SRC/plots/pareto.gp' 'p.csv' 'f.svg' 'time'; print \$unbiased_front" 2>&1 | tr -d ' ' | grep . | paste -sd' '
> 3,0.5 7,0.25
= 0

# the bars of a figure are 95 % intervals: 1.96 standard errors either way
? command -v gnuplot
$ printf 'compressor,relative_error,relative_error_se,bits_per_element,unbiased\na,0.5,0.05,2,true\nb,0.25,0.01,4,true\n' >p.csv; gnuplot -d -e "call '$SRC/plots/pareto.gp' 'p.csv' 'f.svg'; set table 't'; plot 'p.csv' skip 1 using (column(c_y)):(reach(0))" 2>/dev/null; awk '!/#/ && NF && $1 != "NaN" { print $1 ":" $2 }' t | paste -sd' '
> 0.5:0.098 0.25:0.0196
= 0

# singular values of several tensors are shares of the largest
? command -v gnuplot
$ printf 'tensor,index,value\na,1,8\na,2,4\na,3,1\nb,1,2\nb,2,1\n' >s.csv; gnuplot -d -e 'set table "t"' -c "$SRC"/plots/spectrum.gp s.csv f.svg; awk '/Curve/ { c++ } c <= 2 && !/#/ && NF { print $1 ":" $2 }' t | paste -sd' '
> 1:1 2:0.5 3:0.125 1:1 2:0.5
2>
= 0

# a histogram is a density; of several tensors in standard deviations from the mean, here sqrt(1/2) and 1 of the bins' middles
? command -v gnuplot
$ printf 'tensor,bin_low,bin_high,count\na,0,1,1\na,1,2,2\na,2,3,1\n' >one.csv; { cat one.csv; printf 'b,0,2,5\nb,2,4,5\n'; } >two.csv; for f in one two; do gnuplot -d -e 'set table "t"' -c "$SRC"/plots/histogram.gp $f.csv f.svg; awk '/Curve/ { c++ } c <= 2 && !/#/ && NF { printf "%.4f:%.4f\n", $1, $2 }' t | paste -sd' '; done
> 0.5000:0.2500 1.5000:0.5000 2.5000:0.2500
> -1.4142:0.1768 0.0000:0.3536 1.4142:0.1768 -1.0000:0.2500 1.0000:0.2500
2>
= 0

# the normal curve over one histogram has the mean and the deviation of the bins' middles, here 1.5 and sqrt(1/2): 0.5642 there, and exp(-1/2) and exp(-2) of it one and two deviations away
? command -v gnuplot
$ printf 'tensor,bin_low,bin_high,count\na,0,1,1\na,1,2,2\na,2,3,1\n' >one.csv; gnuplot -d -e 'set table "t"' -c "$SRC"/plots/histogram.gp one.csv f.svg; awk '/Curve 4/ { on = 1 } on && !/#/ && NF { z = ($1 - 1.5) / sqrt(0.5); n++; bad += ($2 / (0.5641896 * exp(-z * z / 2)) - 1) ^ 2 > 1e-8 } END { print n, bad }' t
> 400 0
2>
= 0
