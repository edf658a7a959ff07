# look.gp -- shared by the scripts of all figures: reads the data, measures text, and gives each name its label, colour,
# mark and dashes. page.gp then lays out the page.
#
# A script sets `data`, `figure`, `needs` (the columns that the data must have), `home` (the folder of the scripts) and
# `asked_width` (inches; '': a column of a paper) and `note` (a text above the heading, or ''), and loads this file.
# gnuplot reads the text of a `do` loop anew for each turn, and looks up each name in a list of all. So loops that only compute
# are sums, which it reads once; `turns` is a sum that nobody needs.
# gnuplot runs commands in strings that it evaluates. So names from the data are only held in string variables and drawn
# `noenhanced`, and strings for `eval` are made of numbers.
set encoding utf8
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
if (strlen(head) > 1000) { # cut by gnuplot: column by column. One that is not there is its number, with a warning
    head = ''
    stats data every ::0::0 using (sum [i = 1:160] (head = head.strcol(i).',', 0), 1) nooutput
}
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
# label[k] is the text that the figure shows for name[k].
most = 400
n = 0
array name[most]
array label[most]
array colour[most]
array mark[most]
array dashes[most]
c_label = place('label')
c_colour = place('colour')
c_mark = place('mark')
c_dash = place('dash')

# In the data that atomo-bench plot writes, %2C is a comma, %22 a double quote, %5C a backslash.
swap(s, code, c) = strstrt(s, code) ? s[1 : strstrt(s, code) - 1].c.swap(s[strstrt(s, code) + 3 : *], code, c) : s
# An apostrophe before one of =+-@' is there for spreadsheets.
unguarded(s) = s[1:1] eq "'" && strlen(s) > 1 && strstrt("=+-@'", s[2:2]) ? s[2:*] : s
plain_text(s) = swap(swap(swap(unguarded(s), '%2C', ','), '%22', '"'), '%5C', '\')

# Without columns of looks, in data of other origin: the colours of Okabe and Ito, in order of appearance.
array usual[7] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000']
find(s) = sum [i = 1:n] (name[i] eq s ? i : 0)
c_draws = place('draws')
draws = ''
dress(k) = (draws = c_draws ? strcol(c_draws) : '', label[k] = plain_text(c_label && strlen(strcol(c_label)) ? strcol(c_label) : name[k]), \
    colour[k] = c_colour && strlen(strcol(c_colour)) ? strcol(c_colour) : usual[(k - 1) % 7 + 1], \
    mark[k] = c_mark && valid(c_mark) ? int(column(c_mark)) : (k - 1) % 6, \
    dashes[k] = c_dash && valid(c_dash) ? int(column(c_dash)) : (k - 1) % 5, k)
add(s) = (n = n + 1, name[n] = s, dress(n))
number(s) = (found = find(s), found > 0 || n == most ? found : add(s))

# The range of an axis; a logarithmic axis ignores values of 0.
least(a, b) = b > 0 && b < a ? b : a
largest(a, b) = b > a ? b : a

# Half the 95 % interval of the mean whose standard error is in column c; 0 where the data have none.
half_interval(c) = c && valid(c) && column(c) > 0 ? 1.96 * column(c) : 0.0

# ---- text: its width, and names that are cut to fit ----

wide = strlen(asked_width) ? real(asked_width) : 3.25
points = wide > 4.5 ? 8 : 7
em = points / 72.0 # inches

# eval widen(lines): without --width, a figure of many lines is as wide as a page, so that its key stays low.
widen(lines) = strlen(asked_width) || lines <= 12 ? '' : 'wide = 6.75; points = 8; em = points / 72.0'

# Width of a letter in em, rounded up from DejaVu Sans, which is wider than Helvetica, Arial and cmss.
known_letters = "'ijl"." ,./:;|\\-f()[]!tIJr".'sz?c"_*`LF'.'mMW@%'.'#+<=>^~wABCDGHKNOQRTUVXYZ&'
letter_at(p) = p == 0 ? 0.64 : p <= 4 ? 0.28 : p <= 23 ? 0.4 : p <= 33 ? 0.575 : p <= 38 ? 1.0 : 0.8
letter(c) = letter_at(strstrt(known_letters, c))
text_width(s) = em * (strlen(s) ? sum [i = 1:strlen(s)] letter(s[i:i]) : 0)

# short(s): s with its middle cut out if it has over `room` letters; with its number if another label is cut to the same.
room = 60
behind_cut(s, head) = s[strlen(s) - room + head + 3 : *]
cut(s, head) = s[1 : head].'..'.behind_cut(s, head)
same_cut(a, b, head) = a[1 : head] eq b[1 : head] && behind_cut(a, head) eq behind_cut(b, head)
alone_at(s, head) = 0 == sum [i = 1:n] (strlen(label[i]) > room && label[i] ne s && same_cut(label[i], s, head))
label_number(s) = (found = 0, sum [i = 1:n] (found == 0 && label[i] eq s ? (found = i, 0) : 0), found)
cut_from(s, head) = head < 0 ? s[1 : room - 5].'..'.label_number(s) : alone_at(s, head) ? cut(s, head) : cut_from(s, next_cut(head))
next_cut(head) = head == room / 3 ? room / 2 : head == room / 2 ? 3 * room / 4 : head == 3 * room / 4 ? room - 2 : head == room - 2 ? 0 : -1
short(s) = strlen(s) > room ? cut_from(s, room / 3) : s
widest_label(r) = (found = 0.0, n ? (sum [k = 1:n] (found = largest(found, text_width(short(label[k]))), 0)) : 0, found)

# ---- lines of text: they end after a blank, or after one of + : , before a letter ----
#
# No line ends beside a number, the sign = or % within a phrase, so "R = 10", "seed 1" and "95 % intervals" stay whole.
digit(c) = strlen(c) && strstrt('0123456789=%', c) > 0
is_letter(c) = strlen(c) && strstrt('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', c) > 0
phrase_ends(p, q) = strstrt(',;:', p) ? !(p eq ':' && digit(q)) : !digit(p) && !digit(q)
ends_at(s, c) = s[c + 1 : c + 1] eq ' ' ? phrase_ends(s[c:c], s[c + 2 : c + 2]) : strstrt('+:,', s[c:c]) > 0 && is_letter(s[c + 1 : c + 1])
# The number of letters of s that fit, and the last place up to there where a line may end; 0: none.
fitting(s, inches) = (fits = 1, so_far = 0.0, sum [c = 1:strlen(s)] (so_far = so_far + em * letter(s[c:c]), so_far <= inches ? (fits = c, 0) : 0), fits)
# A + or a blank in the second half is preferred to : and , .
prefers(s, c, fits) = 2 * c > fits && (s[c:c] eq '+' || s[c + 1 : c + 1] eq ' ')
last_end(s, fits) = (line_to = best_to = 0, fits < 1 ? 0 : \
    sum [c = 1:fits] (ends_at(s, c) ? (line_to = c, prefers(s, c, fits) ? (best_to = c) : 0, 0) : 0), best_to ? best_to : line_to)
# Where there is none, a line ends before a number or within a word.
in_number(p, q) = strlen(q) && strstrt('0123456789.', p) > 0 && strstrt('0123456789.', q) > 0
word_end(s, c) = c > 1 && in_number(s[c:c], s[c + 1 : c + 1]) ? word_end(s, c - 1) : c
end_in(s, c, last) = last ? last : word_end(s, c)
end_of(s, fits) = end_in(s, fits, last_end(s, fits))
line_end(s, inches) = text_width(s) <= inches ? strlen(s) : end_of(s, fitting(s, inches))
behind_line(s, c) = s[c + 1 : c + 1] eq ' ' ? s[c + 2 : *] : s[c + 1 : *]
first_line(s, inches) = s[1 : line_end(s, inches)]
other_lines(s, inches) = behind_line(s, line_end(s, inches))
line_count(s, inches) = strlen(s) == 0 ? 0 : 1 + line_count(other_lines(s, inches), inches)

# eval fit(inches): makes `room` so small that each label fits.
fit(inches) = sprintf("while (room > 8 && widest_label(0) > %g) { room = room - 2 }", inches)

quoted(c) = strstrt('_%&#${}', c) ? '\'.c : c eq '\' ? '\textbackslash{}' : strstrt('^~', c) ? '\'.c.'{}' : \
    c eq '<' ? '\textless{}' : c eq '>' ? '\textgreater{}' : c eq '|' ? '\textbar{}' : c
escaped(s) = strlen(s) ? quoted(s[1:1]).escaped(s[2:*]) : ''
said(s) = tex ? escaped(s) : s
# In LaTeX the size of a text is part of the text.
sized(s, size) = tex && size != points ? sprintf('{\font\gnuplot=cmss10 at %gpt \gnuplot ', size).escaped(s).'}' : said(s)

# ---- colours, marks and dashes of line i ----

array filled[6] = [7, 5, 9, 13, 11, 15]
array open[6] = [6, 4, 8, 12, 10, 14]
array filled_tex[6] = [7, 5, 9, 13, 11, 3] # LaTeX has no pentagons; 3 is a star
array open_tex[6] = [6, 4, 8, 12, 10, 2]
rgb(i) = colour[i]
solid(i) = tex ? filled_tex[mark[i] % 6 + 1] : filled[mark[i] % 6 + 1]
hollow(i) = tex ? open_tex[mark[i] % 6 + 1] : open[mark[i] % 6 + 1]

# LaTeX pictures have solid and dotted lines only: all dashes are number 0 there.
set dashtype 2 (6, 3)
set dashtype 3 (2, 2)
set dashtype 4 (8, 3, 2, 3)
set dashtype 5 (8, 3, 2, 3, 2, 3)
set dashtype 6 (1, 3)
set dashtype 7 (3, 1.5)
dash(i) = tex ? (dashes[i] + 1) % 2 : dashes[i] % 5 + 1
dotted = tex ? 0 : 6
blocks = tex ? 0 : 7

# LaTeX dots keep the colour of the first line with their size. So each line has its own size.
weight(w, i) = tex ? w + 0.02 * (i % 40) : w

# LaTeX puts a dot at each point of a dotted line, however near. So a dotted line k repeats its last point in place of points
# that are nearer than `dot_step` inches: thinned(k, d, x, y) is the x of the point to draw, and thin_y its y.
dot_step = 0.04
thin_line = thin_x = thin_y = log_on_x = log_on_y = 0
placed(v, low, high, log_on, inches) = inches * (log_on ? log(v / low) / log(high / low) : (v - low) / (high - low))
page_x(v) = placed(v, GPVAL_X_MIN, GPVAL_X_MAX, log_on_x, axes_right - axes_left)
page_y(v) = placed(v, GPVAL_Y_MIN, GPVAL_Y_MAX, log_on_y, axes_high)
drawable(v, log_on) = v == v && (!log_on || v > 0)
near(x, y) = drawable(x, log_on_x) && drawable(y, log_on_y) && \
    sqrt((page_x(x) - page_x(thin_x)) ** 2 + (page_y(y) - page_y(thin_y)) ** 2) < dot_step
thinned(k, d, x, y) = tex && d == 0 && k == thin_line && near(x, y) ? thin_x : (thin_y = y, drawable(x, 0) && drawable(y, 0) ? (thin_line = k, thin_x = x) : x)

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

# ---- axes ----

# Without this, LaTeX would set formulas in the size of the document's text.
math(s) = sprintf('{\fontsize%d%d\selectfont$\mathsf{', points, points).s.'}$}'
plain = tex ? math('%g') : '%g'
powers = tex ? math('10^{%T}') : '10^{%T}'

# eval log_axis('y', low, high): from low > 0 to high. A short axis also has tics at 2 and 5 times powers of ten.
twos_and_fives(k, last) = sprintf('%ge%d, %ge%d, %ge%d', 1, k, 2, k, 5, k).(k < last ? ', '.twos_and_fives(k + 1, last) : '')
log_axis(axis, low, high) = sprintf("log_on_%s = 1; set logscale %s 10; set %srange [%.9g : %.9g]; set format %s %s", axis, axis, axis, low, high, axis, high / low > 5000 ? 'powers' : 'plain').\
    (high / low < 60 ? sprintf("; set %stics (%s)", axis, twos_and_fives(int(floor(log10(low))), int(floor(log10(high))))) : \
        sprintf("; set %stics %s", axis, high / low < 1e6 ? '10' : 'autofreq')) # of two decades, gnuplot 6 would label each ninth
set border 3 linewidth 0.7
set tics nomirror out scale 0.5
set grid x y linewidth 0.4 linecolor rgb '#dddddd' linetype 1
set format x plain
set format y plain
set xtics offset 0, (ending eq '.svg' ? 0.35 : 0.1)
unset key

# ---- the key: enter() adds an entry, page.gp draws all ----

key_most = most + 20
keys = 0
array key_text[key_most]
array key_rgb[key_most]
array key_dash[key_most]
array key_wide[key_most] # line width; 0: no line, -1: a box
array key_mark[key_most] # point type; -1: no mark
enter(text, c, d, w, m) = keys == key_most ? 0 : (keys = keys + 1, key_text[keys] = text, key_rgb[keys] = c, key_dash[keys] = d, \
    key_wide[keys] = w, key_mark[keys] = m, keys)

# The lines above the key; they may contain names from the data.
heading = ''
