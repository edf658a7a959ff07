#!/bin/sh
# build.sh OUT VERSION -- writes the documentation as a static site: a page for each file in docs/*.md and docs/generated/*.md, README.md, CHANGELOG.md and
# lib/README.md, with the files that they link to. index.html is README.md. Needs pandoc; run from the top of the source tree.
out=${1:?usage: build.sh OUT VERSION} version=$2
set -e
rm -rf "$out"
mkdir -p "$out/datasets" "$out/plots"

# The glossary ends with the compressors and the fields, from the pages that the programs write.
glossary() {
    cat docs/glossary.md
    printf '\n## Compressors\n\n| compressor | what it does |\n|---|---|\n'
    awk '/^# Names/ {exit} /^## / {name = $2; next}
         name && NF {gsub(/[|]/, "\\\\|"); print "| [`" name "`](generated/compressors.md#" name ") | " $0 " |"; name = ""}' docs/generated/compressors.md
    printf '\n## Fields of results\n\n'
    sed -n '/^|/p' docs/generated/metrics.md
}

page() { # arguments: file, page, folder of the file
    pandoc -f gfm -t html5 --template docs/site/template.html --lua-filter docs/site/links.lua --standalone --toc --toc-depth 2 \
        -V at="$3" -V version="$version" -o "$out/$2" "$1"
}

echo 'const places = [' >"$out/search.js"
for file in docs/*.md docs/generated/*.md; do
    case $file in
    docs/glossary.md) glossary >"$out/glossary.md" && page "$out/glossary.md" glossary.html docs/ && rm "$out/glossary.md" ;;
    *) page "$file" "$(basename "$file" .md).html" "$(dirname "$file")/" ;;
    esac
done
page README.md index.html ''
page CHANGELOG.md changelog.html ''
page lib/README.md lib.html lib/
{ echo '];'; cat docs/site/search.js; } >>"$out/search.js"
cp docs/site/site.css docs/generated/performance.json docs/results.json docs/CITATION.cff LICENSE "$out"
cp -r docs/figures "$out"
cp datasets/dump_torch.py "$out/datasets"
cp plots/paper.list "$out/plots"
