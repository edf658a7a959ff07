# histogram.gp -- how the elements of gradients are distributed, a line for each tensor.
#
#     gnuplot -d -c histogram.gp DATA.csv FIGURE.{pdf,svg,png,tex}
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of inspect --histogram as it is. One tensor is
# drawn by its values, a line for each step or worker; several by their values in standard deviations from the mean,
# beside the normal distribution. Where they are many, thin lines are tensors, the thick one their median, the band
# holds the middle half. Names from the data are only ever held in string variables, which gnuplot does not
# interpret, and drawn `noenhanced`.
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
c_name = place(head, 'tensor', 1)
c_low = place(head, 'bin_low', 1)
c_high = place(head, 'bin_high', 1)
c_count = place(head, 'count', 1)
c_role = place(head, 'role', 1)
set datafile columnheaders
set datafile missing ''
if (c_name * c_low * c_high * c_count == 0) {
    print 'the data lacks a column: want tensor, bin_low, bin_high, count'
    exit status 1
}

# ---- which lines there are: rows from first[k] to last[k] ----

most = 400
n = tensors = bands = 0
array name[most]
array role[most]
array first[most]
array last[most]
array elements[most]
array sum1[most]
array sum2[most]
array origin[most]
array width[most]
array from[most]
array to[most]
array pass[most]
array passes[most]
array tensor[most]
text(c) = c ? strcol(c) : ''
seen(s) = sum [i = 1:n] (name[i] eq s ? 1 : 0)
number(s) = sum [i = 1:n] (name[i] eq s && pass[i] == 1 ? tensor[i] : 0)
begin(s, r, a, b) = (p = seen(s) + 1, tensors = tensors + (p == 1), t = p == 1 ? tensors : number(s), n = n + 1, \
    name[n] = s, role[n] = r, first[n] = rows, pass[n] = p, tensor[n] = t, elements[n] = sum1[n] = sum2[n] = 0.0, \
    origin[n] = a, width[n] = b > a ? b - a : 1.0, from[n] = a, 1)
# Places in bins from the first one's beginning: sums of their squares lose nothing.
inside(x) = (x - origin[n]) / width[n]
extend(a, b, c) = n == 0 ? 0 : (last[n] = rows, to[n] = b, elements[n] = elements[n] + c, x = inside(0.5 * a + 0.5 * b), \
    sum1[n] = sum1[n] + c * x, sum2[n] = sum2[n] + c * x * x, 1)
band_from = band_to = 0
old = ''
old_high = 0.0
fresh(a) = strcol(c_name) ne old || a < old_high
note(r, a, b, c) = r eq 'band' ? (bands == 0 ? (band_from = rows) : 0, bands = bands + 1, band_to = rows) : \
    (fresh(a) && n < most ? begin(strcol(c_name), r, a, b) : 0, extend(a, b, c), old = strcol(c_name), old_high = b, 1)
rows = -1
stats data using (rows = rows + 1, valid(c_low) && valid(c_high) && valid(c_count) ? \
    note(text(c_role), column(c_low), column(c_high), column(c_count)) : 0, 1) nooutput
if (n == 0) {
    print 'the data has no row with bin_low, bin_high and count'
    exit status 1
}
array mean[most]
array std[most]
do for [k = 1:n] {
    mean[k] = sum1[k] / elements[k]
    std[k] = sqrt(sum2[k] / elements[k] - mean[k] ** 2) * width[k]
    mean[k] = origin[k] + mean[k] * width[k]
}
many = bands || tensors > 8
ends(k) = role[k] eq 'least' || role[k] eq 'most'
alone = tensors == 1 && !many
again = 0
do for [k = 1:n] { passes[k] = sum [i = 1:n] (tensor[i] == tensor[k] ? 1 : 0); again = again || passes[k] > 1 }

# ---- axes ----

x_of(k, v) = alone ? v : (v - mean[k]) / std[k]
unit(k) = alone ? 1.0 : std[k]
left = 1e300
right = -1e300
low = 1e300
high = 0.0
do for [k = 1:n] {
    left = x_of(k, from[k]) < left ? x_of(k, from[k]) : left
    right = x_of(k, to[k]) > right ? x_of(k, to[k]) : right
}
if (!alone) {
    left = left < -12 ? -12 : left
    right = right > 12 ? 12 : right
}
height(k) = column(c_count) > 0 ? column(c_count) / elements[k] * unit(k) / (column(c_high) - column(c_low)) : NaN
do for [k = 1:n] {
    stats data every ::first[k]::last[k] using (height(k)) nooutput
    high = STATS_max > high ? STATS_max : high
    low = STATS_min < low ? STATS_min : low
}
low = low < high * 1e-7 ? high * 1e-7 : low
set logscale y 10
set yrange [low / 1.5 : high * 2]
set format y (high / low < 300 ? '%g' : tex ? '$10^{%T}$' : '10^{%T}')
set xrange [left - 0.02 * (right - left) : right + 0.02 * (right - left)]
step_x = alone ? 10 ** floor(log10((right - left) / 3)) : 4
step_x = alone && (right - left) / step_x > 7 ? (right - left) / step_x > 14 ? 5 * step_x : 2 * step_x : step_x
set xtics step_x
set format x '%g'

# ---- the look: one column of a paper ----

