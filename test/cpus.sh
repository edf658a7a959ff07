#!/bin/sh
# cpus.sh -- builds for another processor and runs tests under qemu: sh test/cpus.sh arm64|riscv64|s390x [ROOT [TEST...]]
#
# Unpacks a Debian root of that processor into the folder ROOT (default: build/root-PROCESSOR) by debootstrap, builds with the
# cross compiler against the root's libraries, and runs the tests in the root; then each processor reads files that the other has written. With TEST,
# a test program such as compress/test_golden or the word carried for these files, does this alone. LIMIT: seconds for one program. Needs root's rights,
# the packages debootstrap, qemu-user-static and gcc-TRIPLET, and a kernel with binfmt_misc. s390x is big-endian.
set -eu
arch=${1:?usage: sh test/cpus.sh arm64|riscv64|s390x [ROOT [TEST...]]} root=${2:-build/root-$1}
suite=bookworm programs=
case $arch in
arm64) cpu=aarch64 ;;
riscv64) cpu=riscv64 suite=trixie ;; # Debian's first release for it
s390x) cpu=s390x ;;
*) echo "cpus: $arch: want arm64, riscv64 or s390x" >&2; exit 2 ;;
esac
[ $# -lt 2 ] || shift
shift
triplet=$cpu-linux-gnu
for tool in debootstrap "$triplet-gcc" "qemu-$cpu-static"; do
    command -v "$tool" >/dev/null || { echo "cpus: $tool: not found" >&2; exit 1; }
done
[ -e "/proc/sys/fs/binfmt_misc/qemu-$cpu" ] || {
    echo "cpus: the kernel does not run programs of $arch" >&2
    echo "hint: mount -t binfmt_misc none /proc/sys/fs/binfmt_misc; /usr/lib/systemd/systemd-binfmt" >&2
    exit 1
}
# The packages are unpacked and not installed, which would take minutes under qemu.
if [ ! -f "$root/made" ]; then
    packages=$(sed -n '/^DEB_BUILD/,/[^\\]$/p' Makefile | tr ' ' '\n' | grep -E '^lib|-dev$' | paste -sd,)
    mkdir -p "$root"
    debootstrap --foreign --arch="$arch" --variant=minbase --include="$packages,libc6-dev,libgomp1" "$suite" "$root"
    for deb in "$root"/var/cache/apt/archives/*.deb; do dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink; done
    [ ! -L "$root/proc" ] || { rm "$root/proc" && mkdir "$root/proc"; } # in a container, debootstrap makes it a link to the machine's own
    # the linker does not look for an absolute link below the root
    find "$root/usr/lib/$triplet" -type l -lname '/*' | while read -r link; do ln -sf "../../..$(readlink "$link")" "$link"; done
    touch "$root/made"
fi
root=$(cd "$root" && pwd)

# pkg-config for the root
mkdir -p "build/$arch/tools"
cat >"build/$arch/tools/pkg-config" <<END
#!/bin/sh
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig
exec $(command -v pkg-config) "\$@"
END
chmod +x "build/$arch/tools/pkg-config"
[ $# -gt 0 ] || set -- 'base/test_*' 'coder/test_*' 'compress/test_*' 'dump/test_*' 'exchange/test_*' 'library/test_*' app/test_frame \
    measure/test_metrics 'math/test_*' carried
targets=
for one; do
    if [ "$one" = carried ]; then
        programs=all
        continue
    fi
    for file in test/$one.c; do
        why=
        case $file in
        test/base/test_arena.c | test/base/test_confine.c) why="limits and filters of system calls would hit qemu itself" ;;
        test/coder/test_efficiency.c) why="over half an hour under qemu" ;;
        esac
        if [ -z "$why" ] || [ "$file" = "test/$one.c" ]; then
            targets="$targets build/$arch/${file%.c}"
        else
            echo "${file%.c}: left out: $why"
        fi
    done
done
[ -z "$programs" ] || make -j"$(nproc)" CC="${CCACHE:-} gcc" all
# shellcheck disable=SC2086
PATH=$PWD/build/$arch/tools:$PATH make -j"$(nproc)" -k ARCH=$cpu MPI= B=build/$arch CC="${CCACHE:-} $triplet-gcc --sysroot=$root" $programs $targets

mkdir -p "$root/src"
mount --bind "$PWD" "$root/src"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
trap 'umount "$root/src" "$root/dev" "$root/proc"' EXIT
trap 'exit 130' INT TERM
there() { # argument: a command, to be run on the other processor
    chroot "$root" env LD_LIBRARY_PATH="/usr/lib/$triplet/openblas-pthread" sh -c "cd /src && $1"
}

failed=0
for one in $targets; do
    log=build/$arch/$(echo "$one" | tr / -).log
    if there "timeout ${LIMIT:-1200} $one" >"$log" 2>&1; then
        echo "$one: $(grep -c '\[       OK \]' "$log") passed"
    else
        echo "$one: FAILED: $log"
        failed=$((failed + 1))
    fi
done
[ -z "$targets" ] || echo "cpus: $arch: $failed of $(echo "$targets" | wc -w) test programs failed"
[ -n "$programs" ] || exit $failed

files=build/$arch/carried
rm -rf "$files" && mkdir "$files"
sh test/carried.sh write build/release/bin "$files/here"
there "sh test/carried.sh write build/$arch/bin $files/there"
for from in here there; do
    sh test/carried.sh read build/release/bin "$files/$from" "$files/$from-here"
    there "sh test/carried.sh read build/$arch/bin $files/$from $files/$from-there"
    sh test/carried.sh compare "$files/$from-here" "$files/$from-there" || failed=$((failed + 1))
done
[ $failed = 0 ]
