# page.gp -- lays out the page of a figure: from the top the axes, `axes_high` inches high, their numbers and titles, the
# heading, and the key at the foot. It has as many columns as fit.
#
# A script sets `axes_high`, x_title and y_title, fills the key with enter(), and loads this file after all ranges are known.
# All text is placed here by its measured width, as the keys and margins of gnuplot differ between formats.
heading = heading.(strlen(draws) ? (strlen(heading) ? '; ' : '').draws : '')
heading = (strlen(note) ? note."\n" : '').heading
array head_line[20]
under_axes = 3.4 * em
over_axes = largest(0.08, 1.1 * em)

# ---- columns of the key ----

# Many entries in the column of a paper, and many long ones, are set smaller. More than six entries that have one column, and
# would have two in letters of `least_points`, are set closer, and then smaller, until they have two.
array key_text_wide[keys + 1]
turns = sum [k = 1:keys] (key_text_wide[k] = text_width(key_text[k]))
tight = keys > 12
sample_wide(r) = (tight ? 2 : 2.7) * key_em
sample_gap(r) = 0.5 * key_em
entry_gap(r) = (tight ? 0.9 : 1.3) * key_em
line_high = 1.22 * em
entry_wide(k) = sample_wide(0) + sample_gap(0) + key_scale * key_text_wide[k]

# Entries order[1 .. narrow] are in columns, the others below, each with a row of its own, or several. All are in columns, in
# order, where this takes at most one row more than entries below, which are those wider than half a row.
row_wide = wide - 0.12
array order[keys + 1]
in_column(columns) = int(ceil(narrow / real(columns)))
last_in(columns, c) = c * in_column(columns) < narrow ? c * in_column(columns) : narrow
column_wide(columns, c) = (found = 0.0, (c - 1) * in_column(columns) >= narrow ? 0 : \
    sum [k = (c - 1) * in_column(columns) + 1 : last_in(columns, c)] (found = largest(found, entry_wide(order[k])), 0), found)
columns_wide(columns) = (whole_wide = 0.0, sum [c = 1:columns] (whole_wide = whole_wide + column_wide(columns, c), 0), \
    whole_wide + (columns - 1) * entry_gap(0))
entry_rows(p) = key_text_wide[order[p]] <= text_room ? 1 : line_count(key_text[order[p]], text_room)
rows_below(last) = last > narrow ? int(sum [p = narrow + 1 : last] entry_rows(p)) : 0

# ---- a key that is too tall ----
#
# The key and the heading take at most the share `foot_share` of the page, where a script sets it. So the axes grow. Before they are
# higher than wide, the key is set in smaller letters, down to 5 points. Before they are much higher, up to three parts that
# many names have in common become [a], [b] and [c], which the heading explains.
axes_wanted(r) = exists('foot_share') ? foot_high * (1 / foot_share - 1) - under_axes - over_axes : 0
much_higher = largest(axes_high, 1.6 * wide < 5 ? 1.6 * wide : 5)
parts = 0
array part_name[3] = ['[a]', '[b]', '[c]']
# A part is one or several words: letters between two of . + : , and blank; a point within a number ends no word.
ends_word(s, c) = c == 0 || c > strlen(s) || strstrt('.+:, ', s[c:c]) && !(s[c:c] eq '.' && digit(s[c - 1 : c - 1]) && digit(s[c + 1 : c + 1]))
place_of(s, part) = (starts = strstrt(s, part), starts && ends_word(s, starts - 1) && ends_word(s, starts + strlen(part)) ? starts : 0)
holders(part) = int(sum [k = 1:keys] (place_of(key_text[k], part) > 0))
saves(part) = strlen(part) < 9 || strstrt(part, '[') ? 0 : (held = holders(part), held < 3 ? 0 : held * (strlen(part) - 3)) # letters
try_part(part) = (letters = saves(part), letters > most_saved ? (most_saved = letters, best_part = part, 1) : 0)
try_parts(s, from) = sum [to = from + 8 : strlen(s)] (ends_word(s, to + 1) ? try_part(s[from : to]) : 0)
parts_of(s) = strlen(s) < 9 ? 0 : sum [from = 1 : strlen(s) - 8] (ends_word(s, from - 1) ? try_parts(s, from) : 0)
with_part(s, part, short) = (starts = place_of(s, part), starts ? s[1 : starts - 1].short.s[starts + strlen(part) : *] : s)

