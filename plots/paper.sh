#!/bin/sh
# paper.sh -- makes the figures and tables of plots/paper.list: sh plots/paper.sh BIN_DIRECTORY [OUTPUT_DIRECTORY]
#
# Runs one command after another, so that training does not disturb timings. Keeps a file that the same command made if
# no input or program is newer. Names a command that fails, with its log, and runs the others.
# Environment: DATA=full adds published data sets and other dumps in the folder DATASETS (default datasets);
# PAPER_QUICK=1 tests all commands on small data; PAPER_TRAIN is added to each training command; PAPER_LIST is the
# list, PAPER_PAGE=no leaves out report.html, PAPER_HEADING is the heading, PAPER_DUMPS the dumps in OUTPUT_DIRECTORY/data that it makes for its @NAMEs; STEPS is the length of the runs of plots/resnet.list.
set -u
export LC_ALL=C
bin=${1:?usage: paper.sh BIN_DIRECTORY [OUTPUT_DIRECTORY]} out=${2:-build/paper}
list=${PAPER_LIST:-$(dirname "$0")/paper.list}
datasets=${DATASETS:-datasets}
shipped=$datasets/lenet-mnist.h5
[ -f "$shipped" ] || shipped=$(dirname "$0")/../datasets/lenet-mnist.h5
case "$0$bin$out$list$datasets" in *[\'\ ]*) echo "paper: a path must not hold a quote or a blank; relative paths may help" >&2; exit 2 ;; esac
case ${DATA:-ready} in
ready) dumps= ;;
full) dumps='resnet18-cifar10:linear.weight charlm-shakespeare:pos.weight' ;;
*) echo "paper: DATA=$DATA: want ready or full" >&2; exit 2 ;;
esac

# ---- the variables in the list ----

bench=$bin/atomo-bench data=$out/data more=${PAPER_TRAIN:-} plots=$(dirname "$0") published=$(dirname "$0")/published
# The codecs of plots/results.list: all; in figures; in training, where biased ones need error feedback.
field='-c qsgd:code=rans -c qsgd -c terngrad:code=rans -c nuqsgd:code=rans -c zipml -c minmax -c entry -c randk -c svd'
field="$field -c wavelet -c hadamard -c dct -c fourier -c topk -c stc -c sidco -c dgc -c powersgd -c lowrank -c scaledsign -c onebit"
field="$field -c eden -c rotated -c thc -c intsgd -c countsketch -c cas"
drawn='-c qsgd:code=rans -c entry -c svd -c topk -c stc -c powersgd -c eden -c rotated -c minmax -c randk'
trained='-c qsgd:code=rans -c entry -c svd -c eden -c ef+topk -c ef+stc -c ef+powersgd -c ef+scaledsign'
if [ -n "${PAPER_QUICK:-}" ]; then
    field='-c qsgd:code=rans -c topk -c scaledsign' drawn='-c qsgd:code=rans -c topk' trained='-c entry -c ef+topk'
    repeats=1 few=2 few_repeats=1 cost_repeats=1 most_workers=8 million=1000
    # each figure has the mark above its key, each table in a last column
    quick_mark='quick test on small data, the numbers mean nothing' marked=" --note '$quick_mark'" titled=" --title '$quick_mark'"
    small='--network softmax'
    steps=4 eval=2 tune_steps=1 points=2 five=2 thousand=4 quarter=1 fifty=2 hundred=2 pass_steps=3 pass_freq=2 epochs=1 full_eval=2 full_points=2
    own_step=3 own_sgd=4 own_gpt=2 own_batch=4 mean_of=2
    today='--network gpt:layers=2,heads=2,width=32,context=32 --max-steps 240 --lr-warmup 24 --lr-cosine 240'
    train_images=16 test_images=8 resnet_dump=2 resnet_every=1 resnet_steps=2 resnet_eval=1 reduced= reduced_gradient=
