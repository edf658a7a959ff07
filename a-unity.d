unity.o: /tmp/unity.c lib/vec/vec.h lib/vec/kernels.h lib/base/bits.h \
 lib/base/bytes.h lib/base/base.h lib/base/coin.h lib/base/rng.h \
 lib/base/parallel.h lib/vec/ladder.h lib/vec/quantise.h \
 lib/vec/kernels_list.h lib/vec/adder_vec.c lib/vec/addup_vec.c \
 lib/vec/census_vec.c lib/vec/lane.h lib/vec/classes_vec.c lib/vec/pen.h \
 lib/vec/clusters_vec.c lib/vec/entries_vec.c lib/vec/grades_vec.c \
 lib/vec/gram_vec.c lib/vec/turn.h lib/vec/hadamard_vec.c \
 lib/vec/half_vec.c lib/vec/knots_vec.c lib/vec/ladder_vec.c \
 lib/vec/mark_vec.c lib/vec/measure_vec.c lib/vec/picks_vec.c \
 lib/vec/planes_vec.c lib/vec/powers_vec.c lib/vec/quantise_vec.c \
 lib/vec/rans_vec.c lib/vec/rotate_vec.c lib/vec/scaled_vec.c \
 lib/vec/sift_vec.c lib/vec/signs_vec.c lib/vec/sketch_vec.c \
 lib/vec/sort_vec.c lib/vec/spectral_vec.c lib/vec/sums_vec.c \
 lib/vec/thin_vec.c lib/vec/trits_vec.c lib/vec/wavelet_vec.c
lib/vec/vec.h:
lib/vec/kernels.h:
lib/base/bits.h:
lib/base/bytes.h:
lib/base/base.h:
lib/base/coin.h:
lib/base/rng.h:
lib/base/parallel.h:
lib/vec/ladder.h:
lib/vec/quantise.h:
lib/vec/kernels_list.h:
lib/vec/adder_vec.c:
lib/vec/addup_vec.c:
lib/vec/census_vec.c:
lib/vec/lane.h:
lib/vec/classes_vec.c:
lib/vec/pen.h:
lib/vec/clusters_vec.c:
lib/vec/entries_vec.c:
lib/vec/grades_vec.c:
lib/vec/gram_vec.c:
lib/vec/turn.h:
lib/vec/hadamard_vec.c:
lib/vec/half_vec.c:
lib/vec/knots_vec.c:
lib/vec/ladder_vec.c:
lib/vec/mark_vec.c:
lib/vec/measure_vec.c:
lib/vec/picks_vec.c:
lib/vec/planes_vec.c:
lib/vec/powers_vec.c:
lib/vec/quantise_vec.c:
lib/vec/rans_vec.c:
lib/vec/rotate_vec.c:
lib/vec/scaled_vec.c:
lib/vec/sift_vec.c:
lib/vec/signs_vec.c:
lib/vec/sketch_vec.c:
lib/vec/sort_vec.c:
lib/vec/spectral_vec.c:
lib/vec/sums_vec.c:
lib/vec/thin_vec.c:
lib/vec/trits_vec.c:
lib/vec/wavelet_vec.c:
