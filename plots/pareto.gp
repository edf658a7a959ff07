# pareto.gp -- size against error, a line for each compressor, the Pareto fronts behind them, and what the worst
# gradient allows: b bits an element leave 4^-b of its energy at least, an unbiased compressor 1 / (4^b - 1).
#
#     gnuplot -d -c pareto.gp DATA.csv FIGURE.{pdf,svg,png,tex}
#
# DATA is what `atomo-bench plot` writes beside a figure, or sweep's or compare's CSV as it is. Names from the data are
# only ever held in string variables, which gnuplot does not interpret, and drawn `noenhanced`.
data = ARG1
figure = ARG2
ending = figure[strlen(figure) - 3 : *]
tex = ending eq '.tex'
set datafile commentschars "\001"

# ---- which columns there are ----

set datafile separator "\001"
head = ''
stats data every ::0::0 using (head = strcol(1), 1) nooutput
set datafile separator comma
before(s) = strstrt(s, ',') ? s[1 : strstrt(s, ',') - 1] : s
behind(s) = strstrt(s, ',') ? s[strstrt(s, ',') + 1 : *] : ''
place(s, h, i) = s eq '' ? 0 : before(s) eq h ? i : place(behind(s), h, i + 1)
c_name = place(head, 'compressor', 1)
c_series = place(head, 'series', 1)
c_x = place(head, 'bits_per_element', 1)
c_y = place(head, 'relative_error', 1)
c_unbiased = place(head, 'unbiased', 1)
c_front = place(head, 'pareto', 1)
c_tensor = place(head, 'tensor', 1)
c_step = place(head, 'step', 1)
set datafile columnheaders
if (c_name * c_x * c_y == 0) {
    print 'the data lacks a column: want compressor, bits_per_element, relative_error'
    exit status 1
}

# ---- which rows are drawn: the whole selection where there are rows for it ----

text(c) = c ? strcol(c) : ''
whole = all_steps = 0
stats data using (whole = whole || text(c_tensor) eq '*', all_steps = all_steps || text(c_step) eq '*', 1) nooutput
drawn(r) = (!whole || text(c_tensor) eq '*') && (!all_steps || text(c_step) eq '*')

# A compressor's family is its spec without keys: "ef:decay=0.9+qsgd:bits=2" is "ef".
family(s) = strstrt(s, ':') ? s[1 : strstrt(s, ':') - 1] : s
series(r) = c_series ? strcol(c_series) : family(strcol(c_name))

n = 0
array name[200]
array biased[200]
array zero[200]
find(s) = sum [i = 1:n] (name[i] eq s ? i : 0)
note(s, y) = (k = find(s), k == 0 && n < 200 ? (n = n + 1, k = n, name[k] = s, biased[k] = text(c_unbiased) eq 'false', \
    zero[k] = 0) : 0, k > 0 && y == 0 ? (zero[k] = 1) : 0, 1)
x_low = y_low = 1e300
x_high = y_high = 0
low(a, b) = b > 0 && b < a ? b : a
high(a, b) = b > a ? b : a
stats data using (drawn(0) && valid(c_x) && valid(c_y) ? (note(series(0), column(c_y)), \
    x_low = low(x_low, column(c_x)), x_high = high(x_high, column(c_x)), \
    y_low = low(y_low, column(c_y)), y_high = high(y_high, column(c_y)), 1) : 1) nooutput
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
    set logscale y 10
    floor_y = y_low / 3
    set yrange [floor_y / 1.25 : y_high * 2]
    decades = log10(y_high / y_low)
    set format y (decades > 2.5 ? (tex ? '$10^{%T}$' : '10^{%T}') : '%g')
} else {
    floor_y = 0
    set yrange [0 : y_high * 1.12]
}
shown(y) = y > floor_y ? y : floor_y

# ---- the look: one column of a paper ----

unbiased_any = biased_any = 0
do for [i = 1:n] { if (biased[i]) { biased_any = 1 } else { unbiased_any = 1 } }
mixed = unbiased_any && biased_any
fronts = c_front ? unbiased_any + biased_any : 0
entries = n + 1 + unbiased_any + fronts
longest = unbiased_any ? 15 : 10 # "worst, unbiased"
do for [i = 1:n] { if (strlen(name[i]) > longest) { longest = strlen(name[i]) } }
key_columns = longest > 22 ? 1 : longest > 10 ? 2 : 3
key_squeeze = key_columns == 2 && longest > 15 ? 15 - longest : 0 # gnuplot reckons names wider than they are drawn
key_rows = (entries + key_columns - 1) / key_columns
wide = 3.35
tall = 2.2 + 0.12 * (key_rows + mixed + 1)
if (ending eq '.pdf') { set terminal pdfcairo size wide, tall font 'Helvetica,8' fontscale 0.7 linewidth 1 }
if (ending eq '.svg') { set terminal svg size wide * 96, tall * 96 + 3 * key_rows font 'Helvetica,Arial,sans-serif,9.3' linewidth 1.2 dynamic }
if (ending eq '.png') { set terminal pngcairo size wide * 300, tall * 300 font 'Helvetica,8' fontscale 2.9 linewidth 3 pointscale 3 }
if (tex) { set terminal pict2e size wide, tall font '\scriptsize' color }

