#!/bin/sh
# loaded.sh READELF NAME=LINKED... -- prints, as a C header, the table of the libraries that the programs load: NAME_FILE, the
# file's name (soname), and NAME_PACKAGE, the package to install where it is missing. LINKED is a file that the build has
# linked to the library alone. Where dpkg does not know the package, the table says "the package of FILE".
readelf=${1:?usage: loaded.sh READELF NAME=LINKED...}
shift

row() { # arguments: NAME, the file's name, the package if dpkg does not know it
    package=$(dpkg -S "*/$2" 2>/dev/null | sed -n '/^diversion/d; s/^\([^:,]*\)[:,].*/\1/p' | head -n 1)
    printf '#define %s_FILE "%s"\n#define %s_PACKAGE "%s"\n' "$1" "$2" "$1" "${package:-$3}"
}

for pair; do
    name=${pair%%=*} word=$(echo "${pair%%=*}" | tr '[:upper:]' '[:lower:]')
    file=$("$readelf" -d "${pair#*=}" | sed -n "s/.*NEEDED.*\[\(lib${word}[^]]*\)\].*/\1/p" | head -n 1)
    [ -n "$file" ] || { echo "${pair#*=}: readelf finds no library $word in it" >&2; exit 1; }
    row "$name" "$file" "the package of $file"
done
row OPENBLAS libopenblas.so.0 libopenblas0-pthread # the build links nothing to it
