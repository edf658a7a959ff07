# paper_seeds.sh -- makes tables of plots/paper.list with two seeds and compares them: sh paper_seeds.sh, with $SRC
#
# Small data, ten repeats. Tables of measured times are left out, and the Pareto front, where uncertain codecs differ by
# seed. So is cas: the seed draws the sample from which it learns its clusters, and its standard errors are those of
# draws with the same clusters. qsgd:code=rans at three bits is left out too: its size is known only from draws, and the number
# of levels next to three bits is 41 by some and 42 by others.
set -e
for seed in 1 2; do
    sed -e '/^compute:/,/^tune-1:/{/^tune-1:/!d}' -e '/^passes:/,/^$/d' -e '/^figure-1:/,/^$/d' -e '/^@pareto:/,/^$/d' -e '/^@verify:/,/^$/d' -e '/^@gradients/,/^$/d' -e '/^million:/,$d' -e '/^    figure /d' \
        -e 's/ -c cas[^ ]*//g' -e "s/\$bench compare /&--seed $seed /" \
        -e "s/--seed \([123]\) --threads 1 --workers 4/--seed $seed\1 --threads 1 --workers 4/" -e 's/--repeats $[a-z_]*/--repeats 10/' \
        "$SRC"/plots/paper.list >list
    PAPER_LIST=list PAPER_PAGE=no PAPER_QUICK=1 PAPER_TRAIN='--dataset mnist --network softmax' \
        sh "$SRC"/plots/paper.sh "$(dirname "$(command -v atomo-bench)")" $seed >log || { cat log; exit 1; }
    mkdir tables$seed
    atomo-bench report $seed/data/errors.json >tables$seed/errors
    # The command of each table is in its LaTeX form.
    for file in $seed/*.tex; do
        name=$(basename $file .tex)
        case $name in *-published) continue ;; esac
        sed -n 's/^% report: \(.*\) --note .*/\1 -f table/p' $file | sh >tables$seed/$name
    done
done
for file in tables1/*; do
    name=$(basename $file)
    sed -i -e /^cas/d -e '/^qsgd:levels=4.*code=rans/d' tables[12]/$name
    echo "$name: $(python3 "$SRC"/test/cli/seeds.py tables[12]/$name 2>&1)"
done
