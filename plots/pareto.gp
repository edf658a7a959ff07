# pareto.gp -- error against size or time: a line for each compressor, its points with their rates, and the Pareto fronts.
# Dotted, against size: the least relative error at b bits per element on Gaussian data, 4^-b, and that of unbiased
# compressors, 1 / (4^b - 1); other gradients may have less.
#
#     gnuplot -d -c pareto.gp DATA.csv FIGURE.{pdf,svg,png,tex} [bits|time [INCHES]]
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of sweep or compare.
data = ARG1
figure = ARG2
timed = ARG3 eq 'time'
asked_width = ARG4
note = ARG5
needs = 'compressor relative_error '.(timed ? 'encode_ms decode_ms' : 'bits_per_element')
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
home = folder(ARG0)
load home.'look.gp'

# ---- which rows are drawn ----

c_series = place('series')
c_bits = place('bits_per_element')
c_encode = place('encode_ms')
c_decode = place('decode_ms')
c_y = place('relative_error')
c_se = place('relative_error_se')
c_unbiased = place('unbiased')
c_front = place(timed ? 'pareto_time' : 'pareto')
c_rate = place('rate')
c_beyond = place('beyond')
x(r) = timed ? column(c_encode) + column(c_decode) : column(c_bits)
has_point(r) = drawn(0) && valid(c_y) && (timed ? valid(c_encode) && valid(c_decode) : valid(c_bits))
beyond(r) = text(c_beyond) eq 'true'

# A compressor's family is its spec without keys: "ef:decay=0.9+qsgd:bits=2" is "ef".
family(s) = strstrt(s, ':') ? s[1 : strstrt(s, ':') - 1] : s
front(b) = has_point(0) && !beyond(0) && text(c_front) eq 'true' && (text(c_unbiased) eq 'false') == b
series(r) = c_series ? strcol(c_series) : family(strcol(c_compressor))

array biased[most]
array last_of[most] # a line's last point
array points_of[most]
turns = sum [k = 1:most] (biased[k] = last_of[k] = points_of[k] = 0)
array on_front[2] = [0, 0] # points on the front of unbiased and of biased compressors; a single point is not drawn
x_low = y_low = 1e300
x_high = y_high = beyond_any = beyond_least = bars = 0

# The points, for their rates; coordinates of points beyond the axis are at its end.
point_most = 500
marks = 0
array at_x[point_most]
array at_y[point_most]
array rate_of[point_most]
array value_of[point_most] # the error of a point beyond the axis; else 0
array is_zero[point_most] # an error of 0, at the foot of a logarithmic axis
array line_of_point[point_most]
array before_point[point_most] # the point before it on its line; 0: none
array front_of[point_most] # 1: on the front of unbiased compressors, 2: of biased ones; else 0
remember(k) = marks == point_most ? 0 : (marks = marks + 1, at_x[marks] = x(0), at_y[marks] = column(c_y), \
    rate_of[marks] = text(c_rate) eq 'none' ? '' : text(c_rate), value_of[marks] = beyond(0) ? column(c_y) : 0.0, is_zero[marks] = column(c_y) == 0, \
    line_of_point[marks] = k, before_point[marks] = beyond(0) ? 0 : last_of[k], last_of[k] = beyond(0) ? last_of[k] : marks, front_of[marks] = front(0) ? 1 : front(1) ? 2 : 0)
note(k) = k == 0 ? 1 : (biased[k] = text(c_unbiased) eq 'false', points_of[k] = points_of[k] + 1, \
    x_low = least(x_low, x(0)), x_high = largest(x_high, x(0)), remember(k), \
    beyond(0) ? (beyond_least = beyond_any ? least(beyond_least, column(c_y)) : column(c_y), beyond_any = 1) : (y_low = least(y_low, column(c_y)), y_high = largest(y_high, column(c_y)), \
        on_front[1] = on_front[1] + front(0), on_front[2] = on_front[2] + front(1), \
        bars = bars || (c_se > 0 && valid(c_se) && column(c_se) > 0)), 1)
stats data using (has_point(0) ? note(number(series(0))) : 1) nooutput
if (n == 0 || x_high == 0) {
    print 'the data has no row with both relative_error and '.(timed ? 'a time' : 'bits_per_element')
    exit status 1
}
if (y_high == 0) { y_low = y_high = 1 }
below(v) = v > 0 && v < y_low # an error beyond the axis is below its foot, not above its top
below_any = beyond_any && below(beyond_least)

eval widen(n)

# ---- axes: logarithmic where the range asks ----

