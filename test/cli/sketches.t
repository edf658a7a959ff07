# the commands of docs/sketches.md run as printed in that document, on one small tensor of the dump that the project ships
$ grep '^atomo-bench .*lenet' "$SRC/docs/sketches.md" > commands; cd "$SRC" && while read -r line; do sh -c "$line -t '*conv1*' -q" > /dev/null 2> /dev/null </dev/null || echo "fails: $line"; done < "$OLDPWD/commands"; wc -l < "$OLDPWD/commands"
> 8
- fails*
= 0

# every table of docs/sketches.md has the same command for the reader's own data
$ grep -c '^    atomo-bench compare resnet18.h5' "$SRC/docs/sketches.md"
> 7
= 0
