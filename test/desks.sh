#!/bin/sh
# desks.sh [bookworm|trixie]... -- types the README's two commands, `make demo` and `make check`, at the desks of new users: in bare Debian roots, as root
# and as an ordinary user, with and without terminals (/dev/pts), in German and in plain C, in a path with a blank. Then builds with clang.
# It tries the last commit, not the working tree, and prints a table; logs stay in build/desks. Needs root's rights, debootstrap, and about
# a quarter of an hour for each row.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
desks=$top/build/desks
failed=0
[ $# -gt 0 ] || set -- bookworm trixie

# Runs a command in the root $1 as user $2, with a mount and a process table of its own, which end with it.
there() { # arguments: root, user, pts or none, locale, command
    unshare --mount --pid --fork sh -c 'root=$1; shift
        mount -t proc proc "$root/proc" && mount -t tmpfs tmpfs "$root/dev/shm" || exit 1
        [ "$2" = none ] || mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts" || exit 1
        exec chroot "$root" setpriv --reuid "$1" --regid "$1" --clear-groups env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            LC_ALL="$3" DEBIAN_FRONTEND=noninteractive sh -ec "$4"' - "$@" </dev/null
}

# A root of the suite in which root has run `make deps`, as the README says.
furnish() { # argument: suite
    root=$desks/$1
    [ ! -e "$root/furnished" ] || return 0
    rm -rf "$root" && mkdir -p "$root" || return 1
    debootstrap --variant=minbase "$1" "$root" >"$desks/$1.log" 2>&1 || return 1
    rm -f "$root/dev/ptmx" && ln -s pts/ptmx "$root/dev/ptmx" && mkdir -p "$root/dev/shm" "$root/dev/pts"
    (cd "$top" && tar cf - Makefile test/*.mk docs/packaging/*.mk) | tar xf - -C "$root/root"
    there "$root" 0 none C 'cd /root; apt-get -q update; apt-get -qy install --no-install-recommends make locales
        make deps; localedef -i de_DE -f UTF-8 de_DE.UTF-8; useradd -m guest -u 1000' >>"$desks/$1.log" 2>&1 && touch "$root/furnished"
}

row() { # arguments: suite, user, pts or none, locale, folder below /home or /root
    root=$desks/$1 log=$desks/$1-$2-$3-$4.log
    case $2 in 0) home=/root ;; *) home=/home/guest ;; esac
    rm -rf "${root:?}$home/desk" "$root$home/a desk" && git clone -q --depth 1 "file://$top" "$root$home/$5" && chown -R "$2:$2" "$root$home/$5" || return 1
    began=$(date +%s)
    there "$root" "$2" "$3" "$4" "cd '$home/$5'; export HOME=$home; make demo; make check" >"$log" 2>&1
    code=$?
    printf '%-9s %-5s %-5s %-12s %-7s %-4s %-36s %3s warnings %5s s\n' "$1" "$([ "$2" = 0 ] && echo root || echo user)" "$3" "$4" "$5" "$code" \
        "$(grep -E '^[0-9]+ passed, ' "$log" || echo 'no tests')" "$(grep -c 'warning:' "$log")" $(($(date +%s) - began))
    rm -rf "${root:?}$home/$5"
    [ $code = 0 ] && ! grep -q 'warning:' "$log"
}

clang_row() { # argument: suite
    root=$desks/$1 log=$desks/$1-clang.log
    rm -rf "$root/root/desk" && git clone -q --depth 1 "file://$top" "$root/root/desk" || return 1
    there "$root" 0 none C 'apt-get -qy install --no-install-recommends clang; cd /root/desk; make clang' >"$log" 2>&1
    code=$?
    printf '%-9s %-36s %-4s %s warnings\n' "$1" 'make clang' "$code" "$(grep -c 'warning:' "$log")"
    rm -rf "$root/root/desk"
    [ $code = 0 ]
}

mkdir -p "$desks"
for suite; do
    furnish "$suite" || { echo "$suite: no root: see $desks/$suite.log" && failed=1 && continue; }
    row "$suite" 0 none de_DE.UTF-8 desk || failed=1
    row "$suite" 1000 pts C 'a desk' || failed=1
    row "$suite" 1000 none de_DE.UTF-8 desk || failed=1
    clang_row "$suite" || failed=1
done
exit $failed