log_x = x_high / x_low > 6
log_y = below_any || y_high / y_low > 8
if (log_x && timed) {
    eval log_axis('x', x_low / 1.3, x_high * 1.6)
    x_from = x_low / 1.3
    x_to = x_high * 1.6
}
if (log_x && !timed) {
    set logscale x 2
    x_from = x_low / 1.3
    x_to = x_high * 1.6
    step = ceil(log(x_high / x_low) / log(2) / 9)
    set xtics ()
    do for [k = -20:20:step] { set xtics add ((k < 0 ? sprintf('1/%g', 2.0 ** -k) : sprintf('%g', 2.0 ** k)) 2.0 ** k) }
}
if (!log_x) {
    x_from = 0
    x_to = x_high * 1.12
}
set xrange [x_from : x_to]
if (log_y) {
    y_from = y_low / (below_any ? 6 : 3.75)
    y_to = y_high * (beyond_any ? 6 : 2.5)
    floor_y = below_any ? y_from * (y_to / y_from) ** 0.055 : y_low / 3
    eval log_axis('y', y_from, y_to)
} else {
    floor_y = 0
    y_from = 0
    y_to = y_high * (beyond_any ? 1.3 : 1.12)
    set yrange [0 : y_to]
}
top_y = log_y ? y_to / (y_to / y_from) ** 0.045 : y_to * 0.955
y_shown(y) = y > floor_y ? y : floor_y
edge_y(v) = below(v) ? floor_y : top_y # where a point beyond the axis is

# ---- key ----

unbiased_any = biased_any = 0
turns = sum [i = 1:n] (biased[i] ? (biased_any = 1) : (unbiased_any = 1))
mixed = unbiased_any && biased_any
rates_any = 0
turns = sum [k = 1:marks] (strlen(rate_of[k]) ? (rates_any = 1) : 0)
heading = (mixed ? 'filled marks: unbiased, open: biased; ' : '').(rates_any ? 'numbers: rates; ' : '').\
    (bars ? 'bars: 95 % intervals; ' : '').(beyond_any ? 'arrows: errors beyond the axis; ' : '')
heading = strlen(heading) ? heading[1 : strlen(heading) - 2] : ''

key_mark_of(i) = biased[i] ? hollow(i) : solid(i)
turns = sum [i = 1:n] enter(label[i], rgb(i), dash(i), points_of[i] > 1 ? weight(1.2, i) : 0, key_mark_of(i))
if (on_front[1] > 1) { key_entry = enter(mixed ? 'front, unbiased' : 'Pareto front', '#bbbbbb', 1, 2, -1) }
if (on_front[2] > 1) { key_entry = enter(mixed ? 'front, biased' : 'Pareto front', '#bbbbbb', blocks, 2, -1) }
if (!timed) { key_entry = enter('Gaussian data (no bound)', '#777777', dotted, 0.8, -1) }
if (!timed && unbiased_any) { key_entry = enter('Gaussian data, unbiased', '#333333', dotted, 1.2, -1) }
axes_high = 1.95
foot_share = 0.19
x_title = timed ? 'encode and decode, ms' : 'bits/element'
y_title = 'relative error'
load home.'page.gp'

# ---- rates beside their points, where no text, mark or line is ----

small = 0.8
inch_x(v) = axes_left + (axes_right - axes_left) * (log_x ? log(v / x_from) / log(x_to / x_from) : (v - x_from) / (x_to - x_from))
inch_y(v) = foot_high + under_axes + axes_high * (log_y ? log(v / y_from) / log(y_to / y_from) : (v - y_from) / (y_to - y_from))
box_most = 1500
boxes = 0
array box_x[box_most]
array box_y[box_most]
array box_w[box_most]
array box_h[box_most]
hits(cx, cy, w, h) = boxes == 0 ? 0 : sum [b = 1:boxes] (abs(cx - box_x[b]) < 0.5 * (w + box_w[b]) && abs(cy - box_y[b]) < 0.5 * (h + box_h[b]))
inside(cx, cy, w, h) = cx - 0.5 * w > axes_left && cx + 0.5 * w < wide - 0.02 && cy - 0.5 * h > foot_high + under_axes && cy + 0.5 * h < tall - 0.02
fill_box(cx, cy, w, h) = boxes == box_most ? 0 : (boxes = boxes + 1, box_x[boxes] = cx, box_y[boxes] = cy, box_w[boxes] = w, box_h[boxes] = h)
turns = sum [k = 1:marks] (at_y[k] = inch_y(value_of[k] > 0 ? edge_y(value_of[k]) : y_shown(at_y[k])), at_x[k] = inch_x(at_x[k]), fill_box(at_x[k], at_y[k], 0.05, 0.05))
turns = sum [k = 1:marks] (value_of[k] > 0 ? fill_box(at_x[k], at_y[k] + (below(value_of[k]) ? -0.065 : 0.065), 0.05, 0.1) : 0)
# The number of lines between points that cross the box of w x h inches around (cx, cy).
from_x(k) = at_x[before_point[k]]
from_y(k) = at_y[before_point[k]]
crosses(k, cx, cy, w, h) = abs(2 * cx - at_x[k] - from_x(k)) < w + abs(at_x[k] - from_x(k)) && \
    abs(2 * cy - at_y[k] - from_y(k)) < h + abs(at_y[k] - from_y(k)) && \
    2 * abs((at_x[k] - from_x(k)) * (cy - from_y(k)) - (at_y[k] - from_y(k)) * (cx - from_x(k))) < \
    abs(at_x[k] - from_x(k)) * h + abs(at_y[k] - from_y(k)) * w
