# convergence.gp -- test accuracy during training: a line for each compressor.
#
#     gnuplot -d -c convergence.gp DATA.csv FIGURE.{pdf,svg,png,tex} [time|step|bytes|wall [INCHES]]
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of a run, which has no total of bytes.
# A line is the mean of all runs of a compressor, the band their range, the bar at its end the 95 % interval of the last
# mean (by Student's t), beside the other bars. Rows without a step and the columns
# steps_to_ACCURACY are target accuracies.
data = ARG1
figure = ARG2
asked_width = ARG4
note = ARG5
against = strlen(ARG3) ? ARG3 : 'time'
x_column = against eq 'step' ? 'step' : against eq 'bytes' ? 'bytes_sent' : against eq 'wall' ? 'wall_seconds' : 'sim_seconds'
needs = 'compressor step test_accuracy '.x_column
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
home = folder(ARG0)
load home.'look.gp'

# ---- which rows are drawn ----

c_record = place('record')
c_x = place(x_column)
c_y = place('test_accuracy')
c_low = place('low')
c_high = place('high')
c_runs = place('runs')
c_se = place('test_accuracy_se')
array tail[20] = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, \
    2.101, 2.093, 2.086]
of_runs(c) = !c_runs || column(c_runs) < 3 || !c_se || !valid(c_se) ? 0.0 : column(c_se) * (column(c_runs) > 21 ? 1.96 : tail[int(column(c_runs)) - 1])
array end_at[most]   # x, mean and half the interval at the last test of a line
array end_mean[most]
array end_half[most]
turns = sum [k = 1:most] (end_at[k] = end_half[k] = end_mean[k] = 0.0)
bars = 0
keep_end(k) = column(c_x) < end_at[k] ? 0 : (end_at[k] = column(c_x), end_mean[k] = column(c_y), end_half[k] = of_runs(0), bars = bars || end_half[k] > 0)
test(r) = valid(c_step) && valid(c_x) && valid(c_y) && text(c_record) ne 'summary'
array last[most]
turns = sum [k = 1:most] (last[k] = 0)
x_low = y_low = 1e300
x_high = y_high = runs = targets = 0
array target[100]
aim(v) = targets < 100 ? (targets = targets + 1, target[targets] = v, targets) : 0
low(r) = c_low ? column(c_low) : column(c_y)
high(r) = c_high ? column(c_high) : column(c_y)
note(k) = (keep_end(k), last[k] = largest(last[k], column(c_x)), \
    x_low = least(x_low, column(c_x)), x_high = largest(x_high, column(c_x)), \
    y_low = low(0) < y_low ? low(0) : y_low, y_high = largest(y_high, high(0)), \
    runs = c_runs ? largest(runs, column(c_runs)) : 1)
stats data using (test(0) ? note(number(strcol(c_compressor))) : !valid(c_step) && valid(c_y) ? aim(column(c_y)) : 0, 1) nooutput
if (n == 0) {
    print 'the data has no row with a number in each of '.needs
    exit status 1
}
asked(s) = s eq '' ? 0 : (before(s)[1:9] eq 'steps_to_' ? aim(real(before(s)[10:*])) : 0) + asked(behind(s))
aims = asked(head)

# ---- axes and key ----

do for [i = 1:targets] {
    y_low = target[i] < y_low ? target[i] : y_low
    y_high = largest(y_high, target[i])
}
unit = against ne 'bytes' ? 1.0 : x_high < 2e3 ? 1.0 : x_high < 2e6 ? 1e3 : x_high < 2e9 ? 1e6 : 1e9
unit_name = unit == 1 ? 'B' : unit == 1e3 ? 'kB' : unit == 1e6 ? 'MB' : 'GB'
heading = runs > 1 ? sprintf('mean of up to %d runs; band: least to most', runs).(bars ? '; bars at the ends: 95 % intervals' : '') : ''
turns = sum [i = 1:n] enter(label[i], rgb(i), dash(i), weight(1.2, i), solid(i))
if (targets) { key_entry = enter('target accuracy', '#555555', dotted, 1, -1) }
x_title = against eq 'step' ? 'step' : against eq 'bytes' ? 'sent by a worker, '.unit_name : \
    against eq 'wall' ? 'wall-clock time, s' : 'simulated time, s'
y_title = 'test accuracy'
shortest = 1e300
turns = sum [k = 1:n] (shortest = least(shortest, last[k]))
log_x = x_low > 0 && x_high / shortest > 8
if (log_x) {
    eval log_axis('x', x_low / unit / 1.1, x_high / unit * 1.1)
} else {
    set xrange [0 : x_high / unit * (bars ? 1.05 : 1.02)]
}
do for [k = 1:(bars ? n : 0)] {
    y_low = end_mean[k] - end_half[k] < y_low ? end_mean[k] - end_half[k] : y_low
    y_high = largest(y_high, end_mean[k] + end_half[k])
}
margin = largest(0.01, 0.05 * (y_high - y_low))
set yrange [y_low - margin : y_high + margin > 1 && y_high <= 1 ? 1 : y_high + margin]
do for [i = 1:targets] {
    set arrow from graph 0, first target[i] to graph 1, first target[i] nohead linewidth 1 dashtype dotted linecolor rgb '#555555'
}

axes_high = 1.8
load home.'page.gp'

# ---- lines ----

mine(i) = test(0) && strcol(c_compressor) eq name[i]
# The bars stand side by side, as lines often end at one place.
beside_end(k) = end_at[k] / unit * (1 + (log_x ? 0.08 : 0.04) * (k - 0.5) / n)
set output figure
unset datafile columnheaders
plot for [i = 1:(runs > 1 ? n : 0)] data skip 1 using (mine(i) ? column(c_x) / unit : NaN):(low(0)):(high(0)) \
        with filledcurves fillcolor rgb band(rgb(i)) fillstyle solid noborder notitle, \
    for [i = 1:n] data skip 1 using (mine(i) ? thinned(i, dash(i), column(c_x) / unit, column(c_y)) : NaN):(mine(i) ? thin_y : NaN) with linespoints linewidth weight(1.2, i) \
        dashtype dash(i) linecolor rgb rgb(i) pointtype solid(i) pointsize 0.4 notitle, \
    for [k = 1:(bars ? n : 0)] '+' every ::::0 using (beside_end(k)):(end_half[k] > 0 ? end_mean[k] - end_half[k] : NaN):(0):(2 * end_half[k]) \
        with vectors heads size screen 0.008, 90 linewidth 0.8 linecolor rgb rgb(k) notitle
set output
