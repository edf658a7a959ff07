#!/bin/sh
# cpus.sh -- builds for another processor and runs tests under qemu: sh test/cpus.sh arm64|riscv64|s390x [ROOT]
#
# Makes a Debian root of that processor in the folder ROOT (default: build/root-PROCESSOR) by debootstrap, builds with the
# cross compiler against the root's libraries, and runs the tests in the root. Needs root's rights, the packages debootstrap,
# qemu-user-static and gcc-TRIPLET, and a kernel with binfmt_misc. s390x is big-endian.
set -eu
arch=${1:?usage: sh test/cpus.sh arm64|riscv64|s390x [ROOT]} root=${2:-build/root-$1}
case $arch in
arm64) cpu=aarch64 ;;
riscv64) cpu=riscv64 ;;
s390x) cpu=s390x ;;
*) echo "cpus: $arch: want arm64, riscv64 or s390x" >&2; exit 2 ;;
esac
triplet=$cpu-linux-gnu
for tool in debootstrap "$triplet-gcc" "qemu-$cpu-static"; do
    command -v "$tool" >/dev/null || { echo "cpus: $tool: not found" >&2; exit 1; }
done
packages=$(sed -n '/^DEB_BUILD/,/[^\\]$/p' Makefile | sed 's/.*:=//; s/\\$//; s/gnuplot-nox//' | tr '\n' ' ')
if [ ! -f "$root/made" ]; then
    mkdir -p "$root"
    [ -x "$root/bin/sh" ] || debootstrap --arch="$arch" --variant=minbase bookworm "$root"
    chroot "$root" apt-get -q update
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get -qy install --no-install-recommends $packages
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
# Not base/test_arena and base/test_confine: limits and filters of system calls would hit qemu itself.
tests='base/test_[b-z]* coder/test_* codec/test_* compress/test_* dump/test_* exchange/test_* library/test_* payload/test_frame measure/test_metrics num/test_* vec/test_*'
targets=
for one in $tests; do
    for file in test/$one.c; do
        [ "$file" != test/base/test_confine.c ] || continue
        targets="$targets build/$arch/${file%.c}"
    done
done
# shellcheck disable=SC2086
PATH=$PWD/build/$arch/tools:$PATH make -j"$(nproc)" -k ARCH=$cpu MPI= B=build/$arch CC="${CCACHE:-} $triplet-gcc --sysroot=$root" all $targets

mkdir -p "$root/src"
mount --bind "$PWD" "$root/src"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
trap 'umount "$root/src" "$root/dev" "$root/proc"' EXIT
failed=0
for one in $targets; do
    log=build/$arch/$(echo "$one" | tr / -).log
    if chroot "$root" sh -c "cd /src && timeout 1200 $one" >"$log" 2>&1; then
        echo "$one: $(grep -c '\[       OK \]' "$log") passed"
    else
        echo "$one: FAILED: $log"
        failed=$((failed + 1))
    fi
done
echo "cpus: $arch: $failed of $(echo "$targets" | wc -w) test programs failed"
[ $failed = 0 ]
