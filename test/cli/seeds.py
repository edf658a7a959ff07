"""Compares tables of one comparison with different seeds: python3 seeds.py FILE...

A cell without "+-" must be the same text in all tables. Cells "a +- b" must agree within 4 standard errors of their difference, and
half of the last digits. A cell "~a" has no known error. Measured times, and values that follow from them, are left out: they depend on the machine; so are intervals and p-values of differences that are compared. Under normal errors of 10 repeats (t with 18 degrees of freedom)
a difference is so large once in 1,200 pairs; the seeds are fixed, so a table that passes once passes always.
The front of sweep must be the same in all tables, and so must be which codecs are certain.
"""
import itertools
import re
import sys

UNITS = {"B": 1, "kB": 1e3, "MB": 1e6}
KEYS = ("tensor", "compressor", "workers", "topology", "metric")
TIMED = ("break-even GB/s", "pays", "speed-up", "over 16 bit")
DERIVED = ("95 % interval", "p", "p by Holm", "difference is")  # of a difference and its standard error


def table(path):
    """{(keys of the row, column): cell}; the heading loses R and the seed."""
    lines = open(path).read().splitlines()
    head = [re.sub(r" \(R = .*\)", "", h) for h in re.split(r" {2,}", lines[0].strip())]
    rows = {}
    for line in lines[1:]:
        cells = re.split(r" {2,}", line.strip())
        if len(cells) != len(head):
            sys.exit(f"{path}: not a row: {line}")
        row = dict(zip(head, cells))
        key = tuple(row[name] for name in KEYS if name in row)
        rows.update({(key, name): cell for name, cell in row.items() 
                     if name not in KEYS + TIMED + DERIVED and (name == "comm ms" or not name.endswith(" ms"))})
    return rows


def number(text):
    """A mean, its standard error, and half a unit of the last digit of the mean."""
    m = re.fullmatch(r"\(?([-0-9.]+)(?: \+- ([0-9.]+))?\)?(?:e([-+]\d+))?(?: ([kM]?B))?", text)
    if not m:
        return None
    scale = 10.0 ** int(m[3] or 0) * UNITS[m[4] or "B"]
    digits = len(m[1].split(".")[1]) if "." in m[1] else 0
    return float(m[1]) * scale, float(m[2] or 0) * scale, 0.5 * 10.0 ** -digits * scale


def verdict(text):
    """Repeats that show nothing: how much would show is "about" in the table, and may be all."""
    return re.sub(r"none seen \(about .*\)|cannot be seen with so few repeats", "none", text)


def agree(a, b):
    if verdict(a) == verdict(b) or "~" in a + b:
        return True
    both_exact = a.endswith(" exact") and b.endswith(" exact")
    x, y = number(a.removesuffix(" exact")), number(b.removesuffix(" exact"))
    if both_exact and x and y:
        return abs(x[0] - y[0]) <= min(x[2], y[2])
    if not x or not y or not (x[1] or y[1]):
        return False
    return abs(x[0] - y[0]) <= 4 * (x[1] ** 2 + y[1] ** 2) ** 0.5 + x[2] + y[2]


def main():
    tables = {path: table(path) for path in sys.argv[1:]}
    compared = same = 0
    for one, other in itertools.combinations(tables, 2):
        if tables[one].keys() != tables[other].keys():
            sys.exit(f"{one} and {other} have different rows")
        for cell, text in tables[one].items():
            compared += 1
            same += text == tables[other][cell]
            if not agree(text, tables[other][cell]):
                sys.exit(f"{cell}: {one}: {text}, {other}: {tables[other][cell]}")
    differ = compared - same
    print("agree" if compared and differ else "nothing differs: the seed does nothing")


main()
