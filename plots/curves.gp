# curves.gp -- shared by spectrum.gp and histogram.gp: data with one curve after another.
#
# If a tensor has several curves, they are those of several steps or workers. With many tensors, a thin line is a tensor, the
# thick line is their median, and the band holds the middle half of them. Before a script loads this file, it defines starts(0),
# true if a row begins a curve, and opened(k) and extended(k), which read the first row and each further row of curve k.
c_role = place('role')
lines = bands = band_from = band_to = 0
array of[most]     # the tensor's number
array pass[most]   # 1 for the first curve of a tensor
array times[most]  # curves of a tensor
array role[most]
array cell_of[most] # its step and worker; '': unknown
c_cell = place('cell')
c_step_name = place('step')
array first[most]  # row of the data
array last[most]
turns = sum [k = 1:most] (times[k] = 0)
begin(t) = (lines = lines + 1, of[lines] = t, cell_of[lines] = c_cell ? strcol(c_cell) : c_step_name && strlen(strcol(c_step_name)) ? 'step '.strcol(c_step_name) : '', times[t] = times[t] + 1, pass[lines] = times[t], \
    role[lines] = text(c_role), first[lines] = rows, opened(lines))
of_band(r) = (bands == 0 ? (band_from = rows) : 0, bands = bands + 1, band_to = rows)
of_curve(r) = (starts(0) && lines < most ? begin(number(strcol(c_tensor))) : 0, \
    lines > 0 ? (last[lines] = rows, extended(lines)) : 0)
rows = -1
stats data using (rows = rows + 1, complete(0) ? (text(c_role) eq 'band' ? of_band(0) : of_curve(0)) : 0, 1) nooutput
if (lines == 0) {
    print 'the data has no row with a number in each of '.needs
    exit status 1
}

many = bands || n > 8
alone = n == 1 && !many
again = lines > n
ends(k) = role[k] eq 'least' || role[k] eq 'most'

# ---- names: those of all tensors, of the two extremes of many, or of at most six curves of one ----

heading = again && !many ? alone ? label[1] : 'dark, thick: '.(strlen(cell_of[lines]) ? cell_of[lines] : 'the last step').'; pale, thin: steps before it' : ''
eval fit(wide - 0.12 - 3.2 * em - (many ? text_width('longest tails: ') : 0))

# One tensor: from light to dark in the order of the file. Several: a colour and dashes each, the last pass dark and thick.
mix(a, b, s) = int(a + (b - a) * s + 0.5)
ramp(k) = lines < 2 ? 1.0 : (pass[k] - 1.0) / (lines - 1)
ramp_colour(k) = sprintf('#%02x%02x%02x', mix(0x9e, 0x08, ramp(k)), mix(0xca, 0x30, ramp(k)), mix(0xe1, 0x6b, ramp(k)))
# pale: three fifths of white, in which thin dotted lines differ from thick ones
channel(c, k) = mix('0x'.c[2 * k : 2 * k + 1] + 0, 255, 0.6)
pale(c) = sprintf('#%02x%02x%02x', channel(c, 1), channel(c, 2), channel(c, 3))
is_last(k) = pass[k] == times[of[k]]
line_colour(k) = many && !ends(k) ? '#b8b8b8' : alone ? ramp_colour(k) : is_last(k) ? rgb(of[k]) : pale(rgb(of[k]))
line_width(k) = many && !ends(k) ? 0.4 : !is_last(k) && !alone ? 0.6 : 1.3
line_dash(k) = many || alone ? 1 : dash(of[k])
end_colour(k) = role[k] eq 'least' ? usual[3] : usual[2]
end_dash(k) = tex ? role[k] eq 'most' : role[k] eq 'least' ? 2 : 4
step_name(k) = strlen(cell_of[k]) ? cell_of[k] : sprintf('no. %d', k)
curve_label(k) = alone ? (lines == 1 ? short(label[1]) : lines <= 6 || k == 1 || k == lines ? step_name(k) : '') : \
    is_last(k) ? short(label[of[k]]) : ''
end_label(k) = ends(k) ? (role[k] eq 'least' ? least_end : most_end).short(label[of[k]]) : ''

# Fills the key; a script adds its own entries.
turns = sum [k = 1 : (many ? 0 : lines)] (strlen(curve_label(k)) ? enter(curve_label(k), line_colour(k), line_dash(k), weight(line_width(k), k), -1) : 0)
if (many && lines > 2) { key_entry = enter('each tensor', '#b8b8b8', 1, 0.6, -1) }
if (bands) { key_entry = enter('median', '#0072b2', 1, 2, -1) + enter('middle half', '#ccddef', 1, -1, -1) }
turns = sum [k = 1:lines] (many && ends(k) ? enter(end_label(k), end_colour(k), end_dash(k), weight(1.3, role[k] eq 'least'), -1) : 0)
