#!/bin/sh
# tiny.sh -- makes 600 training and 100 test images of MNIST's shape in datasets/mnist, for cases that need a small
# data set. The pixels are bytes of the gradient file that the project ships; the labels are 0 to 9, repeated.
# With an argument, that file too, as safetensors, which commands read in half of the time, without the HDF5 library.
set -e
to=datasets/mnist
mkdir -p $to
[ $# = 0 ] || { atomo-bench convert -q "$SRC"/datasets/lenet-mnist.h5 dump.safetensors >/dev/null && mv dump.safetensors datasets/lenet-mnist.h5; }
pixels() { head -c "$1" "$SRC"/datasets/lenet-mnist.h5; }
# shellcheck disable=SC2046  # a word for each ten labels
labels() { printf '\000\001\002\003\004\005\006\007\010\011%.0s' $(seq "$1"); }
{ printf '\000\000\010\003\000\000\002\130\000\000\000\034\000\000\000\034'; pixels 470400; } >$to/train-images-idx3-ubyte
{ printf '\000\000\010\001\000\000\002\130'; labels 60; } >$to/train-labels-idx1-ubyte
{ printf '\000\000\010\003\000\000\000\144\000\000\000\034\000\000\000\034'; pixels 78400; } >$to/t10k-images-idx3-ubyte
{ printf '\000\000\010\001\000\000\000\144'; labels 10; } >$to/t10k-labels-idx1-ubyte
