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
    if (is_number(s) || s == "true" || s == "false")
        return s
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
function across(   i, k, r, last, each, out) {
    last = width[1]
    each = last - 2
    for (r = 1; r <= rows[1]; r++) {
        if (!(table[1, r, 1] in down)) { down[table[1, r, 1]] = ++downs; down_name[downs] = table[1, r, 1] }
        if (!(table[1, r, last] in over)) { over[table[1, r, last]] = ++overs; over_name[overs] = table[1, r, last] }
        if ((table[1, r, 1], table[1, r, last]) in at)
            fail("two rows have " name[1, 1] " " table[1, r, 1] " and " name[1, last] " " table[1, r, last])
        at[table[1, r, 1], table[1, r, last]] = r
    }
    out = csv(name[1, 1])
    for (k = 1; k <= overs; k++)
        for (i = 2; i <= 1 + each; i++)
            out = out "," csv(over_name[k] (each == 1 ? "" : " " name[1, i]))
    print out
    for (r = 1; r <= downs; r++) {
        out = csv(down_name[r])
        for (k = 1; k <= overs; k++)
            for (i = 2; i <= 1 + each; i++)
                out = out "," csv((down_name[r], over_name[k]) in at ? table[1, at[down_name[r], over_name[k]], i] : "")
        print out
    }
}

# A row of our result, with row `other` of the published one; 0: none.
function put(own, other,   i, f, v, out) {
    for (i = 1; i <= wanted; i++) {
        f = want[i]
        v = (1, f) in place ? table[1, own, place[1, f]] : (2, f) in place && other ? table[2, other, place[2, f]] : ""
        out = out (i > 1 ? ", " : "") "\"" f "\": " json(v)
    }
    printf "%s{%s}", (records++ ? ",\n" : "\n"), out
}

function beside(   r, o, k, keys, key, same, found, any) {
    keys = split(on, key, ",")
    wanted = split(columns, want, ",")
    print "{\"schema\": \"atomo-published/1\",\n" meta "\n\"results\": ["
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

END {
    if (failed)
        exit 1
    if (job == "across")
        across()
    else
        beside()
}
