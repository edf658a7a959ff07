# merge.gp -- what aggregating many workers' payloads takes: a line for each compressor, against the number of workers.
#
#     gnuplot -d -c merge.gp DATA.csv FIGURE.{pdf,svg,png,tex}
#
# DATA is what `atomo-bench plot` writes beside a figure, or merge's CSV as it is. Solid lines with filled marks: payloads
# to one aggregate and that to floats. Dashed lines with open marks: every payload decoded. Names from the data are only
# ever held in string variables, which gnuplot does not interpret, and drawn `noenhanced`.
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
c_x = place(head, 'workers', 1)
c_merge = place(head, 'merge_ms', 1)
c_decode = place(head, 'decode_ms', 1)
c_each = place(head, 'decode_each_ms', 1)
c_tensor = place(head, 'tensor', 1)
c_step = place(head, 'step', 1)
set datafile columnheaders
set datafile missing ''
if (c_name * c_x * c_merge * c_decode * c_each == 0) {
    print 'the data lacks a column: want compressor, workers, merge_ms, decode_ms, decode_each_ms'
    exit status 1
}

# ---- which rows are drawn: the whole selection where there are rows for it ----

text(c) = c ? strcol(c) : ''
whole = all_steps = 0
stats data using (whole = whole || text(c_tensor) eq '*', all_steps = all_steps || text(c_step) eq '*', 1) nooutput
drawn(r) = (!whole || text(c_tensor) eq '*') && (!all_steps || text(c_step) eq '*')

n = 0
array name[200]
array merges[200]
find(s) = sum [i = 1:n] (name[i] eq s ? i : 0)
note(s, m) = (k = find(s), k == 0 && n < 200 ? (n = n + 1, k = n, name[k] = s, merges[k] = 0) : 0, \
    k > 0 && m ? (merges[k] = 1) : 0, 1)
x_low = y_low = 1e300
x_high = y_high = 0
low(a, b) = b > 0 && b < a ? b : a
high(a, b) = b > a ? b : a
reach(y) = (y_low = low(y_low, y), y_high = high(y_high, y), 1)
stats data using (drawn(0) && valid(c_x) && valid(c_each) ? (note(strcol(c_name), valid(c_merge)), \
    x_low = low(x_low, column(c_x)), x_high = high(x_high, column(c_x)), reach(column(c_each)), \
    valid(c_merge) && valid(c_decode) ? reach(column(c_merge) + column(c_decode)) : 1, 1) : 1) nooutput
if (n == 0 || x_high == 0 || y_high == 0) {
    print 'the data has no row with both workers and decode_each_ms'
    exit status 1
}

# ---- the look: one column of a paper ----

aggregates = 0
longest = 12
do for [i = 1:n] {
    aggregates = aggregates + merges[i]
    if (strlen(name[i]) > longest) { longest = strlen(name[i]) }
}
key_columns = longest > 22 ? 1 : longest > 10 ? 2 : 3
key_rows = (n + key_columns - 1) / key_columns
wide = 3.35
tall = 2.2 + 0.12 * (key_rows + 2)
if (ending eq '.pdf') { set terminal pdfcairo size wide, tall font 'Helvetica,8' fontscale 0.7 linewidth 1 }
if (ending eq '.svg') { set terminal svg size wide * 96, tall * 96 + 3 * key_rows font 'Helvetica,Arial,sans-serif,9.3' linewidth 1.2 dynamic }
if (ending eq '.png') { set terminal pngcairo size wide * 300, tall * 300 font 'Helvetica,8' fontscale 2.9 linewidth 3 pointscale 3 }
if (tex) { set terminal pict2e size wide, tall font '\scriptsize' color }

set border 3 linewidth 0.7
set tics nomirror out scale 0.5
set grid x y linewidth 0.4 linecolor rgb '#dddddd' linetype 1
set xlabel 'workers' offset 0, 0.45
set ylabel 'ms' offset 0.8, 0
set logscale x 2
set logscale y 10
set xrange [x_low / 1.2 : x_high * 1.2]
set yrange [y_low / 2 : y_high * 2]
set format y (log10(y_high / y_low) > 2.5 ? (tex ? '$10^{%T}$' : '10^{%T}') : '%g')
set key outside below center horizontal Left reverse maxcols key_columns samplen 1.6 spacing 0.9 height 0.3
key_font = tex ? '' : ending eq '.svg' ? ',8' : ',7'
set key font key_font
set key title (aggregates ? 'solid: merged, then decoded once'."\n" : '').'dashed: every payload decoded' font key_font

array colour[7] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000']
array filled[6] = [7, 5, 9, 13, 11, 15]
array open[6] = [6, 4, 8, 12, 10, 14]
rgb(i) = colour[(i - 1) % 7 + 1]
short(s) = strlen(s) > 44 ? s[1:42].'..' : s
quoted(c) = strstrt('_%&#${}', c) ? '\'.c : c eq '\' ? '\textbackslash{}' : strstrt('^~', c) ? '\'.c.'{}' : c
escaped(s) = strlen(s) ? quoted(s[1:1]).escaped(s[2:*]) : ''
label(i) = tex ? escaped(short(name[i])) : short(name[i])
mine(i) = drawn(0) && strcol(c_name) eq name[i]
together(i) = mine(i) && valid(c_merge) && valid(c_decode) ? column(c_merge) + column(c_decode) : NaN

set output figure
unset datafile columnheaders
plot for [i = 1:n] data skip 1 using (mine(i) ? column(c_x) : NaN):(column(c_each)) with linespoints linewidth 1 \
        dashtype (4, 3) linecolor rgb rgb(i) pointtype open[(i - 1) % 6 + 1] pointsize 0.5 \
        title (merges[i] ? '' : label(i)) noenhanced, \
    for [i = 1:n] data skip 1 using (mine(i) ? column(c_x) : NaN):(together(i)) with linespoints linewidth 1.4 \
        linecolor rgb rgb(i) pointtype filled[(i - 1) % 6 + 1] pointsize 0.55 \
        title (merges[i] ? label(i) : '') noenhanced
set output
