#!/usr/bin/env python3
"""commands.py BIN [--long | --list] [DOCUMENT...] -- runs the commands in the code blocks of README.md and docs/**/*.md.

The commands of a document run in order, in a copy of the source tree without the files of other documents, with BIN and the Python package
in reach; each must exit with 0. commands.txt names those that are not run, those that only --long runs, those that need a program, and what must run
before a document's first command. A line of it that fits no command is an error. --list prints every command with what happens to it, --long
those that it does not run, with the reason. TIMES=1 prints the seconds of each. With STEPS=N, training ends after N steps, except where it saves
gradients of later ones. Without --long, comparisons have two repeats where the command does not say how many, and datasets/lenet-mnist.h5 has
fewer rows (small.py).
"""
import fnmatch
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import small

TOP = pathlib.Path(__file__).resolve().parent.parent
LIMIT = int(os.environ.get("LIMIT", 1200))  # seconds for a command
STEPS = int(os.environ.get("STEPS", 0))
FIRST = r"(atomo-bench|atomo-train|make|sh|cc|python3|/usr/bin/python3|env/bin/\w+|mpirun|mpiexec\S*|srun|gnuplot|apt|apt-get|mkdir|diff|export|for|build/release/\S+|[A-Z]+=\S+)( |$)"


# A command that goes on in the next line has a quote, a bracket, a word of the shell or a text for stdin, or ends in | or &.
OPEN = re.compile(r"""["'`({]|<<|[|&]\s*$|\b(if|for|while|until|case|do)\b""")


def blocks(text):
    """Yields the code blocks of a Markdown text that may have commands: (number of the first line, lines)."""
    lines = text.splitlines()
    at, before = 0, ""
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("```"))
            if line in ("```", "```sh"):
                yield at + 2, lines[at + 1:end]
            at = end
        elif line.startswith("    ") and not before.strip():
            end = next((i for i in range(at, len(lines)) if lines[i].strip() and not lines[i].startswith("    ")), len(lines))
            yield at + 1, [text[4:] for text in lines[at:end]]
            at = end - 1
        before = lines[at]
        at += 1


def commands(text):
    """Yields (line, command). After a line that begins with "$ ", what does is a command and the rest its output; else all
    lines of a block are commands if the first one that is no comment begins like one."""
    for number, lines in blocks(text):
        shown = any(line.startswith("$ ") for line in lines)
        code = [line for line in lines if line.strip() and not line.startswith("#")]
        if not shown and not (code and re.match(FIRST, code[0])):
            continue
        whole, begin, inside = "", 0, False
        for i, line in enumerate(lines):
            if shown and not inside:
                if not line.startswith("$ "):
                    continue
                line = line[2:]
            if not whole and (not line.strip() or line.startswith("#")):
                continue
            begin = begin if whole else number + i
            whole += line + "\n"
            inside = line.endswith("\\") or bool(OPEN.search(whole)) and subprocess.run(["bash", "-n", "-c", whole], stderr=subprocess.DEVNULL).returncode != 0
            if not inside:
                yield begin, whole.rstrip("\n")
                whole = ""
        if whole:
            yield begin, whole.rstrip("\n")


