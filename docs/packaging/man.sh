#!/bin/sh
# man.sh DATE FOLDER PROGRAM... -- makes the manual pages: of each program and command from the text of its --help, and of all codecs
# from that of `atomo-bench list --details`. A line that ends in a colon at its left edge is a heading there.
set -e
date=$1 out=$2
shift 2
export COLUMNS=72
mkdir -p "$out/man1" "$out/man7"

page() { # NAME SECTION SEE-ALSO <TEXT
    awk -v name="$1" -v section="$2" -v also="$3" -v date="$date" '
    function roff(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); sub(/ +$/, "", s); return (s ~ /^[.'"'"']/ ? "\\\\&" : "") s }
    { line[NR] = $0 }
    !$0 { paragraph++; next }
    paragraph == 1 { brief = brief "\n" roff($0) }
    END {
        printf ".TH %s %s %s atomo\n.SH NAME\n%s \\-%s\n", roff(toupper(name)), section, date, roff(name), brief
        print ".SH SYNOPSIS\n.nf"
        for (i = 1; i <= NR; i++)
            if (section == 1 && line[i] ~ /^[a-z].*:$/)
                print ".fi\n.SH " roff(toupper(substr(line[i], 1, length(line[i]) - 1))) "\n.nf"
            else if (section == 7 && line[i - 1] == "" && line[i + 1] == "" && line[i] ~ /^[a-z0-9]+$/)
                print ".fi\n.SS " line[i] "\n.nf"
            else
                print roff(line[i])
        print ".fi\n.SH \"EXIT STATUS\"\n0: done. 1: the work failed. 2: wrong usage. 130: stopped by a signal."
        print "A closed pipe ends the program by SIGPIPE.\n.SH \"SEE ALSO\"\n" also
    }'
}

for p in "$@"; do
    name=$(basename "$p")
    "$p" --help | page "$name" 1 '.BR atomo (7)' >"$out/man1/$name.1"
    for c in $("$p" --complete '' | grep -vx help); do
        "$p" "$c" --help | page "$name-$c" 1 ".BR $name (1), .BR atomo (7)" >"$out/man1/$name-$c.1"
    done
done
{
    printf 'A spec is NAME:key=value,key=value. A wrapper stands before another codec,\nas in ef+qsgd:bits=2. A slash separates alternatives: qsgd:bits=1/2/4.\n\n'
    printf 'gradient compressors and their specs\n\n'
    "$1" list --details
} | page atomo 7 '.BR atomo\-bench (1), .BR atomo\-train (1)' >"$out/man7/atomo.7"