first_points = keys > 12 && (wide < 4.5 || widest_label(0) > wide / 5) && !tex ? 0.8 * points : points
key_points = first_points
least_points = largest(5, 0.8 * points)
near_two(r) = key_columns == 1 && narrow > 6 && key_points > least_points && columns_wide(2) * least_points / key_points <= row_wide
smaller(size, least) = largest(least, size - (tex ? 1 : 0.5))
laid_out = 0
while (!laid_out) {
    laid_out = 1
    key_scale = key_points / real(points)
    key_em = key_scale * em
    key_high = 1.22 * key_em
    text_room = (row_wide - sample_wide(0) - sample_gap(0)) / key_scale
    split_rows = 1000
    do for [pass = 1:3] {
        most_narrow = pass == 2 ? row_wide : 0.5 * row_wide
        if (pass < 3 || key_rows > split_rows + 1) {
            narrow = 0
            turns = sum [k = 1:keys] (entry_wide(k) <= most_narrow ? (narrow = narrow + 1, order[narrow] = k) : 0)
            placed = narrow
            turns = sum [k = 1:keys] (entry_wide(k) > most_narrow ? (placed = placed + 1, order[placed] = k) : 0)
            key_columns = 1
            turns = sum [c = 2:8] (c <= narrow && columns_wide(c) <= row_wide ? (key_columns = c) : 0)
            column_rows = narrow ? in_column(key_columns) : 0
            key_rows = column_rows + rows_below(keys)
            if (pass == 1) { split_rows = key_rows }
        }
    }
    if (near_two(0)) {
        if (tight) { key_points = smaller(key_points, least_points) } else { tight = 1 }
        laid_out = 0
        continue
    }
    head_lines = 0
    rest = heading
    while (strlen(rest) && head_lines < 20) {
        ends = strstrt(rest, "\n") ? strstrt(rest, "\n") - 1 : strlen(rest)
        ends = line_end(rest[1:ends], wide - 0.1)
        head_lines = head_lines + 1
        head_line[head_lines] = rest[1:ends]
        rest = strstrt(" \n", rest[ends + 1 : ends + 1]) ? rest[ends + 2 : *] : rest[ends + 1 : *]
    }
    foot_high = 0.06 + key_high * key_rows + line_high * head_lines + (keys + head_lines ? 0.05 : 0)
    if (axes_wanted(0) > largest(axes_high, wide) && key_points > 5) {
        key_points = smaller(key_points, 5)
        laid_out = 0
    }
    if (laid_out && axes_wanted(0) > much_higher && parts < 3) {
        most_saved = 0
        best_part = ''
        do for [k = 1 : keys : 1 + keys / 40] { turns = parts_of(key_text[k]) }
        if (most_saved) {
            parts = parts + 1
            turns = sum [k = 1:keys] (key_text[k] = with_part(key_text[k], best_part, part_name[parts]), key_text_wide[k] = text_width(key_text[k]))
            heading = heading.(strlen(heading) ? '; ' : '').part_name[parts].' = '.best_part
            key_points = first_points
            laid_out = 0
        }
    }
}

# ---- heights, in inches ----

axes_high = largest(axes_high, axes_wanted(0))
tall = axes_high + over_axes + under_axes + foot_high
if (!exists('axes_left')) { axes_left = 5.3 * em }
if (!exists('axes_right')) { axes_right = wide - 0.14 }
across(inches) = inches / wide
up(inches) = inches / tall

if (ending eq '.pdf') { set terminal pdfcairo size wide, tall font sprintf('Helvetica,%g', points) fontscale 0.75 linewidth 1 }
if (ending eq '.svg') { set terminal svg size wide * 96, tall * 96 font sprintf('Helvetica,Arial,sans-serif,%g', points * 96 / 72.0) linewidth 1 dynamic }
if (ending eq '.png') { set terminal pngcairo size wide * 300, tall * 300 font sprintf('Helvetica,%g', points) fontscale 3.125 linewidth 3 pointscale 3 dashlength 2 }
if (tex) { set terminal pict2e size wide, tall font sprintf('cmss,%d', points) color tinypoints gparrows linewidth 1.3 }
font_of(size) = tex ? '' : sprintf(',%g', ending eq '.svg' ? size * 96 / 72.0 : size)

