# look.gp -- shared by the scripts of all figures: reading data, the size of a paper's column, names as text, and colours,
# marks and dashes that also differ in grey and for colour-blind readers.
#
# A script sets `data`, `figure` and `needs`, the columns that the data must have, and loads this file from its own folder.
# gnuplot runs commands in strings that it evaluates. So names from the data are only held in string variables and drawn
# `noenhanced`, and strings for `eval` are made of numbers.
ending = figure[strlen(figure) - 3 : *]
tex = ending eq '.tex'
terminal = ending eq '.pdf' ? 'pdfcairo' : ending eq '.svg' ? 'svg' : ending eq '.png' ? 'pngcairo' : tex ? 'pict2e' : ''
if (terminal eq '') {
    print 'want a figure whose name ends in .pdf, .svg, .png or .tex'
    exit status 1
}
if (!strstrt(' '.GPVAL_TERMINALS.' ', ' '.terminal.' ')) {
    print 'it has no terminal '.terminal.': the package gnuplot-nox has it; .svg needs no more than gnuplot itself'
    exit status 1
}

# ---- the data: c_x = place('x') is the number of the column x, 0 where there is none ----

set datafile commentschars "\001"
set datafile separator "\001"
head = ''
stats data every ::0::0 using (head = strcol(1), 1) nooutput
set datafile separator comma
set datafile missing ''
before(s) = strstrt(s, ',') ? s[1 : strstrt(s, ',') - 1] : s
behind(s) = strstrt(s, ',') ? s[strstrt(s, ',') + 1 : *] : ''
place_in(s, h, i) = s eq '' ? 0 : before(s) eq h ? i : place_in(behind(s), h, i + 1)
place(h) = place_in(head, h, 1)
text(c) = c ? strcol(c) : ''
do for [h in needs] {
    if (!place(h)) {
        print 'the data lacks a column: want '.needs
        exit status 1
    }
}
set datafile columnheaders

# Draws only the rows over the whole selection, if the results of compressors have such rows.
c_compressor = place('compressor')
c_tensor = place('tensor')
c_step = place('step')
whole = all_steps = 0
if (c_compressor) {
    stats data using (whole = whole || text(c_tensor) eq '*', all_steps = all_steps || text(c_step) eq '*', 1) nooutput
}
drawn(r) = (!whole || text(c_tensor) eq '*') && (!all_steps || text(c_step) eq '*')

# Lines by name, in order of appearance: number(s) is the line of that name, a new one at its first call; 0: too many.
# The longest name takes `long` characters.
room = 60
most = 400
n = long = 0
array name[most]
find(s) = sum [i = 1:n] (name[i] eq s ? i : 0)
add(s) = (n = n + 1, name[n] = s, long = largest(long, strlen(s) < room ? strlen(s) : room), n)
number(s) = (found = find(s), found > 0 || n == most ? found : add(s))

# The range of an axis; a logarithmic axis ignores values of 0.
least(a, b) = b > 0 && b < a ? b : a
largest(a, b) = b > a ? b : a

# ---- names as text ----

# Cuts a name that is longer than `room`; adds its number if another name is cut to the same text.
cut(s, head) = s[1 : head].'..'.s[strlen(s) - room + head + 3 : *]
alone_at(s, head) = 0 == sum [i = 1:n] (strlen(name[i]) > room && name[i] ne s && cut(name[i], head) eq cut(s, head))
cut_from(s, head) = head < 0 ? s[1 : room - 5].'..'.find(s) : alone_at(s, head) ? cut(s, head) : cut_from(s, next_cut(head))
next_cut(head) = head == room / 3 ? room / 2 : head == room / 2 ? 3 * room / 4 : head == 3 * room / 4 ? room - 2 : head == room - 2 ? 0 : -1
short(s) = strlen(s) > room ? cut_from(s, room / 3) : s
quoted(c) = strstrt('_%&#${}', c) ? '\'.c : c eq '\' ? '\textbackslash{}' : strstrt('^~', c) ? '\'.c.'{}' : \
    c eq '<' ? '\textless{}' : c eq '>' ? '\textgreater{}' : c eq '|' ? '\textbar{}' : c
escaped(s) = strlen(s) ? quoted(s[1:1]).escaped(s[2:*]) : ''
shown_name(s) = tex ? escaped(short(s)) : short(s)

# ---- colours (Okabe and Ito), marks and dashes of line i ----

array colour[7] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000']
array filled[6] = [7, 5, 9, 13, 11, 15]
array open[6] = [6, 4, 8, 12, 10, 14]
array filled_tex[4] = [7, 9, 13, 11] # LaTeX's squares are large, and it has no pentagons
array open_tex[4] = [6, 8, 12, 10]
rgb(i) = colour[(i - 1) % 7 + 1]
solid(i) = tex ? filled_tex[(i - 1) % 4 + 1] : filled[(i - 1) % 6 + 1]
hollow(i) = tex ? open_tex[(i - 1) % 4 + 1] : open[(i - 1) % 6 + 1]

# LaTeX pictures have solid and dotted lines only: all dashes are number 0 there.
set dashtype 2 (6, 3)
set dashtype 3 (2, 2)
set dashtype 4 (8, 3, 2, 3)
set dashtype 5 (8, 3, 2, 3, 2, 3)
set dashtype 6 (1, 3)
set dashtype 7 (3, 1.5)
dash(i) = tex ? i % 2 : (i - 1) % 5 + 1
dashed = tex ? 0 : 2
dotted = tex ? 0 : 6
blocks = tex ? 0 : 7
dashed_word = tex ? 'dotted' : 'dashed'

