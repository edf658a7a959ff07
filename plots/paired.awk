# paired.awk -- differences to one compressor, seed by seed; tables.awk reads the results, one file for each seed.

# A record for each row and each column after the keys: the mean over the seeds, that of the row compared with, and the
# mean difference of the same seed, with a 95 % interval and the probability p by Student's t. Holm's correction covers all
# records.
function paired(   r, i) {
    find_rows()
    for (r = 1; r <= rows[1]; r++)
        for (i = keys + 1; i <= width[1]; i++)
            if (name[1, i] != "chosen" && base_of(r) != ids[r] && !(best && chosen[table[1, r, 1]] != r))
                contrast(r, base_of(r), i)
    correct()
    open_result(schema)
    for (i = 1; i <= contrasts; i++)
        put_record(record[i] ", " pair("difference_p_holm", digits(holm[i])) ", " pair("differs", verdict(i)) ", " pair("seeds", file))
    print "\n]}"
}

function contrast(r, base, i,   out, c, m, se, reach) {
    c = ++contrasts
    out = row_keys(r) ", " pair("against", against) ", " pair("metric", name[1, i])
    out = out mean(ids[r], i, "result", "") mean(base, i, "result_against", "")
    m = difference[c] = take(ids[r], i, base)
    se = error_of[c] = standard_error(m)
    out = out ", " pair("difference", digits(m)) ", " pair("difference_se", digits(known_error(i, se)))
    if (m == "" || se == "" || se == 0)
        p[c] = reach = ""
    else {
        p[c] = student(m / se, file - 1)
        reach = se * student_end(0.05, file - 1)
    }
    out = out ", " pair("interval", reach == "" ? "" : interval(m - reach, m + reach, se))
    out = out ", " pair("difference_low", reach == "" ? "" : digits(m - reach)) ", " pair("difference_high", reach == "" ? "" : digits(m + reach))
    record[c] = out ", " pair("difference_p", digits(p[c]))
}

# Sets holm[]: Holm's corrected p of each contrast that has one.
function correct(   i, k, tests, least, most) {
    for (i = 1; i <= contrasts; i++)
        tests += p[i] != ""
    for (k = tests; k > 0; k--) {
        least = 0
        for (i = 1; i <= contrasts; i++)
            if (p[i] != "" && !(i in holm) && (!least || p[i] < p[least]))
                least = i
        most = p[least] * k > most ? p[least] * k : most
        holm[least] = most < 1 ? most : 1
    }
}

function verdict(c) {
    if (difference[c] == "")
        return ""
    if (file == 1)
        return "cannot be seen with one seed"
    if (p[c] == "")
        return difference[c] == 0 ? "equal for each seed" : "the same for each seed"
    if (holm[c] >= 0.05)
        return "not seen"
    return sprintf("%s (p = %.1g)", difference[c] > 0 ? "larger" : "smaller", holm[c])
}

# Both ends, to the first digit of the standard error, or to the second if the first is 1.
function interval(low, high, se,   unit) {
    unit = log(se / 2) / log(10)
    unit = int(unit) - (unit < int(unit))
    return rounded(low, unit) " to " rounded(high, unit)
}

# x as a multiple of 10^unit.
function rounded(x, unit,   text) {
    text = unit < 0 ? sprintf("%." (-unit) "f", x) : sprintf("%.0f", sprintf("%.0f", x / 10 ^ unit) * 10 ^ unit)
    return text + 0 == 0 && substr(text, 1, 1) == "-" ? substr(text, 2) : text
}

# The probability that Student's t with d degrees of freedom is at least |t| from 0: Abramowitz and Stegun, 26.7.3 and 26.7.4.
function student(t, d,   angle, term, sum, k) {
    angle = atan2(t < 0 ? -t : t, sqrt(d))
    term = d % 2 ? cos(angle) : 1
    for (k = d % 2 ? 3 : 2; k <= d; k += 2) {
        sum += term
        term *= cos(angle) ^ 2 * (k - 1) / k
    }
    return 1 - (d % 2 ? (angle + sin(angle) * sum) / (atan2(0, -1) / 2) : sin(angle) * sum)
}

# The t that has the probability `tail`.
function student_end(tail, d,   low, high, i) {
    high = 1
    while (student(high, d) > tail)
        high *= 2
    for (i = 0; i < 60; i++)
        if (student((low + high) / 2, d) > tail)
            low = (low + high) / 2
        else
            high = (low + high) / 2
    return high
}
