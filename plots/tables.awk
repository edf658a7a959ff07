# tables.awk -- lays out CSV tables; tables.sh describes them.

# The cells of a line of CSV, without their quotes; returns their number.
function cells(line, cell,   n, i, c, quoted) {
    n = 1
    cell[1] = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"" && quoted && substr(line, i + 1, 1) == "\"")
            cell[n] = cell[n] substr(line, ++i, 1)
        else if (c == "\"")
            quoted = !quoted
        else if (c == "," && !quoted)
            cell[++n] = ""
        else
            cell[n] = cell[n] c
    }
    return n
}

function csv(s) {
    gsub("\"", "\"\"", s)
    return s ~ /[,"]/ ? "\"" s "\"" : s
}

function is_number(s) { return s ~ /^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/ }

function json(s) {
    if (s == "")
        return "null"
    return is_number(s) || s == "true" || s == "false" ? s : json_text(s)
}

function json_text(s) {
    gsub(/\\/, "\\\\", s)
    gsub(/"/, "\\\"", s)
    return "\"" s "\""
}

# Whether the value s agrees with the published text p: equal texts or numbers, or p is a pattern with "*" and "[0-9]".
function agree(s, p,   i, c, end, pattern) {
    if (s == p || is_number(s) && is_number(p) && s + 0 == p + 0)
        return 1
    if (p == "*" || !index(p, "*"))
        return 0
    for (i = 1; i <= length(p); i++) {
        c = substr(p, i, 1)
        end = c == "[" ? index(substr(p, i), "]") : 0
        pattern = pattern (end ? substr(p, i, end) : c == "*" ? ".*" : "[" c "]")
        i += end ? end - 1 : 0
    }
    return s ~ ("^" pattern "$")
}

function fail(why) {
    print "tables: " why >"/dev/stderr"
    failed = 1
    exit 1
}

FNR == 1 { file++; width[file] = cells($0, head); for (i = 1; i <= width[file]; i++) { name[file, i] = head[i]; place[file, head[i]] = i }; next }
{ rows[file]++; cells($0, row); for (i = 1; i <= width[file]; i++) { table[file, rows[file], i] = row[i] } }

# The last column is FIELD.
function across(   r, last, each) {
    last = width[1]
    each = last - 2
    for (r = 1; r <= rows[1]; r++) {
        if (!(table[1, r, 1] in down)) { down[table[1, r, 1]] = ++downs; down_name[downs] = table[1, r, 1] }
        if (!(table[1, r, last] in over)) { over[table[1, r, last]] = ++overs; over_name[overs] = table[1, r, last] }
        if ((table[1, r, 1], table[1, r, last]) in at)
            fail("two rows have " name[1, 1] " " table[1, r, 1] " and " name[1, last] " " table[1, r, last])
        at[table[1, r, 1], table[1, r, last]] = r
    }
    if (repeats)
        open_result("atomo-pivot/1")
    else
        print line(0, each)
    for (r = 1; r <= downs; r++)
        if (repeats)
            put_record(line(r, each) ", " pair("repeats", repeats))
        else
            print line(r, each)
    if (repeats)
        print "\n]}"
}

# Row r of the pivot table, as CSV or, if `repeats` is known, as the fields of a record; row 0 has the names of the columns.
function line(r, each,   out, k, i) {
    out = item(r, name[1, 1], r ? down_name[r] : "")
    for (k = 1; k <= overs; k++)
        for (i = 2; i <= 1 + each; i++)
            out = out (repeats ? ", " : ",") item(r, over_name[k] (each == 1 ? "" : " " name[1, i]), \
                (down_name[r], over_name[k]) in at ? table[1, at[down_name[r], over_name[k]], i] : "")
    return out
}

function item(r, title, value) { return repeats ? pair(title, value) : csv(r ? value : title) }

# A row for each value of the first `keys` columns: the mean of each other column over the files, with its standard error,
# and the number of files. A mean of which a file has no value is empty.
function means(   r, k, i, out) {
    find_rows()
    open_result(schema)
    for (r = 1; r <= rows[1]; r++) {
        out = row_keys(r)
        for (i = keys + 1; i <= width[1]; i++)
            if (name[1, i] != "chosen")
                out = out mean(ids[r], i, name[1, i], "")
        if (against)
            out = out mean(base_of(r) == ids[r] ? "" : ids[r], place[1, "test_accuracy"], "accuracy_difference", base_of(r))
        put_record(out (best ? ", " pair("chosen", chosen[table[1, r, 1]] == r ? "true" : "false") : "") ", " pair("seeds", file))
    }
    print "\n]}"
}

# Sets ids[r], at[file, id] and, with `best`, chosen[]; refuses files with several rows of one id.
function find_rows(   r, f) {
    for (r = 1; r <= rows[1]; r++)
        ids[r] = row_id(1, r)
    for (f = 1; f <= file; f++)
        for (r = 1; r <= rows[f]; r++) {
            if ((f, row_id(f, r)) in at)
                fail("two rows of a result have " row_id(f, r))
            at[f, row_id(f, r)] = r
        }
    if (best)
        choose()
}

# Of the tests of each run: first and last step size, and the least and the last accuracy in the second half of its steps.
function late(   r, c, n, run) {
    print "lr,lr_last,compressor,least_accuracy,test_accuracy"
    for (r = 1; r <= rows[1]; r++) {
        c = table[1, r, 1]
        if (!(c in first))
            run[++n] = c
        if (!(c in first))
            first[c] = table[1, r, 3]
        most[c] = table[1, r, 2] + 0
        final[c] = table[1, r, 3]
    }
    for (r = 1; r <= rows[1]; r++) {
        c = table[1, r, 1]
        if (table[1, r, 4] == "" || 2 * table[1, r, 2] <= most[c])
            continue
        last[c] = table[1, r, 4] + 0
        if (!(c in low) || last[c] < low[c])
            low[c] = last[c]
    }
    for (r = 1; r <= n; r++)
        print first[run[r]] "," final[run[r]] "," csv(run[r]) "," low[run[r]] "," last[run[r]]
}

function row_keys(r,   k, out) {
    for (k = 1; k <= keys; k++)
        out = out (k > 1 ? ", " : "") pair(name[1, k], table[1, r, k])
    return out
}

# The id of the row that row r is compared with: the last key is `against`; of chosen rows, that of the first key `against`.
function base_of(r,   k, id) {
    if (best)
        return against in chosen ? ids[chosen[against]] : fail("no row of " against)
    for (k = 1; k < keys; k++)
        id = id table[1, r, k] " "
    return (1, id against) in at ? id against : fail("no row of " id against)
}

function row_id(f, r,   k, id) {
    for (k = 1; k <= keys; k++)
        id = id (k > 1 ? " " : "") table[f, r, k]
    return id
}

# Sets sample[f] to the values of column i in the rows `id`, less those in the rows `base` if base is not "", and
# `largest` to the largest of all these values; returns the mean of the sample, or "" if a file has no value.
function take(id, i, base,   f, sum, x, y) {
    largest = 0
    for (f = 1; f <= file; f++) {
        if (!((f, id) in at) || table[f, at[f, id], i] == "" || base != "" && table[f, at[f, base], i] == "")
            return ""
        x = table[f, at[f, id], i] + 0
        y = base == "" ? 0 : table[f, at[f, base], i] + 0
        largest = larger(larger(largest, x < 0 ? -x : x), y < 0 ? -y : y)
        sample[f] = x - y
        sum += sample[f]
    }
    return sum / file
}

function mean(id, i, title, base,   m) {
    m = take(id, i, base)
    return ", " pair(title, digits(m)) ", " pair(title "_se", digits(known_error(i, standard_error(m))))
}

# A standard error of 0 is known of all bytes sent, and of speed-ups over oneself; where some seeds gave the same accuracy, loss or
# step, another seed may give another one.
function known_error(i, se) { return se == 0 && name[1, i] !~ /^(bytes_up|speedup)/ ? "" : se }

function larger(a, b) { return a > b ? a : b }

# The standard error of the mean m of the sample; "" for a single value, 0 for one of rounding errors alone.
function standard_error(m,   f, squares, se) {
    if (m == "" || file == 1)
        return ""
    for (f = 1; f <= file; f++)
        squares += (sample[f] - m) ^ 2
    se = sqrt(squares / (file - 1) / file)
    return se > 1e-12 * largest ? se : 0
}

function digits(x) { return x == "" ? "" : sprintf("%.9g", x) }

# Chooses for each value of the first column the row with the least mean of the column `best`.
function choose(   r, m, group) {
    for (r = 1; r <= rows[1]; r++) {
        m = take(ids[r], place[1, best], "")
        group = table[1, r, 1]
        if (m != "" && (!(group in chosen) || m < least[group])) {
            chosen[group] = r
            least[group] = m
        }
    }
}

function pair(field, value) { return json_text(field) ": " json(value) }

function open_result(schema) { print "{\"schema\": \"" schema "\",\n" (meta ? meta : "\"meta\": {},") "\n\"results\": [" }

function put_record(fields) { printf "%s{%s}", (records++ ? ",\n" : "\n"), fields }

# A row of our result, with row `other` of the published one; 0: none.
function put(own, other,   i, f, v, out) {
    for (i = 1; i <= wanted; i++) {
        f = want[i]
        v = (1, f) in place ? table[1, own, place[1, f]] : (2, f) in place && other ? table[2, other, place[2, f]] : ""
        out = out (i > 1 ? ", " : "") "\"" f "\": " json(v)
    }
    put_record(out)
}

function beside(   r, o, k, keys, key, same, found, any) {
    keys = split(on, key, ",")
    wanted = split(columns, want, ",")
    open_result("atomo-published/1")
    for (r = 1; r <= rows[1]; r++) {
        found = 0
        for (o = 1; o <= rows[2]; o++) {
            same = 1
            for (k = 1; k <= keys; k++)
                same = same && agree(table[1, r, place[1, key[k]]], table[2, o, place[2, key[k]]])
            if (same) {
                put(r, o)
                found = any = 1
            }
        }
        if (!found)
            put(r, 0)
    }
    print "\n]}"
    if (!any)
        fail("no published row has the values of ours in " on)
}

# Whether row r of file f has about the expected size `want`: that of the draws would move with the seed.
function is_near(f, r, want,   size) {
    size = table[f, r, place[f, "bits_per_element_expected"]] / want
    return size > 0.85 && size < 1.15
}

function near(   r) {
    for (r = 1; r <= rows[1]; r++)
        if (is_near(1, r, bits))
            print "-c '" table[1, r, 1] "'"
}

# What the specs of row r have in common in the first three files: the name, and keys with equal values.
function common(r,   n, i, f, key, out, colon) {
    out = table[1, r, 1]
    sub(/:.*/, "", out)
    n = split(substr(table[2, r, 1], length(out) + 2), key, ",")
    for (i = 1; i <= n; i++) {
        for (f = 1; f <= 3; f++)
            if (!index("," substr(table[f, r, 1], length(out) + 2) ",", "," key[i] ","))
                break
        if (f > 3)
            colon = colon (colon ? "," : ":") key[i]
    }
    return out colon
}

# The errors of three files, at the sizes in `bits`, where a codec has about that size; the fourth is of merges.
function rates(   r, m, f, want, ok, out, exact) {
    split(bits, want, " ")
    for (m = 1; m <= rows[4]; m++)
        merge_row[table[4, m, 1]] = m
    open_result("atomo-pivot/1")
    for (r = 1; r <= rows[1]; r++) {
        if (!is_near(1, r, want[1]) && !is_near(2, r, want[2]) && !is_near(3, r, want[3]))
            continue
        out = pair("compressor", common(r))
        for (f = 1; f <= 3; f++) {
            ok = is_near(f, r, want[f])
            exact = table[f, r, place[f, "relative_error_expected"]]
            out = out ", " pair(want[f] " bits_per_element", ok ? table[f, r, place[f, "bits_per_element_expected"]] : "")
            out = out ", " pair(want[f] " relative_error", !ok ? "" : exact != "" ? exact : table[f, r, place[f, "relative_error"]])
            out = out ", " pair(want[f] " relative_error_se", !ok ? "" : exact != "" ? 0 : table[f, r, place[f, "relative_error_se"]])
        }
        ok = is_near(2, r, want[2])
        out = out ", " pair("spec", ok ? table[2, r, 1] : "")
        m = ok ? merge_row[table[2, r, 1]] : 0
        exact = m ? table[4, m, place[4, "relative_error_expected"]] : ""
        out = out ", " pair("of the mean relative_error", !m ? "" : exact != "" ? exact : table[4, m, place[4, "relative_error"]])
        out = out ", " pair("payloads merge", !m ? "" : table[4, m, place[4, "merge_ms"]] == "" ? "no" : "yes")
        put_record(out ", " pair("repeats", repeats))
    }
    print "\n]}"
}

END {
    if (failed)
        exit 1
    if (job == "near")
        near()
    else if (job == "rates")
        rates()
    else if (job == "across")
        across()
    else if (job == "means")
        means()
    else if (job == "late")
        late()
    else if (job == "paired")
        paired()
    else
        beside()
}