else
    marked= titled= small=
    repeats=3 few=100 few_repeats=3 cost_repeats=5 most_workers=512 million=1000000
    steps=400 eval=40 tune_steps=100 points=6 five=5 thousand=1000 quarter=250 fifty=50 hundred=100 pass_steps=1877 pass_freq=469 epochs=20 full_eval=390 full_points=11
    own_step=61 own_sgd=400 own_gpt=1000 own_batch=64 mean_of=16
    today='--network gpt-nano --max-steps 960 --lr-warmup 96 --lr-cosine 960'
    train_images=2000 test_images=500 resnet_dump=31 resnet_every=30 resnet_steps=${STEPS:-80} resnet_eval=20
    reduced_gradient="--title 'step 31 on 2,000 images of CIFAR-10; compute: 16 images on one core of this machine'"
    reduced="--title '2,000 images of CIFAR-10, $resnet_steps steps of 64 images, 4 workers, 1 seed'"
fi
paired=metric,result,result_against,difference,interval,difference_p,difference_p_holm,differs
paper_codecs='-c none -c svd:rank=1/2/3/4 -c qsgd:bits=1/2/4/8 -c terngrad'
resnet_codecs='-c none -c svd:rank=3 -c qsgd:bits=4 -c terngrad'
# The runs of plots/today.list.
today="$today --workers 4 --batch-size 24 --eval-freq 0 --threads 1 --weight-decay 0.1"
adamw='--optimizer adamw --lr 3e-3 --lr-min 3e-4 --beta2 0.99 --clip-norm 1'
muon='--optimizer muon --lr 0.02 --lr-other 3e-3 --lr-min 2e-3 --beta2 0.99 --clip-norm 1'
outer='--outer-lr 0.7 --outer-momentum 0.9' streaming='--local-steps 30 --fragments 3 --overlap-steps 1 --mix 0.5 --outer-lr 0.4 --outer-momentum 0.9'
two=ef:decay=0.9+zipml:levels=4,bucket=0,solver=statistical loco=ef:decay=0.95+chunktopk:k=64,values=2bit
sized=bits_per_element,bits_per_element_expected,relative_error,relative_error_se,relative_error_expected
sketches='-c cas -c qsgd:code=rans -c qsgd:code=rans,norm=linf -c terngrad -c countsketch -c countmin'
compared=bits_per_element,bits_per_element_se,relative_error,relative_error_se,relative_error_expected,wasserstein_mean,wasserstein_mean_se
with_errors=bytes,bytes_se,bytes_expected,bytes_expected_se,relative_error,relative_error_se,relative_error_expected
for one in elem_error elem_error_big elem_error_small elem_error_pos elem_error_neg; do
    with_errors=$with_errors,$one,${one}_se
done
elements='-c svd:rank=1/2 -c qsgd:bits=2,code=fixed -c cas:clusters=5'
elements="$elements --metrics $with_errors"
beside_error='compressor,setting,relative_error,published relative_error,corrected relative_error,cause'
beside_error="$beside_error,wasserstein_mean,published wasserstein,bits_per_element,reached,method,how,place"
beside_elements='compressor,elem_error_big,published elem_error_big,elem_error_small,published elem_error_small'
beside_elements="$beside_elements,bytes,published bytes,cause,relative_error,elem_error_pos,elem_error_neg,setting,how,place"

# ResNet-18's parameters for ten classes: 11,173,962, in 62 tensors.
resnet18='--shape 64x3x3x3 --shape 64 --shape 64'
conv() { resnet18="$resnet18 --shape $1x$2x$3x$3 --shape $1 --shape $1"; }
from=64
for width in 64 128 256 512; do
    conv $width $from 3
    conv $width $width 3
    [ $from = $width ] || conv $width $from 1
    conv $width $width 3
    conv $width $width 3
    from=$width
done
resnet18="$resnet18 --shape 10x512 --shape 10"
[ -z "${PAPER_QUICK:-}" ] || resnet18='--shape 64x64x3x3 --shape 64'

# ---- a step: one command, one output ----

failed=0 undrawn=0 newline='
'
mkdir -p "$data" "$out/log" "$out/.made" || exit 1

