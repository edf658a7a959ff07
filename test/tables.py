#!/usr/bin/env python3
"""tables.py make|check BIN PAGE... -- makes the tables of pages anew by their commands, or checks them.

The line above a table, or above a block of code with a table, says what makes it:

    <!-- table: COMMAND -->          COMMAND prints it (a table with -f md) within seconds
    <!-- table -->                   the commands of the block above print it, or those after "$ " in the block itself
    <!-- long table: COMMAND -->     the same, but it takes longer, or needs a file that is not part of the project
    <!-- copied table: COMMAND -->   copied by hand from what COMMAND prints
    <!-- given table: SOURCE -->     not measured by this project
    <!-- page: COMMAND -->           COMMAND writes the page

A long or copied table has a second line, <!-- made: REVISION, SUM -->: the last revision that changed the programs then, and a checksum of the
command and of the list behind $training, $results or $today (plots/training.list, ..., whose results `make training`, `make results` and `make today`
put into build/). Commands run in a folder with datasets/ and plots/, and with the files of the folder DUMPS (environment).

`make` makes the tables whose files are there, with LONG=1 also long ones, and prints the seconds of each. `check` makes those that take seconds,
and fails where a number has changed beyond its error, or beyond its last digit where it has none; columns of times are left out. It
compares command and revision of the others, and fails where a table of numbers has no mark.

"<!-- facts: FILE.json -->" stands above a line with version, machine and checksum of a result in the page's folder.
"""
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

sys.dont_write_bytecode = True
from commands import blocks

TOP = pathlib.Path(__file__).resolve().parent.parent
LISTS = ("training", "results", "today")
MARK = re.compile(r"<!-- (?:(long|copied|given) )?table(?:: (.*))? -->")
NUMBER = re.compile(r"(?<![\w.])[-+]?(\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?)(?: \+- (\d+(?:\.\d+)?(?:e[-+]?\d+)?))?")
TIMED = re.compile(r"(^| )(ms|seconds|GB/s)( |$)")


