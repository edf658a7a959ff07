# bars.gp -- shared by the figures with bars: each iteration is a stack of its parts, from the columns of cost.
#
# A script sets data, figure, asked_width and home, and defines mine(0): whether a row is drawn.
needs = 'compressor workers compute_ms encode_ms comm_ms decode_ms total_ms bytes_up'
load home.'look.gp'

c_x = place('workers')
c_compute = place('compute_ms')
c_encode = place('encode_ms')
c_decode = place('decode_ms')
c_total = place('total_ms')
c_bytes = place('bytes_up')
c_se = place('total_ms_se')
c_measured = place('measured_ms')
bars = 0
measured = 0.0 # the longest measured time
array worker[64]
workers = 0
at(p) = sum [i = 1:workers] (worker[i] == p ? i : 0)
meet(p) = at(p) || workers == 64 ? 0 : (workers = workers + 1, worker[workers] = p)
stats data using (valid(c_x) && valid(c_total) ? (meet(column(c_x)), number(strcol(c_compressor))) : 1) nooutput
p_high = 0 # the largest number of workers
do for [i = 1:workers] { p_high = largest(p_high, worker[i]) }
if (n == 0 || workers == 0) {
    print 'the data has no row with both workers and total_ms'
    exit status 1
}

# With overlap, communicating adds less than its own time to the total.
heights = 'compute encode communicate decode'
low(i) = i <= part_one ? 0 : low(i - 1) + part(i - 1)
shown_comm(r) = column(c_total) - column(c_compute) - column(c_encode) - column(c_decode)
ms(i) = i == 1 ? column(c_compute) : i == 2 ? column(c_encode) : i == 3 ? shown_comm(0) : column(c_decode)
part(i) = ms(i) / per_unit(y_high)

# A compute time of 0, or the same one in all bars that takes over half of the longest, is left out of the bars. The heading
# says so.
least_compute = 1e300
most_compute = most_total = 0.0
stats data using (valid(c_x) && valid(c_total) && mine(0) ? (least_compute = column(c_compute) < least_compute ? column(c_compute) : least_compute, \
    most_compute = largest(most_compute, column(c_compute)), most_total = largest(most_total, column(c_total) + half_interval(c_se)), bars = bars || half_interval(c_se) > 0, \
    measured = valid(c_measured) ? largest(measured, column(c_measured)) : measured) : 0, 1) nooutput
most_total = largest(most_total, measured)
same_compute = least_compute == most_compute
left_out = same_compute && most_compute > 0.5 * most_total ? most_compute : 0.0
part_one = most_compute == 0 || left_out > 0 ? 2 : 1
y_high = most_total - left_out
said_of_computing = most_compute == 0 ? '; computing is left out' : \
    left_out > 0 ? sprintf('; without %.4g ms of computing in each', left_out) : ''
said_of_bars = bars ? '; lines at the ends: 95 % intervals' : ''

# The measured time, where a run of training on several ranks has one.
measured_mark = 13
measured_end(r) = valid(c_measured) && column(c_measured) > 0 ? (column(c_measured) - left_out) / per_unit(y_high) : NaN

# The end of a bar, and half the interval of the total there.
end_of_bar(r) = low(4) + part(4)
half_end(r) = half_interval(c_se) / per_unit(y_high)
part_rgb(i) = word('#cfcfcf #e69f00 #0072b2 #009e73', i)
key_of_parts = "do for [p = part_one:4] { key_entry = enter(word(heights, p), part_rgb(p), 1, -1, -1) }; ".\
    "if (measured > 0) { key_entry = enter('measured', '#000000', 1, 0, measured_mark) }"

# eval tics_of(high, share): numbers on the axis from 0 to high of a narrow panel, at most high * share apart.
round_step(v) = v / 10 ** floor(log10(v)) < 2 ? 10 ** floor(log10(v)) : v / 10 ** floor(log10(v)) < 5 ? 2 * 10 ** floor(log10(v)) : 5 * 10 ** floor(log10(v))
tics_of(high, share) = sprintf("set xtics 0, %g", round_step(share * high))
