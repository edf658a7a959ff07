#!/bin/sh
# circles.sh LIBRARY -- fails if object files of the library depend on one another in a cycle, or if a global symbol
# is used in no other file of lib, cmd or test (the symbol should then be static).
cd "$(dirname "$0")/.." || exit 1
[ -f "$1" ] || { echo "usage: circles.sh LIBRARY"; exit 2; }

# Cycles that are allowed, because their objects are one module in several files. One cycle a line: the objects, a
# colon, and why they call each other.
one_thing='
'

words=$(mktemp) || exit 1
trap 'rm -f "$words"' EXIT
find cmd test lib/atomo.h -name '*.[ch]' -exec cat {} + | tr -cs 'A-Za-z0-9_' '\n' | sort -u >"$words"
nm -o "$1" | awk -v one_thing="$one_thing" '
# Marks all objects that `from` reaches. visits[1..] is the queue of a breadth-first search.
function reach(from,   head, tail, visits, at, i, part) {
    visits[tail = 1] = from
    for (head = 1; head <= tail; head++) {
        at = visits[head]
        split(next_of[at], part, " ")
        for (i in part)
            if (!((from, part[i]) in reached)) {
                reached[from, part[i]]
                visits[++tail] = part[i]
            }
    }
}
BEGIN {
    count = split(one_thing, line, "\n")
    for (i = 1; i <= count; i++) {
        sub(/:.*/, "", line[i])
        allowed[line[i]]
    }
}
FILENAME != "-" {
    outside[$0]
    next
}
{
    split($1, part, ":")
    object = part[2]
    type = $(NF - 1)
    name = $NF
    if (name ~ /^__/ || name == "xerbla_") # symbols of the compiler, and one that LAPACK calls
        next
    if (type ~ /^[TDBRVW]$/) {
        home[name] = object
    } else if (type == "U") {
        users[name] = users[name] " " object
    }
}
END {
    for (name in home) {
        if (!(name in users) && !(name in outside)) {
            print home[name] ": " name " is used in no other file; make it static, or delete it" | "sort"
            bad = 1
        }
        split(users[name], user, " ")
        for (i in user)
            if (!((user[i], home[name]) in edge)) {
                edge[user[i], home[name]] = name
                next_of[user[i]] = next_of[user[i]] " " home[name]
            }
        objects[home[name]]
    }
    for (object in objects)
        reach(object)
    for (object in objects) {
        if (!((object, object) in reached) || object in shown)
            continue
        circle = ""
        calls = ""
        size = 0
        delete member
        for (other in objects)
            if ((object, other) in reached && (other, object) in reached) {
                member[++size] = other
                shown[other]
            }
        for (i = 2; i <= size; i++) # sorts the members by name
            for (j = i; j > 1 && member[j - 1] > member[j]; j--) {
                other = member[j]
                member[j] = member[j - 1]
                member[j - 1] = other
            }
        for (i = 1; i <= size; i++)
            circle = circle (i > 1 ? " " : "") member[i]
        for (i = 1; i <= size; i++)
            for (j = 1; j <= size; j++)
                if ((member[i], member[j]) in edge)
                    calls = calls "\n    " member[i] " uses " edge[member[i], member[j]] " of " member[j]
        if (circle in allowed)
            continue
        print "a circle of " size " objects: " circle (size <= 6 ? calls : "")
        bad = 1
    }
    exit bad
}' "$words" -
