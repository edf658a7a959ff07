# histogram.gp -- how the elements of gradients are distributed, a line for each tensor.
#
#     gnuplot -d -c histogram.gp DATA.csv FIGURE.{pdf,svg,png,tex} ['' INCHES]
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of inspect --histogram. The x axis of one tensor
# is the value, with a line for each step or worker; that of several tensors is the distance from the mean in standard
# deviations, beside the normal distribution.
data = ARG1
figure = ARG2
asked_width = ARG4
note = ARG5
needs = 'tensor bin_low bin_high count'
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
home = folder(ARG0)
load home.'look.gp'

# ---- lines ----

c_low = place('bin_low')
c_high = place('bin_high')
c_count = place('count')
array elements[most]
array sum1[most]
array sum2[most]
array from[most]
array to[most]
array width[most] # of the first bin: places count in it from `from` on, so that sums of squares lose nothing
old = ''
old_high = 0.0
complete(r) = valid(c_low) && valid(c_high) && valid(c_count)
starts(r) = strcol(c_tensor) ne old || column(c_low) < old_high
opened(k) = (elements[k] = sum1[k] = sum2[k] = 0.0, from[k] = column(c_low), \
    width[k] = column(c_high) > from[k] ? column(c_high) - from[k] : 1.0)
middle(r) = 0.5 * column(c_low) + 0.5 * column(c_high)
extended(k) = (old = strcol(c_tensor), old_high = to[k] = column(c_high), x = (middle(0) - from[k]) / width[k], \
    elements[k] = elements[k] + column(c_count), sum1[k] = sum1[k] + column(c_count) * x, \
    sum2[k] = sum2[k] + column(c_count) * x * x)
least_end = 'shortest tails: '
most_end = 'longest tails: '
load home.'curves.gp'

array mean[most]
array std[most]
do for [k = 1:lines] {
    mean[k] = sum1[k] / elements[k]
    std[k] = sqrt(sum2[k] / elements[k] - mean[k] ** 2) * width[k]
    std[k] = std[k] > 0 ? std[k] : width[k] / sqrt(12) # all in one bin
    mean[k] = from[k] + mean[k] * width[k]
}

# ---- axes ----

x_of(k, v) = alone ? v : (v - mean[k]) / std[k]
unit(k) = alone ? 1.0 : std[k]
height(k) = column(c_count) > 0 ? column(c_count) / elements[k] * unit(k) / (column(c_high) - column(c_low)) : NaN
left = low = 1e300
right = -1e300
high = 0.0
do for [k = 1:lines] {
    left = x_of(k, from[k]) < left ? x_of(k, from[k]) : left
    right = x_of(k, to[k]) > right ? x_of(k, to[k]) : right
    stats data every ::first[k]::last[k] using (height(k)) nooutput
    high = largest(high, STATS_max)
    low = least(low, STATS_min)
}
if (!alone) {
    left = left < -12 ? -12 : left
    right = right > 12 ? 12 : right
}
low = largest(low, high * 1e-7)
eval log_axis('y', low / 1.5, high * 2)
set xrange [left - 0.02 * (right - left) : right + 0.02 * (right - left)]
step_x = alone ? 10 ** floor(log10((right - left) / 3)) : right - left > 12 ? 4 : 1
step_x = alone && (right - left) / step_x > 7 ? (right - left) / step_x > 14 ? 5 * step_x : 2 * step_x : step_x
set xtics step_x
x_title = (alone ? 'value' : 'value, in standard deviations from the mean')
y_title = 'probability density'

key_entry = enter('normal distribution', '#555555', dotted, 1, -1)
axes_high = 1.8
load home.'page.gp'

# ---- lines ----

unset datafile columnheaders
floored(v) = largest(v, low / 1.5)
c_band_low = bands ? place('low') : 1
c_band_high = bands ? place('high') : 1
band_data = bands ? data : '$nothing'
spread = alone ? std[lines] : 1.0
center = alone ? mean[lines] : 0.0
normal(x) = exp(-0.5 * ((x - center) / spread) ** 2) / spread / sqrt(2 * pi)
set samples tex ? 60 : 400 # few for LaTeX, which dots each
set output figure
plot for [k = 1:lines] data skip 1 every ::first[k]::last[k] using (ends(k) && many ? NaN : thinned(k, line_dash(k), x_of(k, middle(0)), height(k))):(thin_y) \
        with lines linewidth weight(line_width(k), k) dashtype line_dash(k) linecolor rgb line_colour(k) \
        notitle, \
    band_data skip (bands ? 1 : 0) every ::band_from::band_to \
        using (middle(0)):(floored(column(c_band_low))):(floored(column(c_band_high))) \
        with filledcurves fillcolor rgb band('#0072b2') fillstyle solid noborder \
        notitle, \
    band_data skip (bands ? 1 : 0) every ::band_from::band_to using (middle(0)):(floored(column(c_count))) \
        with lines linewidth 2 linecolor rgb '#0072b2' notitle, \
    for [k = 1:lines] data skip 1 every ::first[k]::last[k] using (ends(k) && many ? thinned(most + k, end_dash(k), x_of(k, middle(0)), height(k)) : NaN):(thin_y) \
        with lines linewidth weight(1.3, role[k] eq 'least') dashtype end_dash(k) linecolor rgb end_colour(k) \
        notitle, \
    normal(x) with lines linewidth 1 dashtype dotted linecolor rgb '#555555' notitle
set output
