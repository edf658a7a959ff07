"""coverage.py BUILD [PREFIX] -- prints the lines and branches of lib/ that the tests have run, for each room, from the
counters in BUILD/counters. Marks the rooms below the limits; fails if lib/ is. With PREFIX, such as lib/dump/, prints each line and each outcome
of a condition in the files of that name that no test has run.

clang puts counters at the source's regions, so a line counts the same at every level of optimisation. Every process
maps the file of counters: processes that are killed, end by _exit or may make no system calls count too.

A branch is one outcome, true or false, of a condition in the text of a function: of if, ?:, a loop, an operand of && or
||, or a case of a switch. Conditions inside macros are left out: TRY's says only that a call has failed."""

import glob
import json
import os
import subprocess
import sys

LINES, BRANCHES = 95, 85


def run(tool, *words):
    pipe = subprocess.PIPE
    return subprocess.run([tool, *words], check=True, stdout=pipe, stderr=subprocess.DEVNULL, text=True).stdout


def ours(path):
    """Returns the path from lib/ on; None for what is not in lib/."""
    relative = os.path.relpath(path)
    return relative if relative.startswith("lib/") else None


def lines_of(profile, library):
    """{file: {line: count}}"""
    found, into = {}, None
    for text in run("llvm-cov", "export", "-format=lcov", "-instr-profile", profile, library).splitlines():
        if text.startswith("SF:"):
            into = found.setdefault(ours(text[3:]), {})
        elif text.startswith("DA:"):
            line, count = text[3:].split(",")[:2]
            into[int(line)] = into.get(int(line), 0) + int(count)
    found.pop(None, None)
    return found


def branches_of(profile, library):
    """{file: {(line, column): [times true, times false]}}. A function in a header is there once for each file that
    includes it."""
    found = {}
    data = json.loads(run("llvm-cov", "export", "-instr-profile", profile, library))["data"][0]
    for file in data["files"]:
        into = found.setdefault(ours(file["filename"]), {})
        for line, column, _, _, true, false, *_ in file["branches"]:
            both = into.setdefault((line, column), [0, 0])
            both[0] += true
            both[1] += false
    found.pop(None, None)
    return found


def missing(lines, branches, prefix):
    for file in sorted(lines):
        if not file.startswith(prefix):
            continue
        text = open(file, encoding="utf-8").read().splitlines()
        marks = {}
        for line, count in lines[file].items():
            if not count:
                marks[line] = "not run"
        for (line, column), counts in sorted(branches.get(file, {}).items()):
            never = [name for name, count in zip(("true", "false"), counts) if not count]
            if never and marks.get(line) != "not run":
                marks[line] = "; ".join(filter(None, [marks.get(line), f"{column} never {' or '.join(never)}"]))
        for line in sorted(marks):
            print(f"{file}:{line}: {marks[line]}: {text[line - 1].strip()}")


def share(part, whole):
    return 100 * part / whole if whole else 100.0


def table(lines, branches):
    rooms = {}
    for file, counts in lines.items():
        row = rooms.setdefault(file.split("/")[1], [0, 0, 0, 0])
        row[0] += sum(c > 0 for c in counts.values())
        row[1] += len(counts)
    for file, counts in branches.items():
        row = rooms[file.split("/")[1]]
        row[2] += sum(c > 0 for both in counts.values() for c in both)
        row[3] += 2 * len(counts)
    rooms["lib"] = [sum(row[i] for row in rooms.values()) for i in range(4)]
    print(f"{'room':12}{'lines':>8}{'run':>9}{'branches':>10}{'run':>9}")
    for room in sorted(rooms, key=lambda r: (r == "lib", r)):
        run_lines, all_lines, run_branches, all_branches = rooms[room]
        both = share(run_lines, all_lines), share(run_branches, all_branches)
        low = [word for word, got, want in (("lines", both[0], LINES), ("branches", both[1], BRANCHES)) if got < want]
        note = "  few " + " and ".join(low) if low else ""
        print(f"{room:12}{all_lines:8}{both[0]:8.1f}%{all_branches:10}{both[1]:8.1f}%{note}")
    return share(*rooms["lib"][:2]), share(*rooms["lib"][2:])


def main():
    build = sys.argv[1]
    profile, library = f"{build}/all.profdata", f"{build}/whole.so"
    # -failure-mode=all leaves out a file that a process which was killed has not finished
    counters = glob.glob(f"{build}/counters/*.profraw")
    run("llvm-profdata", "merge", "-failure-mode=all", "-sparse", *counters, "-o", profile)
    lines, branches = lines_of(profile, library), branches_of(profile, library)
    if len(sys.argv) > 2:
        missing(lines, branches, sys.argv[2])
        return 0
    done = table(lines, branches)
    if done[0] < LINES or done[1] < BRANCHES:
        print(f"coverage: {done[0]:.1f} % of the lines and {done[1]:.1f} % of the branches of lib/ have run: want {LINES} and {BRANCHES} %", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