set border 3 linewidth 0.7
set tics nomirror out scale 0.5
set grid x y linewidth 0.4 linecolor rgb '#dddddd' linetype 1
set xlabel 'bits per element' offset 0, 0.45
set ylabel 'relative error' offset 0.8, 0
set key outside below center horizontal Left reverse maxcols key_columns samplen 1.6 spacing 0.9 width key_squeeze height 0.3
key_font = tex ? '' : ending eq '.svg' ? ',8' : ',7'
set key font key_font
set dashtype 2 (6, 3)
set dashtype 3 (2, 2)
set dashtype 4 (8, 3, 2, 3)
set dashtype 5 (8, 3, 2, 3, 2, 3)
marks = mixed ? 'filled marks: unbiased, open: biased'."\n" : ''
formulas = unbiased_any ? (tex ? ' $4^{-b}$, unbiased $1/(4^b-1)$:' : ' 4^{-b}, unbiased 1/(4^b - 1):') : (tex ? ' $4^{-b}$:' : ' 4^{-b}:')
set key title marks.'dotted: worst case (Gaussian)'.formulas."\n".'no bound for a given gradient' font key_font
set datafile missing ''

array colour[7] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000']
array filled[6] = [7, 5, 9, 13, 11, 15]
array open[6] = [6, 4, 8, 12, 10, 14]
rgb(i) = colour[(i - 1) % 7 + 1]
mark(i) = biased[i] ? open[(i - 1) % 6 + 1] : filled[(i - 1) % 6 + 1]
dash(i) = (i - 1) % 5 + 1
short(s) = strlen(s) > 44 ? s[1:42].'..' : s
quoted(c) = strstrt('_%&#${}', c) ? '\'.c : c eq '\' ? '\textbackslash{}' : strstrt('^~', c) ? '\'.c.'{}' : c
escaped(s) = strlen(s) ? quoted(s[1:1]).escaped(s[2:*]) : ''
shown_name(s) = tex ? escaped(short(s)) : short(s)
label(i) = shown_name(name[i]).(log_y && zero[i] ? ', error 0' : '')
mine(i) = drawn(0) && series(0) eq name[i]
front(b) = c_front && text(c_front) eq 'true' && (text(c_unbiased) eq 'false') == b
worst(x) = 4.0 ** -x
worst_unbiased(x) = 1 / (4.0 ** x - 1)

$nothing << EOD
NaN,NaN
EOD
set table $unbiased_front separator comma
plot data using (column(c_x)):(shown(column(c_y))) with table if (front(0))
set table $biased_front separator comma
plot data using (column(c_x)):(shown(column(c_y))) with table if (front(1))
unset table
set output figure
unset datafile columnheaders

plot worst(x) with lines linewidth 0.8 dashtype '.' linecolor rgb '#777777' \
        title 'worst case', \
    (unbiased_any ? worst_unbiased(x) : NaN) with lines linewidth 1.2 dashtype '.' linecolor rgb '#333333' \
        title (unbiased_any ? 'worst, unbiased' : ''), \
    (|$unbiased_front| ? '$unbiased_front' : '$nothing') using 1:2 smooth unique with steps linewidth 2 \
        linecolor rgb '#bbbbbb' title (!fronts || !unbiased_any ? '' : mixed ? 'front, unbiased' : 'Pareto front'), \
    (|$biased_front| ? '$biased_front' : '$nothing') using 1:2 smooth unique with steps linewidth 2 dashtype (3, 1.5) \
        linecolor rgb '#bbbbbb' title (!fronts || !biased_any ? '' : mixed ? 'front, biased' : 'Pareto front'), \
    for [i = 1:n] data skip 1 using (mine(i) ? column(c_x) : NaN):(shown(column(c_y))) with linespoints \
        linewidth 1.2 dashtype dash(i) linecolor rgb rgb(i) pointtype mark(i) pointsize 0.55 title label(i) noenhanced
set output