listed = 0
do for [k = 1:n] { listed = listed + (many ? ends(k) : alone || pass[k] == 1) }
longest = 0
do for [k = 1:n] { longest = (!many || ends(k)) && strlen(name[k]) > longest ? strlen(name[k]) : longest }
key_columns = many || (longest > 26 && !alone) ? 1 : 2
room = key_columns == 1 ? 44 : 26
listed = (alone && n > 6 ? 2 : listed) + 2 * (bands > 0) + 1
key_rows = (listed + key_columns - 1) / key_columns + (again && !many ? 2 : 0)
wide = 3.35
tall = 2.3 + 0.13 * (key_rows > 2 ? key_rows - 2 : 0)
if (ending eq '.pdf') { set terminal pdfcairo size wide, tall font 'Helvetica,8' fontscale 0.7 linewidth 1 }
if (ending eq '.svg') { set terminal svg size wide * 96, tall * 96 + 3 * key_rows font 'Helvetica,Arial,sans-serif,9.3' linewidth 1.2 dynamic }
if (ending eq '.png') { set terminal pngcairo size wide * 300, tall * 300 font 'Helvetica,8' fontscale 2.9 linewidth 3 pointscale 3 }
if (tex) { set terminal pict2e size wide, tall font '\scriptsize' color }
set border 3 linewidth 0.7
set tics nomirror out scale 0.5
set grid x y linewidth 0.4 linecolor rgb '#dddddd' linetype 1
set xlabel (alone ? 'value' : 'value, in standard deviations from the mean') offset 0, 0.45
set ylabel 'density' offset 0.8, 0
set key outside below center horizontal Left reverse maxcols key_columns samplen 1.8 spacing 0.9 width 0 height 0.3
gap = tex ? '' : "\n"
key_font = tex ? '' : ending eq '.svg' ? ',8' : ',7'
set key font key_font
quoted(c) = strstrt('_%&#${}', c) ? '\'.c : c eq '\' ? '\textbackslash{}' : strstrt('^~', c) ? '\'.c.'{}' : c
escaped(s) = strlen(s) ? quoted(s[1:1]).escaped(s[2:*]) : ''
short(s) = strlen(s) > room ? s[1 : room / 3].'..'.s[strlen(s) - 2 * room / 3 + 3 : *] : s
shown_name(s) = tex ? escaped(short(s)) : short(s)

array colour[8] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#999999']
mix(a, b, s) = int(a + (b - a) * s + 0.5)
# One tensor: from light to dark in the order of the file. Several: a colour each, the last pass strong.
ramp(k) = n < 2 ? 1.0 : (pass[k] - 1.0) / (n - 1)
ramp_colour(k) = sprintf('#%02x%02x%02x', mix(0x9e, 0x08, ramp(k)), mix(0xca, 0x30, ramp(k)), mix(0xe1, 0x6b, ramp(k)))
thing(k) = pass[k] < passes[k] && !alone
line_colour(k) = many && !ends(k) ? '#b8b8b8' : alone ? ramp_colour(k) : colour[(tensor[k] - 1) % 8 + 1]
line_width(k) = many && !ends(k) ? 0.4 : thing(k) ? 0.5 : 1.3
listed_pass(k) = n <= 6 || k == 1 || k == n
label(k) = alone ? (n == 1 ? shown_name(name[k]) : listed_pass(k) ? sprintf('no. %d', k) : '') : \
    many ? (role[k] eq 'least' ? 'shortest tails: ' : 'longest tails: ').shown_name(name[k]) : pass[k] == passes[k] ? shown_name(name[k]) : ''
if (again && !many && !alone) { set key title gap.'thick: last in the file, thin: before it' noenhanced font key_font }
if (alone && n > 1) { set key title gap.shown_name(name[1]) noenhanced font key_font }
$nothing << EOD
NaN,NaN,NaN
EOD
unset datafile columnheaders
floored(v) = v > low / 1.5 ? v : low / 1.5
c_band_low = place(head, 'low', 1)
c_band_high = place(head, 'high', 1)
c_band_low = c_band_low ? c_band_low : 1
c_band_high = c_band_high ? c_band_high : 1
middle(k) = x_of(k, 0.5 * column(c_low) + 0.5 * column(c_high))
spread = alone ? std[n] : 1.0
center = alone ? mean[n] : 0.0
normal(x) = exp(-0.5 * ((x - center) / spread) ** 2) / spread / sqrt(2 * pi)
set samples 400
set output figure
plot for [k = 1:n] data skip 1 every ::first[k]::last[k] using (ends(k) && many ? NaN : middle(k)):(height(k)) \
        with lines linewidth line_width(k) linecolor rgb line_colour(k) title (many ? '' : label(k)) noenhanced, \
    (bands ? data : '$nothing') skip (bands ? 1 : 0) every ::band_from::band_to \
        using (0.5 * column(c_low) + 0.5 * column(c_high)):(floored(column(c_band_low))):(floored(column(c_band_high))) \
        with filledcurves fillcolor rgb '#0072b2' fillstyle transparent solid 0.25 noborder \
        title (bands ? 'middle half' : ''), \
    (bands ? data : '$nothing') skip (bands ? 1 : 0) every ::band_from::band_to \
        using (0.5 * column(c_low) + 0.5 * column(c_high)):(floored(column(c_count))) \
        with lines linewidth 2 linecolor rgb '#0072b2' title (bands ? 'median' : ''), \
    for [k = 1:n] data skip 1 every ::first[k]::last[k] using (ends(k) && many ? middle(k) : NaN):(height(k)) \
        with lines linewidth 1.3 dashtype (6, 3) linecolor rgb (role[k] eq 'least' ? colour[3] : colour[2]) \
        title (many && ends(k) ? label(k) : '') noenhanced, \
    normal(x) with lines linewidth 1 dashtype (2, 2) linecolor rgb '#555555' title 'normal distribution'
set output
