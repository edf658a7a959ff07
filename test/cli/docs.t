# links between the documents lead to files and headings
? command -v python3
$ python3 "$SRC/test/site.py" "$SRC"
> [1-9][0-9][0-9] links
= 0

# the site: every link and image leads to a file and an anchor of it, every document has a page, the glossary every field and codec
? command -v python3 && command -v pandoc # needs pandoc
$ make -s -C "$SRC" html HTML="$PWD/html" && python3 "$SRC/test/site.py" "$SRC" html
> [1-9][0-9][0-9] links
= 0

# without pandoc the package to install is named
$ mkdir bin; for c in make sh uname git pkg-config gcc cc date sed find; do ln -s "$(command -v $c)" bin; done; PATH=$PWD/bin make -s -C "$SRC" html HTML="$PWD/html"
2> make html needs pandoc: apt-get install pandoc
= 2

# the quick commands of README.md and docs/*.md run; commands.txt names the others, and why
? command -v python3 && command -v bash && ! nm -D "$PUBLIC/libatomo.so" | grep -q asan
$ python3 "$SRC/test/commands.py" "$(dirname "$(command -v atomo-bench)")"
> commands: [3-9][0-9] passed, 0 failed, *
= 0
