# pareto.gp -- error against size: a line for each compressor, and the Pareto fronts. Dotted: the least relative error
# at b bits per element on Gaussian data, 4^-b, and that of unbiased compressors, 1 / (4^b - 1).
#
#     gnuplot -d -c pareto.gp DATA.csv FIGURE.{pdf,svg,png,tex}
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of sweep or compare.
data = ARG1
figure = ARG2
needs = 'compressor bits_per_element relative_error'
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
load folder(ARG0).'look.gp'

# ---- which rows are drawn ----

c_series = place('series')
c_x = place('bits_per_element')
c_y = place('relative_error')
c_unbiased = place('unbiased')
c_front = place('pareto')

# A compressor's family is its spec without keys: "ef:decay=0.9+qsgd:bits=2" is "ef".
family(s) = strstrt(s, ':') ? s[1 : strstrt(s, ':') - 1] : s
front(b) = drawn(0) && text(c_front) eq 'true' && (text(c_unbiased) eq 'false') == b
series(r) = c_series ? strcol(c_series) : family(strcol(c_compressor))

array biased[most]
array zero[most]
array on_front[2] = [0, 0] # points on the front of unbiased and of biased compressors; a single point is not drawn
do for [k = 1:most] { biased[k] = zero[k] = 0 }
x_low = y_low = 1e300
x_high = y_high = 0
note(k, y) = (k > 0 && y == 0 ? (zero[k] = 1) : 0, k > 0 ? (biased[k] = text(c_unbiased) eq 'false') : 0, 1)
stats data using (drawn(0) && valid(c_x) && valid(c_y) ? (note(number(series(0)), column(c_y)), \
    x_low = least(x_low, column(c_x)), x_high = largest(x_high, column(c_x)), \
    y_low = least(y_low, column(c_y)), y_high = largest(y_high, column(c_y)), \
    on_front[1] = on_front[1] + front(0), on_front[2] = on_front[2] + front(1), 1) : 1) nooutput
if (n == 0 || x_high == 0) {
    print 'the data has no row with both bits_per_element and relative_error'
    exit status 1
}
if (y_high == 0) { y_low = y_high = 1 }

# ---- axes: logarithmic where the range asks ----

log_x = x_high / x_low > 6
log_y = y_high / y_low > 8
if (log_x) {
    set logscale x 2
    set xrange [x_low / 1.3 : x_high * 1.3]
    step = ceil(log(x_high / x_low) / log(2) / 9)
    set xtics ()
    do for [k = -20:20:step] { set xtics add ((k < 0 ? sprintf('1/%g', 2.0 ** -k) : sprintf('%g', 2.0 ** k)) 2.0 ** k) }
} else {
    set xrange [0 : x_high * 1.08]
}
if (log_y) {
    floor_y = y_low / 3
    eval log_axis('y', floor_y / 1.25, y_high * 2)
} else {
    floor_y = 0
    set yrange [0 : y_high * 1.12]
}
shown(y) = y > floor_y ? y : floor_y

# ---- key ----

unbiased_any = biased_any = 0
do for [i = 1:n] { if (biased[i]) { biased_any = 1 } else { unbiased_any = 1 } }
mixed = unbiased_any && biased_any
fronts = (on_front[1] > 1) + (on_front[2] > 1)
entries = n + 1 + unbiased_any + fronts
long = largest(long, unbiased_any ? 20 : 14) # "unbiased: 1/(4^b - 1)", "front, biased"
heading = (mixed ? 'filled marks: unbiased, open: biased'."\n" : '').'dotted: worst case (Gaussian) of b bits, no bound for a given gradient'
eval page(2.2, entries, long)
set xlabel 'bits/element'
set ylabel 'relative error'

formula(s) = tex ? math(s) : s
mark(i) = biased[i] ? hollow(i) : solid(i)
label(i) = shown_name(name[i]).(log_y && zero[i] ? ', error 0' : '')
mine(i) = drawn(0) && series(0) eq name[i]
worst(x) = 4.0 ** -x
worst_unbiased(x) = 1 / (4.0 ** x - 1)

set table $unbiased_front separator comma
plot data using (column(c_x)):(shown(column(c_y))) with table if (front(0))
set table $biased_front separator comma
plot data using (column(c_x)):(shown(column(c_y))) with table if (front(1))
unset table
set output figure
unset datafile columnheaders

plot worst(x) with lines linewidth 0.8 dashtype dotted linecolor rgb '#777777' \
        title formula('4^{-b}'), \
    (unbiased_any ? worst_unbiased(x) : NaN) with lines linewidth 1.2 dashtype dotted linecolor rgb '#333333' \
        title (unbiased_any ? 'unbiased: '.formula('1/(4^b - 1)') : ''), \
    (|$unbiased_front| ? '$unbiased_front' : '$nothing') using 1:2 smooth unique with steps linewidth 2 \
        linecolor rgb '#bbbbbb' title (on_front[1] < 2 ? '' : mixed ? 'front, unbiased' : 'Pareto front'), \
    (|$biased_front| ? '$biased_front' : '$nothing') using 1:2 smooth unique with steps linewidth 2 dashtype blocks \
        linecolor rgb '#bbbbbb' title (on_front[2] < 2 ? '' : mixed ? 'front, biased' : 'Pareto front'), \
    for [i = 1:n] data skip 1 using (mine(i) ? column(c_x) : NaN):(shown(column(c_y))) with linespoints \
        linewidth weight(1.2, i) dashtype dash(i) linecolor rgb rgb(i) pointtype mark(i) pointsize 0.55 title label(i) noenhanced
set output
