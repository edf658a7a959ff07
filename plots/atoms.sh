#!/bin/sh
# atoms.sh -- the tables of section 7 of docs/atomo.md, variance over |g|^2 of three gradients: sh plots/atoms.sh budget|vectors
#
# budget: at one bit per element, with one ratio for all tensors and with one budget. vectors: with rounded singular vectors, in the expected
# bytes of svd:rank=1. The dumps of ResNet-18 and of the transformer are resnet18.h5 and charlm.h5, in this folder.
set -eu

# The field $2 of the rows that `compare $1` prints.
values() { # arguments of compare, field
    atomo-bench compare $1 --repeats 3 -q --force -o atoms.json
    atomo-bench report atoms.json --columns "$2" -f csv | tail -n +2
}

row() { # name of the gradient, values, one a line
    printf '| %s' "$1"
    printf '%s\n' "$2" | while read -r v; do awk -v v="$v" 'BEGIN { s = sprintf("%#.2g", v); sub(/\.$/, "", s); printf " | %s", s }'; done
    echo ' |'
}

each() { # function
    "$1" 'LeNet, MNIST' datasets/lenet-mnist.h5
    "$1" 'ResNet-18, CIFAR-10' resnet18.h5
    "$1" 'a transformer on characters' charlm.h5
}

budget() {
    row "$1" "$(values "$2 --equal-bits 1 -c entry -c joint+entry -c joint --metrics relative_error_expected" relative_error_expected)"
}

vectors() {
    bits=$(values "$2 -c svd:rank=1 --metrics bits_per_element_expected" bits_per_element_expected)
    row "$1" "$(values "$2 -c svd:rank=1 --metrics relative_error_expected" relative_error_expected
        values "$2 --equal-bits $bits -c svd:vectors=bf16 -c svd:vectors=qsgd -c svd:vectors=qsgd,vbits=6 -c svd:vectors=qsgd,vbits=4 --metrics relative_error_expected" relative_error_expected)"
}

case $1 in
budget) printf '| gradient | `entry`, one ratio for all | `joint+entry` | `joint` |\n|---|---|---|---|\n' ;;
vectors) printf '| gradient | `svd:rank=1` | `vectors=bf16` | `vectors=qsgd` | `vectors=qsgd,vbits=6` | `vectors=qsgd,vbits=4` |\n|---|---|---|---|---|---|\n' ;;
esac
each "$1"
