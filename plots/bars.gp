# bars.gp -- shared by the figures with bars: each iteration is a stack of its parts, from the columns of cost.
needs = 'compressor workers compute_ms encode_ms comm_ms decode_ms total_ms bytes_up'
load folder(ARG0).'look.gp'

c_x = place('workers')
c_compute = place('compute_ms')
c_encode = place('encode_ms')
c_decode = place('decode_ms')
c_total = place('total_ms')
c_bytes = place('bytes_up')
array worker[64]
workers = 0
at(p) = sum [i = 1:workers] (worker[i] == p ? i : 0)
meet(p) = at(p) || workers == 64 ? 0 : (workers = workers + 1, worker[workers] = p)
stats data using (valid(c_x) && valid(c_total) ? (meet(column(c_x)), number(strcol(c_compressor))) : 1) nooutput
if (n == 0 || workers == 0) {
    print 'the data has no row with both workers and total_ms'
    exit status 1
}

# With overlap, communicating adds less than its own time to the total.
heights = 'compute encode communicate decode'
low(i) = i < 2 ? 0 : low(i - 1) + part(i - 1)
shown_comm(r) = column(c_total) - column(c_compute) - column(c_encode) - column(c_decode)
ms(i) = i == 1 ? column(c_compute) : i == 2 ? column(c_encode) : i == 3 ? shown_comm(0) : column(c_decode)
part(i) = ms(i) / per_unit(y_high)
computing = 0
stats data using (valid(c_total) && column(c_compute) > 0 ? (computing = 1) : 1) nooutput
part_one = computing ? 1 : 2 # without a compute time, the bars begin with encoding, and the key says so
said_of_computing = computing ? '' : '; computing is left out'
part_rgb(i) = word('#999999 #e69f00 #0072b2 #009e73', i)

# A slanted name under its bars; a longer name needs more room.
room = 28
longest = 0
do for [i = 1:n] { longest = largest(longest, strlen(name[i]) < room ? strlen(name[i]) : room) }
slant = 40
below = longest * 0.036 * (tex ? 1.15 : 1) + 0.1

# The script defines ends_at(i), the right end of the bars of name i. Names are labels, as gnuplot cuts tics at 63 characters.
name_bars = "do for [i = 1:n] { set label shown_name(name[i]) at first ends_at(i), graph 0 right rotate by slant offset 0, -0.5 font key_font noenhanced }"
