# iteration-time.gp -- the time of an iteration: for each compressor and number of workers a bar of the times to
# compute, encode, communicate and decode.
#
#     gnuplot -d -c iteration-time.gp DATA.csv FIGURE.{pdf,svg,png,tex} ['' INCHES]
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of cost with one link and topology.
data = ARG1
figure = ARG2
asked_width = ARG4
note = ARG5
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
home = folder(ARG0)
mine(r) = 1
load home.'bars.gp'

# ---- places of bars: rows by compressor, in a row few workers first ----

array rank[64]
do for [i = 1:workers] { rank[i] = 1 + sum [k = 1:workers] (worker[k] < worker[i]) }
thick = 0.84 / workers
middle(r) = find(strcol(c_compressor)) - 0.42 + (rank[at(column(c_x))] - 0.5) * thick

order = ''
do for [k = 1:workers] { do for [i = 1:workers] { if (rank[i] == k) { order = order.(k > 1 ? ', ' : '').sprintf('%d', worker[i]) } } }

heading = (workers > 1 ? 'bars of each, from above: ' : '').order.(workers == 1 && worker[1] == 1 ? ' worker' : ' workers').said_of_computing.said_of_bars
eval key_of_parts
row_high = largest(0.16, 0.065 * workers + 0.04)
load home.'rows.gp'
x_title = time_label(y_high)
set xrange [0 : y_high / per_unit(y_high) * 1.05]
load home.'page.gp'
unset grid
set grid x linewidth 0.4 linecolor rgb '#dddddd' linetype 1

set output figure
unset datafile columnheaders
plot for [p = part_one:4] data skip 1 using (valid(c_total) ? low(p) + part(p) / 2 : NaN):(middle(0)):(low(p)):(low(p) + part(p)):(middle(0) - 0.44 * thick):(middle(0) + 0.44 * thick) \
        with boxxyerror fillstyle solid 1 noborder linecolor rgb part_rgb(p) notitle, \
    for [p = 1:(bars ? 1 : 0)] data skip 1 using (valid(c_total) && half_end(0) > 0 ? end_of_bar(0) : NaN):(middle(0)):\
        (end_of_bar(0) - half_end(0)):(end_of_bar(0) + half_end(0)) with xerrorbars pointtype -1 linewidth 0.7 linecolor rgb '#000000' notitle, \
    for [p = 1:(measured > 0 ? 1 : 0)] data skip 1 using (measured_end(0)):(middle(0)) with points pointtype measured_mark pointsize 0.8 linecolor rgb '#000000' notitle
set output
