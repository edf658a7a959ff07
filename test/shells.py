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


def read(quiet=0.5, most=20):
    """Returns what the shell prints until it has printed nothing for `quiet` seconds."""
    out, end = b"", time.time() + most
    while time.time() < end and select.select([fd], [], [], quiet)[0]:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if b"\x1b[c" in more or b"\x1b[0c" in more:  # fish asks the terminal what it is
            os.write(fd, b"\x1b[?62c")
        out += more
    return re.sub(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[=>]|\r", "", out.decode(errors="replace"))


read(1.0)
os.write(fd, setup.encode() + b"\n")
read(1.0)
os.write(fd, text.encode())
read()
os.write(fd, b"\t")
print(text + read(1.0))
os.close(fd)
shutil.rmtree(room, ignore_errors=True)