# LaTeX dots keep the colour of the first line with their size. So each line has its own size.
weight(w, i) = tex ? w + 0.02 * (i % 7) : w

# The colour of a band: transparent, or light in LaTeX pictures, which have no transparency.
number_of(c) = '0x'.c[2:*] + 0
lighter(v) = int(255 - 0.2 * (255 - v))
light(v) = lighter(v / 65536) * 65536 + lighter(v / 256 % 256) * 256 + lighter(v % 256)
band(c) = tex ? light(number_of(c)) : 0xcc000000 + number_of(c)

# An empty plot, for a part of a figure without data.
$nothing << EOD
NaN,NaN,NaN
EOD

# ---- times: in ms, or in seconds from 1 s on ----

in_ms(typical) = typical < 1000
per_unit(typical) = in_ms(typical) ? 1.0 : 1000.0
time_label(typical) = in_ms(typical) ? 'time, ms' : 'time, s'

# ---- one column of a paper ----

# Without this, LaTeX would set formulas in the size of the document's text.
math(s) = '{\fontsize77\selectfont$\mathsf{'.s.'}$}'
plain = tex ? math('%g') : '%g'
powers = tex ? math('10^{%T}') : '10^{%T}'

# eval log_axis('y', low, high): from low > 0 to high. A short axis also has tics at 2 and 5 times powers of ten.
twos_and_fives(k, last) = sprintf('%ge%d, %ge%d, %ge%d', 1, k, 2, k, 5, k).(k < last ? ', '.twos_and_fives(k + 1, last) : '')
log_axis(axis, low, high) = sprintf("set logscale %s 10; set %srange [%.9g : %.9g]; set format %s %s", axis, axis, low, high, axis, high / low > 5000 ? 'powers' : 'plain').\
    (high / low < 60 ? sprintf("; set %stics (%s)", axis, twos_and_fives(int(floor(log10(low))), int(floor(log10(high))))) : '')
set border 3 linewidth 0.7
set tics nomirror out scale 0.5
set grid x y linewidth 0.4 linecolor rgb '#dddddd' linetype 1
set format x plain
set format y plain
set xtics offset 0, (ending eq '.svg' ? 0.5 : 0.25)
set xlabel offset 0, (ending eq '.svg' ? 1.1 : 0.6)
set ylabel offset (tex ? 2 : 0.2), 0
key_font = tex ? '' : ending eq '.svg' ? ',8' : ',7'
key_lines = ending eq '.svg' ? 0.9 : 1.12
key_columns(long) = long > 26 ? 1 : long > 10 ? 2 : 3

# The lines above the key; they may contain names from the data.
heading = ''
line_count(s) = s eq '' ? 0 : 1 + (strstrt(s, "\n") ? line_count(s[strstrt(s, "\n") + 1 : *]) : 0)
line_of(s, k) = strstrt(s, "\n") == 0 ? s : k == 1 ? s[1 : strstrt(s, "\n") - 1] : line_of(s[strstrt(s, "\n") + 1 : *], k - 1)

# eval page(tall, entries, long): the terminal, `tall` inches high without the key, and at its foot a key of so many
# entries, the longest of `long` characters, under the heading. It is set by rows, as columns asked for are no more than
# fit under the axis. The heading stands in labels: a key's own title would widen its columns, and LaTeX's pictures have
# no row for it. gnuplot breaks a key into columns, wider than the page, that is higher than the axes: then they grow with it.
wide = 3.35
line_high = ending eq '.svg' ? 0.113 : 0.102
key_rows(entries, long) = int(ceil(entries / real(key_columns(long))))
foot(entries, long) = line_high * (key_rows(entries, long) + line_count(heading)) + 0.08
canvas(tall) = \
    ending eq '.pdf' ? sprintf("set terminal ".terminal." size %g, %g font 'Helvetica,8' fontscale 0.7 linewidth 1", wide, tall) : \
    ending eq '.svg' ? sprintf("set terminal ".terminal." size %g, %g font 'Helvetica,Arial,sans-serif,9.3' linewidth 1 dynamic", wide * 96, tall * 96) : \
    ending eq '.png' ? sprintf("set terminal ".terminal." size %g, %g font 'Helvetica,8' fontscale 2.9 linewidth 3 pointscale 3 dashlength 2", wide * 300, tall * 300) : \
    sprintf("set terminal ".terminal." size %g, %g font 'cmss,7' color tinypoints gparrows linewidth 1.3", wide, tall)
key(rows, squeeze, tall) = sprintf("set key bottom center at screen 0.5, screen %g vertical Left reverse maxrows %d samplen 2.2 spacing %g width %d font '%s'", 0.03 / tall, rows, key_lines, squeeze, key_font)
headed(above, tall) = sprintf("do for [k = 1:line_count(heading)] { set label line_of(heading, k) at screen 0.5, screen (%g - (k - 0.5) * %g) center noenhanced font key_font }", above / tall, line_high / tall)
parts(tall, foot, rows, squeeze) = canvas(tall + foot).'; '.key(rows, squeeze, tall + foot).'; '.\
    headed(foot - 0.02, tall + foot).'; '.sprintf("set bmargin at screen %g", (foot + 0.3) / (tall + foot))
high_enough(tall, rows) = largest(tall, 0.5 + rows * line_high)
page(tall, entries, long) = parts(high_enough(tall, key_rows(entries, long)), foot(entries, long), key_rows(entries, long), key_columns(long) == 2 && long > 15 ? 15 - long : 0)
