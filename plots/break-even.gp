# break-even.gp -- break-even bandwidth against the number of workers: a line for each compressor.
#
#     gnuplot -d -c break-even.gp DATA.csv FIGURE.{pdf,svg,png,tex} ['' INCHES]
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of cost with one link and topology. Filled marks:
# the compressor pays below the bandwidth; open marks: above it. The key names compressors that always or never pay.
data = ARG1
figure = ARG2
asked_width = ARG4
note = ARG5
needs = 'compressor workers break_even_gbps pays'
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
home = folder(ARG0)
load home.'look.gp'

# ---- which rows are drawn ----

c_x = place('workers')
c_even = place('break_even_gbps')
c_pays = place('pays')
c_se = place('break_even_gbps_se')
bars = 0
array below[most]
array above[most]
array always[most]
array never[most]
turns = sum [k = 1:most] (below[k] = above[k] = always[k] = never[k] = 0)
x_low = y_low = 1e300
x_high = y_high = hollows = 0
count(k, s) = k == 0 ? 0 : s eq 'below' ? (below[k] = below[k] + 1) : s eq 'above' ? (above[k] = above[k] + 1, hollows = 1) : \
    s eq 'always' ? (always[k] = always[k] + 1) : s eq 'never' ? (never[k] = never[k] + 1) : 0
note(k) = (count(k, strcol(c_pays)), x_low = least(x_low, column(c_x)), x_high = largest(x_high, column(c_x)), \
    valid(c_even) ? (y_low = least(y_low, column(c_even)), y_high = largest(y_high, column(c_even)), bars = bars || half_interval(c_se) > 0) : 0, 1)
says(s) = s eq 'below' || s eq 'above' || s eq 'always' || s eq 'never'
stats data using (valid(c_x) && says(strcol(c_pays)) ? note(number(strcol(c_compressor))) : 1) nooutput
if (n == 0 || x_high == 0) {
    print 'the data has no row that says whether it pays'
    exit status 1
}
if (y_high == 0) { y_low = y_high = 1.25 }

# A name, with "always" or "never" where there is no bandwidth.
drawn_any(i) = below[i] + above[i] > 0
rest(i) = always[i] && never[i] ? 'always or never' : always[i] ? 'always' : never[i] ? 'never' : ''
only(i) = rest(i) eq '' ? '' : (drawn_any(i) ? ', else ' : ': ').rest(i)
key_label(i) = label[i].only(i)

eval widen(n)

# ---- axes and key ----

heading = hollows ? 'pays below its line; open marks: above it' : 'pays below its line'
heading = heading.(bars ? '; bars: 95 % intervals' : '')
links = 0
turns = sum [i = 1:n] enter(key_label(i), rgb(i), dash(i), drawn_any(i) ? weight(1.4, i) : 0, below[i] ? solid(i) : above[i] ? hollow(i) : -1)
x_title = 'workers'
y_title = 'break-even bandwidth, GB/s'
set logscale x 2
edge = 1.2 * x_high * (1.44 * x_high / x_low) ** 0.2
set xrange [x_low / 1.2 : edge]
set xtics 1, 2, x_high
y_low = y_low / 2.5
y_high = y_high * 2.5
eval log_axis('y', y_low, y_high)

# Common link speeds, named at the right of all curves.
do for [k = 0:4] {
    b = 0.0125 * 10 ** k
    if (b > y_low && b < y_high / (y_high / y_low) ** 0.08) { # its name stands above the line
        set arrow from x_low / 1.2, b to edge, b nohead dashtype dotted linewidth weight(0.7, 1) linecolor rgb '#777777' back
        set label word('100 1 10 100 1', k + 1).' '.word('M G G G T', k + 1).'bit/s' at graph 1, first b right offset 0, 0.5 textcolor rgb '#777777'
        links = 1
    }
}

if (links) { key_entry = enter('speed of a common link', '#777777', dotted, weight(0.7, 1), -1) }
axes_high = 1.9
foot_share = 0.3
load home.'page.gp'

mine(i, s) = valid(c_even) && strcol(c_compressor) eq name[i] && strcol(c_pays) eq s
any(i) = half_interval(c_se) > 0 && (mine(i, 'below') || mine(i, 'above'))
low_end(r) = column(c_even) - half_interval(c_se) > y_low ? column(c_even) - half_interval(c_se) : y_low
set output figure
unset datafile columnheaders
plot for [i = 1:(bars ? n : 0)] data skip 1 using (any(i) ? column(c_x) : NaN):(column(c_even)):(low_end(0)):(column(c_even) + half_interval(c_se)) \
        with yerrorbars pointtype -1 linewidth 0.7 linecolor rgb rgb(i) notitle, \
    for [i = 1:n] data skip 1 using (mine(i, 'below') ? column(c_x) : NaN):(column(c_even)) with linespoints \
        linewidth weight(1.4, i) dashtype dash(i) linecolor rgb rgb(i) pointtype solid(i) pointsize 0.6 notitle, \
    for [i = 1:n] data skip 1 using (mine(i, 'above') ? column(c_x) : NaN):(column(c_even)) with linespoints \
        linewidth weight(1, i) dashtype dash(i) linecolor rgb rgb(i) pointtype hollow(i) pointsize 0.6 notitle
set output