# Whether the command $2 has already made $1, and none of its inputs is newer.
made() {
    stamp=$out/.made/$1
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$2" ] || return 1
    for word in $2; do
        case $word in
        "$out"/*) [ -e "$word" ] || return 1 ;;
        esac
        [ -d "$word" ] && [ -n "$(find "$word" -newer "$stamp")" ] && return 1
        [ -f "$word" ] && [ "$word" -nt "$stamp" ] && return 1
    done
    return 0
}

step() { # NAME COMMAND
    made "$1" "$2" && return
    did=yes
    rm -f "$out/.made/$1"
    code=0
    sh -c "$2 -q" >"$out/log/$1.log" 2>&1 </dev/null || code=$?
    if [ $code = 0 ]; then
        printf '%s\n' "$2" >"$out/.made/$1"
        return
    fi
    [ $code = 130 ] && stop
    failed=$((failed + 1)) bad=yes
    echo "$name: FAILED, exit code $code: $out/log/$1.log" >&2
    tail -n 2 "$out/log/$1.log" | sed 's/^/    /' >&2
}

stop() {
    echo "paper: stopped; the same command goes on from here" >&2
    exit 130
}
trap stop INT TERM

# ---- a line of the list ----

# Replaces the variables in a line; keeps quotes and globs.
worded() { eval "cat <<END
$1
END"; }

note() { printf '%s\n' "$1" >>"$out/$name.sh.new"; }

each() { # NAME COMMAND: adds the command to NAME.sh and runs it
    note "$2"
    [ -n "$bad" ] || step "$1" "$2"
}

line_data() {
    case $1 in *' -o '*) each "$name" "$1" ;; *) each "$name" "$1 --force -o $data/$name.json" ;; esac
    source=$name
}

line_from() {
    source=$1
    case $list_name in @*) source=$1$suffix ;; esac
    sed '/^#/d' "$out/$source.sh" >>"$out/$name.sh.new"
    [ -f "$out/.made/$source" ] || [ -f "$out/.made/$source.json" ] || bad=yes
}

tables() { # RESULT OPTIONS [OPTIONS_OF_TEX]
    for ending in csv tex; do
        files="$files $name.$ending"
        [ $ending = csv ] && own= || own=${3:+ $3}
        each "$name.$ending" "$bench report $1 $2$own$marked --force -o $out/$name.$ending"
    done
}

line_across() { # FIELD COLUMNS [OPTION]
    rest=${1#* }
    case $rest in *' '*) more_options=${rest#* } ;; *) more_options= ;; esac
    files="$files $name.csv $name.tex"
    each "$name.json" "sh $plots/tables.sh across $bench $data/$source.json ${1%% *} $out/$name.json --columns ${rest%% *} $more_options"
    each "$name.csv" "$bench report $out/$name.json --all$marked --force -o $out/$name.csv"
    each "$name.tex" "$bench report $out/$name.json$marked --force -o $out/$name.tex"
}

# Means over the seeds: of results that have the NAMEs of other stanzas.
line_seeds() { # JOB NAME... [OPTION]...
    results= more_options= kind=${1%% *}
    for word in ${1#* }; do
        case $more_options$word in -*) more_options="$more_options$word " ;; *) results="$results $data/$word.json" ;; esac
    done
    each "$name.json" "sh $plots/tables.sh $kind $bench $data/$name.json$results"
    source=$name
    case $kind in
    paired-*) tables "$data/$name.json" --all "$more_options" ;;
    *) tables "$data/$name.json" "$more_options" ;;
    esac
}

# Writes the published values into the folder of the page's data, too.
line_beside() { # FILE ON COLUMNS [OPTION]
    rest=${1#* } joined=$data/${name%-published}-published.json
    on=${rest%% *} rest=${rest#* }
    columns=${rest#\'} more_options=
    columns=${columns%%\'*}
    case $rest in *"' "*) more_options=${rest#*"' "} ;; esac
    each "${name%-published}-published.json" \
        "sh $plots/tables.sh beside $bench $data/$source.json $published/${1%% *} $on '$columns' $joined $more_options"
    files="$files $name.csv $name.tex"
    each "$name.csv" "$bench report $joined --all$marked --force -o $out/$name.csv"
    each "$name.tex" "$bench report $joined --columns '$columns'$marked --force -o $out/$name.tex"
}

line_published() {
    each "${name%-published}-published.json" "$bench report $published/$1 --force -o $data/${name%-published}-published.json"
    mark=$marked marked= # the published values mean something in a quick test, too
    tables "$published/$1" ''
    marked=$mark
}

line_figure() {
    for ending in pdf svg; do
        files="$files $name.$ending"
        command="$bench plot ${1%% *} $data/$source.json$titled"
        [ "${1%% *}" = "$1" ] || command="$command ${1#* }"
        if command -v gnuplot >/dev/null; then
            each "$name.$ending" "$command --force -o $out/$name.$ending"
        else
            note "$command -o $out/$name.$ending"
            undrawn=$((undrawn + 1))
            echo "$name.$ending: not drawn: gnuplot is not here (the package gnuplot-nox)" >&2
        fi
    done
}

line_text() { text="$text$1$newline"; }

line_table() { tables "$data/$source.json" "$1"; }

# ---- a stanza ----

begin() { # NAME TITLE
    end
    list_name=$1 title=$2
    name=${1#@} bad= did= files= source= left= text=
    case $1 in @*) name=$name$suffix ;; *) [ -z "$suffix" ] || left=yes ;; esac
    [ -n "$left" ] && return
    started=$(date +%s)
    printf '%s\n' "# $title" >"$out/$name.sh.new"
}

end() {
    [ -n "$name" ] && [ -z "$left" ] || { name=; return; }
    mv "$out/$name.sh.new" "$out/$name.sh"
    [ -n "$bad" ] || [ -z "$did" ] || echo "$name: $(($(date +%s) - started)) s"
    [ -n "$bad" ] || [ -n "$did" ] || echo "$name: as it was"
    {
        printf '## %s\n\n%s.\n\n' "$name" "$title"
        [ -z "$text" ] || printf '%s\n' "$text"
        for file in $files; do
            [ -f "$out/$file" ] && printf '[%s](%s) ' "$file" "$file" || printf '%s (missing) ' "$file"
        done
        printf '\n\n'
        [ ! -f "$out/$name.svg" ] || printf '![%s](%s.svg)\n\n' "$title" "$name"
        sed -e '/^#/d' -e 's/^/    /' "$out/$name.sh"
        printf '\n'
    } >>"$out/index.new"
    name=
}

leave() {
    left=yes
    rm -f "$out/$name.sh.new"
}

needs() {
    if [ "${DATA:-ready}" = ready ]; then
        leave
    elif [ ! -e "$datasets/$1" ]; then
        leave
        echo "$name: left out: $datasets/$1 is not there"
    fi
}

stanzas() { # SUFFIX DUMP TENSOR STEP: TENSOR is a small one for quick runs; STEP selects one of several steps
    suffix=$1 dump=$2 name= pick= one_step=${4:+"--step '$4'"}
    [ -z "${PAPER_QUICK:-}" ] || pick="-t '$3'"
    while IFS= read -r line; do
        case $line in
        '' | '#'*) ;;
        '    '*)
            line=${line#    }
            [ -z "$left" ] || continue
            case $line in
            'needs '*) needs "${line#needs }" ;;
            'not '*) [ "$suffix" != "-${line#not }" ] || leave ;;
            'table' | 'text') "line_$line" '' ;;
            *) "line_${line%% *}" "$(worded "${line#* }")" ;;
            esac ;;
        *) begin "${line%%:*}" "${line#*: }" ;;
        esac
    done <"$list"
    end
}

page=report.html
[ "${PAPER_PAGE:-}" != no ] || page=
heading=${PAPER_HEADING:-Figures and tables of the paper}
[ -z "${PAPER_QUICK:-}" ] || heading="$heading: $quick_mark"
{
    echo "# $heading"
    echo
    echo "Each under the commands that make it, which NAME.sh holds, too, to be run from the folder where make paper ran.${page:+ All results on one page: [$page]($page).}"
    echo
} >"$out/index.new"
name='' left=''
stanzas '' "$shipped" fc2.weight '*1000'
for one in ${PAPER_DUMPS:-}; do
    [ ! -f "$data/$one.h5" ] || stanzas "-$one" "$data/$one.h5" '*' "*_*$own_step"
done
for one in $dumps; do
    other=${one%:*}
    if [ -f "$datasets/$other.h5" ]; then
        stanzas "-$other" "$datasets/$other.h5" "${one#*:}" ''
    else
        echo "$other: left out: $datasets/$other.h5 is not there"
    fi
done
mv "$out/index.new" "$out/index.md"
name=report bad=''
[ -z "$page" ] || step $page "$bench report $data --title '$heading' --force -o $out/$page"
echo "paper: $out/index.md${page:+, $out/$page}"
[ $failed -eq 0 ] || echo "paper: $failed steps failed" >&2
[ $failed -eq 0 ] && [ $undrawn -eq 0 ]