class Table:
    """A table of a page: its kind, its command, and its lines [begin, end) of the page; `mark` is the line above them."""

    def __init__(self, lines, mark, kind, command):
        self.kind, self.mark, self.command = kind, mark, command
        self.begin = mark + 1
        self.made = lines[self.begin] if lines[self.begin].startswith("<!-- made: ") else None
        self.begin += self.made is not None
        self.block = lines[self.begin].startswith("```")
        self.begin += self.block
        self.end = self.begin
        while self.end < len(lines) and (not lines[self.end].startswith("```") if self.block else lines[self.end].startswith("|")):
            self.end += 1
        self.old = lines[self.begin:self.end]
        if not command:
            self.command = shown(self.old) if self.block else above(lines, mark)

    def sum(self):
        lists = [(TOP / f"plots/{name}.list").read_text(encoding="utf-8") for name in LISTS if f"${name}/" in self.command]
        return zlib.crc32("".join([self.command, *lists]).encode())

    def missing(self, room):
        """The first file that the command reads and that is not there."""
        for name in re.findall(r"\$(?:training|results|today)/\S+|[\w./-]+\.h5", self.command):
            if not (room / name.lstrip("$")).exists() and not re.search(r"(-o|-gradients) " + re.escape(name), self.command):
                return name
        return None

    def run(self, room):
        """The lines that the command prints now."""
        new = []
        for command in re.split(r"\n(?=\$ )", self.command) if self.command.startswith("$ ") else [self.command]:
            done = subprocess.run(["sh", "-c", command.removeprefix("$ ")], cwd=room, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
            if done.returncode:
                raise ValueError(f"exit code {done.returncode}: {command}: {done.stderr.strip()[-300:]}")
            new += command.splitlines() if command.startswith("$ ") else []
            new += done.stdout.splitlines()
        return new if self.block else [line.replace("+-", "±") for line in new if line.startswith("|")]


def shown(lines):
    """The commands after "$ " of a block of code."""
    command, inside = [], False
    for line in lines:
        if line.startswith("$ ") or inside:
            command.append(line)
            inside = line.endswith("\\")
    return "\n".join(command)


def above(lines, mark):
    """The commands of the last block of code above the mark; the last of them prints Markdown."""
    body = "\n".join([body for number, body in blocks("\n".join(lines[:mark]))][-1]).rstrip()
    return body + (" -f md" if re.search(r"(^|\n)(atomo-bench .*| +-.*)$", body) else "")


def is_numeric(rows):
    cells = [re.sub(r"^[ `~\\*-]+", "", cell) for row in rows[2:] for cell in row.split("|")[1:-1]]
    numbers = sum(cell[:1].isdigit() for cell in cells)
    return numbers >= 4 and numbers > 0.3 * len(cells)


def tables(lines):
    """The tables of a page in order; one of numbers that has no mark has the kind "bare"."""
    found, at, whole = [], 0, any(line.startswith("<!-- page: ") for line in lines)
    while at < len(lines):
        mark = MARK.fullmatch(lines[at])
        if mark:
            found.append(Table(lines, at, mark[1] or "quick", mark[2]))
            at = found[-1].end
        elif lines[at].startswith("|"):
            end = next((i for i in range(at, len(lines)) if not lines[i].startswith("|")), len(lines))
            if is_numeric(lines[at:end]) and not whole:
                found.append(Table(lines, at - 1, "bare", "none"))
            at = end
        at += 1
    return found


# ---- comparing ----

def cells(line):
    return [cell.strip() for cell in line.strip("| ").split("|")] if line.startswith("|") else re.split(r" {2,}", line.strip())


def numbers(cell):
    """(value, error, unit of the last digit, text) of each number in a cell."""
    for found in NUMBER.finditer(cell):
        text = found[1].replace(",", "")
        digits, _, exponent = text.partition("e")
        unit = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
        yield float(text), float(found[2] or 0), unit, text


def same(old, new):
    """Whether the words of two cells are equal, and their numbers within their errors. A whole number of under four digits is exact."""
    old, new = (cell.replace("±", "+-") for cell in (old, new))
    if NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return False
    for (a, a_error, a_unit, text), (b, b_error, b_unit, _) in zip(numbers(old), numbers(new)):
        error, unit = math.hypot(a_error, b_error), max(a_unit, b_unit)
        whole = not error and text.isdigit() and len(text) < 4
        if abs(a - b) > (0 if whole else max(4 * error, 1.5 * unit)):
            return False
    return True


def differences(old, new):
    """What a person should see of the difference of two tables."""
    if len(old) != len(new):
        yield f"{len(old)} lines, now {len(new)}"
    head = next((cells(line) for line in old if not line.startswith("$ ") and not line.startswith("     ")), [])
    for was, now in zip(old, new):
        a, b = cells(was), cells(now)
        if len(a) != len(b):
            yield f"was: {was}\nnow: {now}"
            continue
        for i, (x, y) in enumerate(zip(a, b)):
            timed = len(a) == len(head) and TIMED.search(head[i])
            if not timed and not same(x, y):
                yield f"{a[0]}: {head[i] + ': ' if len(a) == len(head) else ''}{x}, now {y}"


# ---- pages ----

def git(*arguments):
    command = ["git", "-C", str(TOP), *arguments] if shutil.which("git") else ["false"]
    return subprocess.run(command, capture_output=True, encoding="utf-8")


def revision():
    """The last revision that changed the programs, with + where there are later changes."""
    changed = git("status", "--porcelain", "--", "lib", "cmd").stdout.strip()
    return git("log", "-1", "--format=%h", "--abbrev=12", "--", "lib", "cmd").stdout.strip() + ("+" if changed else "")


def facts(path):
    meta = json.loads(path.read_text())["meta"]
    return (f"*atomo {meta['version']}, revision {meta['revision']}. {meta['cpu']}, {meta['isa']} kernels; {meta['os']}. "
            f"SHA-256 of {path.name}: {hashlib.sha256(path.read_bytes()).hexdigest()}*")


def make(page, lines, found, room):
    """Makes the tables of a page anew, from the last to the first, so that line numbers hold."""
    made, failed = {}, 0
    for table in found:
        if table.kind not in ("quick", "long") or (table.kind == "long" and "LONG" not in os.environ):
            continue
        if table.missing(room):
            print(f"     -    {page}:{table.mark + 1}: {table.missing(room)} is not there, the table stays")
            continue
        began = time.monotonic()
        try:
            made[table] = table.run(room)
            print(f"{time.monotonic() - began:6.1f} s  {page}:{table.mark + 1}", flush=True)
        except ValueError as error:
            print(f"FAILED: {page}:{table.mark + 1}: {error}", flush=True)
            failed += 1
    for table in reversed(found):
        if table in made:
            lines[table.begin:table.end] = made[table]
            if table.kind == "long":
                note = f"<!-- made: {revision()}, {table.sum()} -->"
                lines[table.mark + 1:table.mark + 1 + (table.made is not None)] = [note]
    for i, line in enumerate(lines):
        if line.startswith("<!-- facts: "):
            lines[i + 1] = facts((TOP / page).parent / line[12:-4])
    (TOP / page).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return failed


def check_note(table):
    """Complaints about the line that says what made a table."""
    note = re.fullmatch(r"<!-- made: (\w+\+?), (\d+) -->", table.made or "")
    if not note:
        yield f"want a line <!-- made: REVISION, {table.sum()} --> below the mark"
        return
    if int(note[2]) != table.sum():
        yield f"its command, or the list behind it, is not the one that made it (sum {table.sum()})"
    if git("rev-parse", "--is-shallow-repository").stdout.strip() == "false" and git("merge-base", "--is-ancestor", note[1], "HEAD").returncode:
        yield f"revision {note[1]} is not in the history"


def check(page, lines, found, room):
    failed = 0
    for table in found:
        if table.kind == "quick":
            try:
                wrong = list(differences(table.old, table.run(room)))
            except ValueError as error:
                wrong = [str(error)]
        elif table.kind == "bare":
            wrong = ["a table of numbers without a mark, as <!-- table: COMMAND -->"]
        else:
            wrong = list(check_note(table)) if table.kind in ("long", "copied") else []
        for text in wrong:
            print(f"FAILED: {page}:{table.mark + 1}: {text}", flush=True)
        failed += bool(wrong)
    return failed


def main(arguments):
    mode, programs, pages = {"make": make, "check": check}[arguments[0]], pathlib.Path(arguments[1]).resolve(), arguments[2:]
    data = {name: pathlib.Path(os.environ.get(name, TOP / f"build/{name}/data")) for name in LISTS}
    os.environ |= {**{name: name for name in LISTS}, "PATH": f"{programs}:{os.environ['PATH']}", "TERM": "dumb", "LC_ALL": "C"}
    os.environ.pop("COLUMNS", None)
    failed, kinds = 0, []
    for page in pages:
        with tempfile.TemporaryDirectory(prefix="atomo-tables.") as room:
            for source in [TOP / "datasets", TOP / "plots", *(pathlib.Path(os.environ["DUMPS"]).resolve().iterdir() if "DUMPS" in os.environ else [])]:
                pathlib.Path(room, source.name).symlink_to(source)
            for name, source in data.items():
                pathlib.Path(room, name).symlink_to(source)
            lines = (TOP / page).read_text(encoding="utf-8").splitlines()
            found = tables(lines)
            kinds += [table.kind for table in found]
            failed += mode(page, lines, found, pathlib.Path(room))
    print(f"tables: {kinds.count('quick')} of seconds, {kinds.count('long')} long, {kinds.count('copied')} copied, {kinds.count('given')} given; {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
