#!/usr/bin/env python3
"""shells.py SHELL BIN SCRIPT TEXT -- types TEXT and a tab into an interactive SHELL (bash, zsh or fish) that has
loaded the completion SCRIPT, and prints TEXT followed by what the shell then prints: the rest of the word, or candidates.
"""
import os
import pty
import re
import select
import shutil
import sys
import tempfile
import time

shell, programs, script, text = sys.argv[1:]
room = tempfile.mkdtemp()
start = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"], "fish": ["fish", "--no-config", "-i"]}[shell]
setup = {
    "bash": f"source {script}; bind 'set bell-style none'; bind 'set show-all-if-ambiguous on'; PS1=ready",
    "zsh": f"fpath=({os.path.dirname(script)} $fpath); autoload -Uz compinit; compinit -u -d {room}/dump; compdef _atomo atomo-bench atomo-train; zstyle ':completion:*' list-prompt ''; PS1=ready",
    "fish": f"source {script}; function fish_prompt; echo -n ready; end",
}[shell]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(PATH=f"{programs}:{os.environ['PATH']}", TERM="dumb" if shell != "fish" else "xterm", HOME=room, COLUMNS="200", LINES="60")
    os.execvp(start[0], start)


def clean(out):
    """Removes the terminal's control sequences."""
    return re.sub(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[=>]|[\r\x07]", "", out.decode(errors="replace"))


def read(want, quiet=1.0, most=60):
    """Returns what the shell prints until it has printed a match of `want` and then nothing for `quiet` seconds."""
    out, end = b"", time.time() + most
    while time.time() < end:
        if not select.select([fd], [], [], quiet)[0]:
            if re.search(want, clean(out)):
                break
            continue
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if b"\x1b[c" in more or b"\x1b[0c" in more:  # fish asks the terminal what it is
            os.write(fd, b"\x1b[?62c")
        out += more
    return clean(out)


read(r"\S")
os.write(fd, setup.encode() + b"; echo set''up\n")
read(r"setup\s[\s\S]*ready")
os.write(fd, text.encode())
read(re.escape(text[-1]), quiet=0.2)
os.write(fd, b"\t")
print(text + read(r"\S"))
os.close(fd)
shutil.rmtree(room, ignore_errors=True)
