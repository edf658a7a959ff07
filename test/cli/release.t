# a release's tarball has the same bytes whatever the umask and the time zone, and holds the committed files
? git -C "$SRC" rev-parse HEAD # needs a git clone
$ mkdir fast; printf '#!/bin/sh\nexec %s "$@" -1\n' "$(command -v gzip)" >fast/gzip; chmod +x fast/gzip; PATH=$PWD/fast:$PATH; (umask 077; TZ=Asia/Tokyo make -s -C "$SRC" tarball DIST="$PWD/a.tar.gz") >log && sleep 1.1 && (umask 002; HOME=$PWD; git config --global tar.umask 0; make -s -C "$SRC" tarball DIST="$PWD/b.tar.gz") >log && cmp a.tar.gz b.tar.gz && tar xzf a.tar.gz && (cd atomo-*/ && find . ! -type d | sed 's|^./||' | LC_ALL=C sort) >packed; git -C "$SRC" ls-tree -r --name-only HEAD | LC_ALL=C sort | diff - packed && echo same
> same
= 0

# the bill of materials names each library that a program loads, with the versions that the programs tell
? command -v python3 && command -v readelf && ! nm -D "$PUBLIC/libatomo.so" | grep -q asan
$ make -s -C "$SRC" sbom SBOM="$PWD/sbom.json" >log && readelf -d "${PUBLIC%/public}"/bin/atomo-* "$PUBLIC/libatomo.so" | sed -n 's/.*NEEDED.*\[lib\([a-z0-9_]*\).*/\1/p' | sort -u >needed; atomo-bench --version >version; python3 -c 'import json; bill = json.load(open("sbom.json")); parts = {p["bom-ref"].removeprefix("lib"): p for p in bill["components"]}; refs = {"hdf5_serial": "hdf5-serial", "z": "zlib", "mpi": next((m for m in ("ompi-c", "mpi-c", "mpich") if m in parts), "")}; told = dict(line.split(None, 1) for line in open("version")); print(len(parts) >= 9, [n for n in open("needed").read().split() if n not in ("c", "m", "stdc") and refs.get(n, n) not in parts], [k for k, ref in (("hdf5", "hdf5-serial"), ("fftw", "fftw3f"), ("zstd", "zstd"), ("blosc", "blosc"), ("openblas", "openblas")) if parts[ref]["version"] != told[k].strip()], sorted(p["name"] for p in parts.values() if not p["licenses"][0]["expression"]), set(bill["dependencies"][0]["dependsOn"]) == {p["bom-ref"] for p in parts.values()})'
> True [[]] [[]] [[]] True
= 0

# a library without a row in the table of licences is refused
$ sh "$SRC/docs/packaging/sbom.sh" atomo-bench 1 now no-such-module
2> *no-such-module: no licence*
= 1

# the citation and the how-to-cite page name this version
$ v=$(atomo-bench --version | sed -n '1s/.* //p'); sed -n 's/^version: //p' "$SRC/docs/CITATION.cff" | grep -cx "$v"; grep -c "version = {$v}" "$SRC/docs/cite.md"
> 1
> 1
= 0

# a tool that make deb lacks is named before anything is made
? git -C "$SRC" rev-parse HEAD # needs a git clone
$ mkdir bin; for c in make sh uname git gzip pkg-config gcc cc date sed find mkdir; do ln -s "$(command -v $c)" bin; done; for c in dh dh_python3 dpkg-buildpackage; do ln -s "$(command -v gzip)" bin/$c; done; PATH=$PWD/bin make -s -C "$SRC" deb DIST="$PWD/a.tar.gz" DEB="$PWD/deb"; code=$?; ls -d deb a.tar.gz; exit $code
>
2> make deb needs pandoc: apt-get install *
= 2