struck(cx, cy, w, h) = marks == 0 ? 0 : sum [b = 1:marks] (before_point[b] && crosses(b, cx, cy, w, h))
# Errors below the axis, whose points are in a row, are only close to them.
# Of few lines, a number whose places are all crossed by lines is in the first that is free otherwise. Of many lines it is left out.
array side_x[12] = [1, -1, 1, -1, 0, 0, 1.4, -1.4, 1.4, -1.4, 1.4, -1.4]
array side_y[12] = [1, 1, -1, -1, 1.3, -1.3, 2, 2, -2, -2, 0, 0]
do for [k = 1:marks] {
    point_text = value_of[k] > 0 ? sprintf('%.1e', value_of[k]) : log_y && is_zero[k] ? rate_of[k].(strlen(rate_of[k]) ? ', ' : '').'error 0' : rate_of[k]
    text_w = small * text_width(point_text) + 0.01
    text_h = small * em * 1.15
    many_lines = n >= 10 && value_of[k] == 0 && !is_zero[k]
    do for [u = 1 : (strlen(point_text) ? many_lines ? 12 : 18 : 0)] {
        t = (u - 1) % 12 + 1
        text_x = at_x[k] + side_x[t] * (0.5 * text_w + 0.03)
        text_y = at_y[k] + side_y[t] * (0.5 * text_h + 0.02)
        if (strlen(point_text) && (t <= 6 || !below(value_of[k])) && inside(text_x, text_y, text_w, text_h) && !hits(text_x, text_y, text_w, text_h) && (u > 12 || !struck(text_x, text_y, text_w, text_h))) {
            set label said(point_text) at screen across(text_x), screen up(text_y) center noenhanced font font_of(small * points) textcolor rgb rgb(line_of_point[k])
            key_entry = fill_box(text_x, text_y, text_w, text_h)
            point_text = ''
        }
    }
}

# ---- lines ----

mine(i) = has_point(0) && series(0) eq name[i]
worst(b) = 4.0 ** -b
worst_unbiased(b) = 1 / (4.0 ** b - 1)
shown_at(r) = beyond(0) ? edge_y(column(c_y)) : y_shown(column(c_y))
has_bar(i) = mine(i) && !beyond(0) && c_se > 0 && valid(c_se) && column(c_y) > 0
reach(r) = 1.96 * column(c_se)
# The y that is so many inches outside the mark of a point beyond the axis.
sign(r) = below(column(c_y)) ? -1 : 1
outside(inches) = log_y ? shown_at(0) * (y_to / y_from) ** (sign(0) * inches / axes_high) : top_y + inches / axes_high * (y_to - y_from)
set samples tex ? 45 : 300 # few for LaTeX, which dots each

# A front may rise from left to right where it is uncertain which of two errors is less. Its line goes through the
# points that have less error than all smaller points of the front.
passed(k, b) = front_of[k] == b + 1 && (at_x[k] < inch_x(x(0)) && at_y[k] <= inch_y(y_shown(column(c_y))) || \
    at_x[k] == inch_x(x(0)) && at_y[k] < inch_y(y_shown(column(c_y))))
falls(b) = front(b) && (sum [k = 1:marks] passed(k, b)) == 0
set table $unbiased_front separator comma
plot data using (x(0)):(y_shown(column(c_y))) with table if (falls(0))
set table $biased_front separator comma
plot data using (x(0)):(y_shown(column(c_y))) with table if (falls(1))
unset table
set output figure
unset datafile columnheaders

plot (timed ? NaN : worst(x)) with lines linewidth 0.8 dashtype dotted linecolor rgb '#777777' notitle, \
    (timed || !unbiased_any ? NaN : worst_unbiased(x)) with lines linewidth 1.2 dashtype dotted linecolor rgb '#333333' notitle, \
    (|$unbiased_front| ? '$unbiased_front' : '$nothing') using 1:2 smooth unique with steps linewidth 2 linecolor rgb '#bbbbbb' notitle, \
    (|$biased_front| ? '$biased_front' : '$nothing') using 1:2 smooth unique with steps linewidth 2 dashtype blocks linecolor rgb '#bbbbbb' notitle, \
    for [i = 1:(bars ? n : 0)] data skip 1 using (has_bar(i) ? x(0) : NaN):(shown_at(0)):(y_shown(column(c_y) - reach(0))):(column(c_y) + reach(0)) \
        with yerrorbars pointtype -1 linewidth 0.7 linecolor rgb rgb(i) notitle, \
    for [i = 1:n] data skip 1 using (mine(i) && !beyond(0) ? x(0) : NaN):(shown_at(0)) with lines \
        linewidth weight(1.2, i) dashtype dash(i) linecolor rgb rgb(i) notitle, \
    for [i = 1:n] data skip 1 using (mine(i) ? x(0) : NaN):(shown_at(0)) with points \
        linewidth 1 linecolor rgb rgb(i) pointtype key_mark_of(i) pointsize 0.55 notitle, \
    for [i = 1:(beyond_any ? n : 0)] data skip 1 using (mine(i) && beyond(0) ? x(0) : NaN):(outside(0.03)):(0):(outside(0.1) - outside(0.03)) \
        with vectors linewidth 1 linecolor rgb rgb(i) size screen 0.012, 30 notitle
set output