def rules(env, quick):
    """The lines of commands.txt: (kind, document, glob, reason). "long if CONDITION" is "skip" where the condition, a command of the shell, fails.
    If `quick`, neither is run, and no condition is tried."""
    for number, line in enumerate((TOP / "test/commands.txt").read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            kind, document, rest = (line + " |  | ").split(" | ", 2)
            what, _, reason = rest.removesuffix(" |  | ").rpartition(" # ")
            kind, _, need = kind.strip().partition(" if ")
            if kind not in ("first", "long", "skip") or (need and kind != "long") or not what or not reason:
                sys.exit(f"commands.txt:{number}: want: first, long, long if CONDITION or skip | DOCUMENT | COMMAND OR GLOB # REASON")
            if need and not quick and subprocess.run(["sh", "-c", need], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env).returncode:
                kind = "skip"
            yield kind, document.strip(), what.strip(), reason.strip()


def copy_tree(room, quick):
    """Makes the folder in which commands run: a copy of the source tree with a link to its build; if `quick`, without stored payloads and inputs. Returns what is in it."""
    room.mkdir()
    (room / "datasets").mkdir()
    for file in [TOP / name for name in ("CHANGELOG.md", "LICENSE", "Makefile", "README.md")] + sorted((TOP / "datasets").glob("*.*")):
        shutil.copy2(file, room / file.relative_to(TOP))
    for name in ("cmd", "docs", "lib", "plots", "test"):
        shutil.copytree(TOP / name, room / name, symlinks=True, ignore=shutil.ignore_patterns("golden", "corpus") if quick else None)
    (room / "build").symlink_to(TOP / "build")
    return {path.name for path in room.iterdir()}


def begin(room, own, text):
    """Removes the files of the document before this one, and writes the programs that the text says to save."""
    for path in room.iterdir():
        if path.name not in own:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name, program in re.findall(r"saved as `(\S+)`.*\n\n```\w+\n(.*?)^```", text, re.M | re.S):
        (room / name).write_text(program)
    (room / "home").mkdir()


def shortened(command, quick):
    """The command with at most STEPS steps of training; if `quick`, with two repeats of a comparison that does not say how many."""
    if quick and "--repeats" not in command:
        command = re.sub(r"^atomo-bench (compare|cost|sweep|merge)(?= )", r"\g<0> --repeats 2", command)
    if not STEPS or "--dump-freq" in command:
        return command
    return re.sub(r"(--max-steps )(\d+)", lambda found: found[1] + str(min(int(found[2]), STEPS)), command)


def run(command, room, env):
    """Runs a command; variables that it sets are there for the next one. Returns (exit code, output, seconds of CPU)."""
    script = 'set -a; [ ! -f "$HOME/variables" ] || . "$HOME/variables"; eval "$1"; code=$?; export -p >"$HOME/variables"; exit $code'
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(["sh", "-c", script, "sh", command], cwd=room, env={**env, "HOME": str(room / "home")}, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        code, out = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, out = 124, f"no end after {LIMIT} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return code, out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def plan(document, text, listed):
    """The commands of a document in order: (line, command, what happens to it, why, the rule that says so)."""
    own = [rule for rule in listed if rule[1] == document]
    steps = []
    for line, command in commands(text):
        rule = next((r for r in own if r[0] != "first" and fnmatch.fnmatchcase(command, r[2])), None)
        steps.append((line, command, rule[0] if rule else "run", rule[3] if rule else "", rule))
    return [(0, rule[2], "first", rule[3], rule) for rule in own if rule[0] == "first"] + steps


def main(arguments):
    programs = pathlib.Path(arguments.pop(0)).resolve()
    mode = arguments.pop(0) if arguments and arguments[0].startswith("--") else ""
    documents = arguments or ["README.md", *sorted(str(path.relative_to(TOP)) for path in (TOP / "docs").rglob("*.md"))]
    runs = ("first", "run", "long") if mode == "--long" else ("first", "run")
    revision = subprocess.run("git describe --always --dirty --abbrev=12", cwd=TOP, shell=True, capture_output=True, text=True)
    env = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CI")}
    env |= {"PATH": f"{programs}:/usr/bin:{env['PATH']}", "PYTHONPATH": str(TOP / "lib/python"), "PYTHONDONTWRITEBYTECODE": "1",
            "ATOMO_LIBRARY": str(programs.parent / "public/libatomo.so"), "TERM": "dumb", "REVISION": revision.stdout.strip()}
    listed, used = list(rules(env, not mode)), []
    count, total = {"passed": 0, "failed": 0, "skip": 0, "long": 0}, 0.0
    with tempfile.TemporaryDirectory(prefix="atomo-commands.") as temporary:
        room = pathlib.Path(temporary) / "atomo"
        own = copy_tree(room, not mode)
        if not mode:
            small.write_small(programs, TOP / "datasets/lenet-mnist.h5", room / "datasets/lenet-mnist.h5")
        for document in documents:
            text = (TOP / document).read_text()
            steps = plan(document, text, listed)
            used += [step[4] for step in steps]
            wanted = any(step[2] in runs[1:] for step in steps)
            begin(room, own, text)
            for line, command, kind, reason, _ in steps:
                if mode == "--list":
                    print(f"{kind:5}  {document}:{line}  {command}" + (f"  [{reason}]" if reason else ""))
                elif kind not in runs:
                    count[kind] += 1
                    if mode == "--long":
                        print(f"not run   {document}:{line}  {command}  [{reason}]", flush=True)
                elif wanted:
                    code, out, seconds = run(shortened(command, mode != "--long"), room, env)
                    total += seconds
                    count["failed" if code else "passed"] += 1
                    if "TIMES" in os.environ:
                        print(f"{seconds:6.1f} s  {document}:{line}  {command}", flush=True)
                    if code:
                        print(f"FAILED: {document}:{line}: exit code {code}: {command}", *out.splitlines()[-8:], sep="\n", flush=True)
    for rule in [rule for rule in listed if rule not in used and (not arguments or rule[1] in documents)]:
        print("FAILED: commands.txt: fits no command:", " | ".join(rule[:3]))
        count["failed"] += 1
    if mode != "--list":
        print(f"commands: {count['passed']} passed, {count['failed']} failed, {count['skip']} not run and {count['long']} left to make docs-check "
              f"(test/commands.txt says why); {total:.0f} s of CPU")
    return count["failed"] > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
