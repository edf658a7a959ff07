# the commands of docs/sketches.md run on the dump that the project ships, as printed there, but on one small tensor only
$ grep '^atomo-bench .*lenet' "$SRC/docs/sketches.md" > commands; cd "$SRC" && while read -r line; do sh -c "$line -t '*conv1*' -q" > /dev/null 2> /dev/null </dev/null || echo "fails: $line"; done < "$OLDPWD/commands"; wc -l < "$OLDPWD/commands"
> 9
- fails*
= 0

# every table of it has the same command for its own data
$ grep -c '^    atomo-bench compare resnet18.h5' "$SRC/docs/sketches.md"
> 8
= 0
