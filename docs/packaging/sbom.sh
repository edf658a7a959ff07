#!/bin/sh
# sbom.sh BENCH VERSION TIME MODULE... -- prints the software bill of materials of atomo as CycloneDX 1.5 JSON: the libraries that
# the programs load, with versions and licences. A MODULE is a library's name in pkg-config, as in the Makefile's PKGS and MPI.
# The versions of the libraries that pkg-config does not know are those that BENCH (atomo-bench) and oneDNN's header tell.
bench=${1:?usage: sbom.sh BENCH VERSION TIME MODULE...} version=$2 time=$3
shift 3

# Module | name | licence (an SPDX expression). FFTW is under the GPL and oneDNN under the Apache licence, so built programs may be
# passed on under version 3 of the GPL or later, though atomo's own source is under the MIT licence.
table='hdf5-serial|HDF5|LicenseRef-HDF5
fftw3f|FFTW|GPL-2.0-or-later
libzstd|Zstandard|BSD-3-Clause OR GPL-2.0-only
blosc|Blosc|BSD-3-Clause
zfp|zfp|BSD-3-Clause
zlib|zlib|Zlib
libseccomp|libseccomp|LGPL-2.1-only
dnnl|oneDNN|Apache-2.0
openblas|OpenBLAS|BSD-3-Clause
gomp|libgomp|GPL-3.0-or-later WITH GCC-exception-3.1
ompi-c|Open MPI|BSD-3-Clause-Open-MPI
mpi-c|Open MPI|BSD-3-Clause-Open-MPI
mpich|MPICH|mpich2'

version_of() {
    case $1 in
    dnnl) echo '#include <dnnl_version.h>
DNNL_VERSION_MAJOR DNNL_VERSION_MINOR DNNL_VERSION_PATCH' | ${CC:-cc} -E -P - | tail -n 1 | tr ' ' . ;;
    openblas | zfp) "$bench" --version | sed -n "s/^$1 *//p" ;;
    gomp) ;; # comes with the compiler and names no version
    *) pkg-config --modversion "$1" ;;
    esac
}

part() { # arguments: type, bom-ref, name, version or nothing, licence
    printf '{"type": "%s", "bom-ref": "%s", "name": "%s"%s, "licenses": [{"expression": "%s"}]}' \
        "$1" "$2" "$3" "${4:+, \"version\": \"$4\"}" "$5"
}

parts='' refs=''
for module in "$@" dnnl openblas gomp; do
    row=$(printf '%s\n' "$table" | grep "^$module|") || {
        echo "sbom.sh: $module: no licence in the table of this script" >&2
        exit 1
    }
    number=$(version_of "$module")
    [ -n "$number" ] || [ "$module" = gomp ] || { echo "sbom.sh: $module: no version" >&2; exit 1; }
    name=${row#*|} licence=${row##*|}
    parts="$parts${parts:+,
    }$(part library "$module" "${name%|*}" "$number" "$licence")"
    refs="$refs${refs:+, }\"$module\""
done

cat <<END
{"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
"metadata": {"timestamp": "$time",
    "component": $(part application atomo atomo "$version" MIT)},
"components": [
    $parts],
"dependencies": [{"ref": "atomo", "dependsOn": [$refs]}]}
END
