#!/bin/sh
# packages.sh FOLDER [ROOT] -- installs the packages of `make deb` from FOLDER into a bare Debian root, and uses them there as a newcomer would. In a
# second root that has all they depend on, installs, uses and purges them, and compares the lists of files before and after. Needs the rights of
# root, and debootstrap unless ROOT is a bare root, which is copied. Prints what fails, then "packages: N passed, M failed".
folder=$(cd "${1:?usage: packages.sh FOLDER [ROOT]}" && pwd) || exit 2
top=$(cd "$(dirname "$0")/.." && pwd)
room=$(mktemp -d "${TMPDIR:-/tmp}/atomo-packages.XXXXXX") || exit 1
root=$room/first
passed=0 failed=0
trap 'umount "$room/first/proc" "$room/second/proc" 2>/dev/null; rm -rf "$room"' EXIT
trap 'exit 130' INT TERM

in_root() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive sh -ec "$1" >"$room/log" 2>&1
}

verdict() { # arguments: 0 or another number, what it shows
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $2" && tail -20 "$room/log"
    fi
}

step() { # arguments: what it shows, command in the root, a pattern of some line of its output
    in_root "$2" && { [ -z "$3" ] || grep -q -e "$3" "$room/log"; }
    verdict $? "$1"
}

# Every path but lists and archives of packages, logs, and temporary files.
files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/cache/apt -o -path ./var/log -o -path ./var/lib/apt -o \
        -path ./var/lib/dpkg \) -prune -o -print | LC_ALL=C sort)
}

use() {
    step 'a demo' 'cd /root && atomo-bench demo -q' '^qsgd:bits=2 .*none seen'
    step 'a figure' 'cd /tmp && atomo-bench demo gpt-nano -q >demo && atomo-bench compare /usr/share/atomo/datasets/lenet-mnist.h5 -c none -c qsgd -o r.csv && atomo-bench plot pareto r.csv -o r.svg && ls r.svg'
    step 'training' 'cd /tmp && atomo-train run --max-steps 3 -c qsgd' '^summary *qsgd'
    step 'import atomo' 'python3 -c "import atomo, atomo.gradients, numpy; x = numpy.ones(5000, numpy.float32); c = atomo.Codec(\"qsgd:bits=4\"); p = c.encode(x); c.decode(p, x.shape); print(len(p), \"bytes\")"' ' bytes'
}

if [ -n "$2" ]; then cp -a "$2" "$root"; else debootstrap --variant=minbase bookworm "$root" >"$room/log" || { tail -5 "$room/log"; exit 1; }; fi
mkdir "$root/tmp/debs" && cp "$folder"/*.deb "$root/tmp/debs" || exit 1
in_root 'apt-get update' || { tail -5 "$room/log"; exit 1; }
cp -a "$root" "$room/second" && mount -t proc proc "$root/proc" || exit 1

# Two commands lead from a bare root to a first comparison.
step 'apt install ./atomo_*.deb' 'cd /tmp/debs && apt install -y ./atomo_*.deb'
step 'atomo-bench demo' 'atomo-bench demo' '^qsgd:bits=2 .*none seen'
step 'doctor finds nothing to mend' 'atomo-bench doctor -f csv | { ! grep ",false,"; }'
step 'manual pages and completion' 'for f in man/man1/atomo-bench-compare.1.gz man/man7/atomo.7.gz bash-completion/completions/atomo-bench \
    zsh/vendor-completions/_atomo fish/vendor_completions.d/atomo-bench.fish; do test -s /usr/share/$f; done'
step 'the other packages' 'apt install -y /tmp/debs/*.deb'
use
step 'a compiler' 'apt install -y --no-install-recommends gcc libc6-dev pkg-config'
awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$top/docs/library.md" >"$root/tmp/e.c"
step 'a C program by pkg-config' 'cd /tmp && cc e.c -o e $(pkg-config --cflags --libs atomo) && ./e' 'bytes instead of 25600'
python3 "$top/test/site.py" "$top" "$root/usr/share/doc/atomo/html" >"$room/log" 2>&1
verdict $? 'the pages, whose links lead to files'

# Purged, the packages leave nothing.
umount "$root/proc" && root=$room/second && mount -t proc proc "$root/proc" || exit 1
step 'what they depend on' 'apt-get install -y $(apt-get install -s /tmp/debs/*.deb | awk "/^Inst/ && !/atomo/ {print \$2}")'
files >"$room/before"
step 'all packages' 'apt-get install -y /tmp/debs/*.deb'
files | cmp -s - "$room/before" && verdict 1 'the packages have files'
use
step 'purge' 'apt-get purge -y $(dpkg -l | awk "/atomo/ {print \$2}") && ! dpkg -l | grep atomo'
files | diff "$room/before" - >"$room/log"
verdict $? 'the same files as before'
echo "packages: $passed passed, $failed failed"
[ "$failed" = 0 ]
