# iteration-time.gp -- the time of an iteration: for each compressor and number of workers a bar of the times to
# compute, encode, communicate and decode.
#
#     gnuplot -d -c iteration-time.gp DATA.csv FIGURE.{pdf,svg,png,tex}
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of cost with one link and topology.
data = ARG1
figure = ARG2
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
load folder(ARG0).'bars.gp'

# ---- places of bars: groups by compressor, in a group few workers first ----

array rank[64]
do for [i = 1:workers] { rank[i] = 1 + sum [k = 1:workers] (worker[k] < worker[i]) }
group = workers + 1.2
left(r) = (find(strcol(c_compressor)) - 1) * group + rank[at(column(c_x))] - 1
y_high = 0
stats data using (valid(c_total) && valid(c_x) ? (y_high = largest(y_high, column(c_total)), 1) : 1) nooutput

said = ''
do for [k = 1:workers] { do for [i = 1:workers] { if (rank[i] == k) { said = said.(k > 1 ? ', ' : '').sprintf('%d', worker[i]) } } }

heading = (workers > 1 ? 'bars of each, from left: ' : '').said.(workers == 1 && worker[1] == 1 ? ' worker' : ' workers').said_of_computing
eval page(2.0 + below, 4, 11)
set bmargin at screen (foot(4, 11) + below) / (2.0 + below + foot(4, 11))
set ylabel time_label(y_high)
set xrange [-1 : n * group]
set yrange [0 : y_high / per_unit(y_high) * 1.05]
unset grid
set grid y linewidth 0.4 linecolor rgb '#dddddd' linetype 1
unset xtics
ends_at(i) = (i - 1) * group + workers / 2.0
eval name_bars

set output figure
unset datafile columnheaders
plot for [p = part_one:4] data skip 1 using (valid(c_total) ? left(0) + 0.5 : NaN):(low(p) + part(p) / 2):(left(0) + 0.06):(left(0) + 0.94):(low(p)):(low(p) + part(p)) \
        with boxxyerror fillstyle solid 1 noborder linecolor rgb part_rgb(p) title word(heights, p)
set output