set lmargin at screen across(axes_left)
set rmargin at screen across(axes_right)
set tmargin at screen 1 - up(over_axes)
set bmargin at screen up(foot_high + under_axes)
set label said(x_title) at screen across(0.5 * (axes_left + axes_right)), screen up(foot_high + 0.7 * em) center
if (strlen(y_title)) { set label said(y_title) at screen across(0.95 * em), screen up(foot_high + under_axes + 0.5 * axes_high) center rotate by 90 }

# ---- heading and key ----

do for [k = 1:head_lines] {
    set label said(head_line[k]) at screen 0.5, screen up(foot_high - 0.05 - (k - 0.5) * line_high) center noenhanced
}
widest = columns_wide(key_columns)
turns = sum [k = narrow + 1 : keys] (widest = largest(widest, entry_wide(order[k]) > row_wide ? row_wide : entry_wide(order[k])))
key_from = 0.5 * (wide - widest)
key_from = key_from < 0.04 ? 0.04 : key_from
# Column of order[p], its row, and its left end. An entry below the columns counts as one of the first column.
column_of(p) = p > narrow ? 1 : int((p - 1) / column_rows) + 1
row_of(p) = p > narrow ? column_rows + rows_below(p - 1) + 1 : (p - 1) % column_rows + 1
left_of(p) = key_from + (column_of(p) < 2 ? 0 : sum [c = 1 : column_of(p) - 1] (column_wide(key_columns, c) + entry_gap(0)))
# In LaTeX pictures gnuplot draws an arrow only when the next colour is set, and in that colour. So nothing in colour is a solid
# arrow there, and solid lines of the key are thin boxes.
half_stroke(w) = up(0.5 * w * 0.52 / 72)
# SVG joins neighbouring lines that differ in their dashes alone, and loses the dashes; so their widths differ a little.
do for [p = 1:keys] {
    k = order[p]
    key_left = left_of(p)
    key_y = 0.06 + key_high * (key_rows - row_of(p) + 0.5)
    if (key_wide[k] > 0 && tex && key_dash[k] == 1) {
        set object rectangle from screen across(key_left), screen up(key_y) - half_stroke(key_wide[k]) \
            to screen across(key_left + sample_wide(0)), screen up(key_y) + half_stroke(key_wide[k]) fillcolor rgb key_rgb[k] fillstyle solid noborder
    }
    if (key_wide[k] > 0 && !(tex && key_dash[k] == 1)) {
        set arrow from screen across(key_left), screen up(key_y) to screen across(key_left + sample_wide(0)), screen up(key_y) \
            nohead linewidth key_wide[k] + (tex ? 0 : 0.02 * (k % 2)) dashtype key_dash[k] linecolor rgb key_rgb[k]
    }
    if (key_wide[k] < 0) {
        set object rectangle from screen across(key_left + sample_wide(0) - 1.1 * key_em), screen up(key_y - 0.35 * key_em) \
            to screen across(key_left + sample_wide(0)), screen up(key_y + 0.35 * key_em) fillcolor rgb key_rgb[k] fillstyle solid noborder
    }
    if (key_mark[k] > 0) {
        set label '' at screen across(key_left + (key_wide[k] > 0 ? 0.5 : 0.85) * sample_wide(0)), screen up(key_y) \
            point pointtype key_mark[k] pointsize 0.55 linecolor rgb key_rgb[k]
    }
    rest = key_text[k]
    do for [i = 1:entry_rows(p)] {
        set label sized(first_line(rest, text_room), key_points) at screen across(key_left + sample_wide(0) + sample_gap(0)), screen up(key_y - (i - 1) * key_high) \
            left noenhanced font font_of(key_scale * points)
        rest = other_lines(rest, text_room)
    }
}

# Sets GPVAL_X_MIN and so on, for thinned() in look.gp.
if (tex) {
    set table $axes
    plot 1 notitle
    unset table
}
