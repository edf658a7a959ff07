unity.o: /tmp/unity.c lib/math/vec/vec.h lib/math/vec/kernels.h lib/base/bits.h \
 lib/base/bytes.h lib/base/base.h lib/base/coin.h lib/base/rng.h \
 lib/base/parallel.h lib/math/vec/ladder.h lib/math/vec/quantise.h \
 lib/math/vec/kernels_list.h lib/math/vec/adder_vec.c lib/math/vec/addup_vec.c \
 lib/math/vec/census_vec.c lib/math/vec/lane.h lib/math/vec/classes_vec.c lib/math/vec/pen.h \
 lib/math/vec/clusters_vec.c lib/math/vec/entries_vec.c lib/math/vec/grades_vec.c \
 lib/math/vec/gram_vec.c lib/math/vec/turn.h lib/math/vec/hadamard_vec.c \
 lib/math/vec/half_vec.c lib/math/vec/knots_vec.c lib/math/vec/ladder_vec.c \
 lib/math/vec/mark_vec.c lib/math/vec/measure_vec.c lib/math/vec/picks_vec.c \
 lib/math/vec/planes_vec.c lib/math/vec/powers_vec.c lib/math/vec/quantise_vec.c \
 lib/math/vec/rans_vec.c lib/math/vec/rotate_vec.c lib/math/vec/scaled_vec.c \
 lib/math/vec/sift_vec.c lib/math/vec/signs_vec.c lib/math/vec/sketch_vec.c \
 lib/math/vec/sort_vec.c lib/math/vec/spectral_vec.c lib/math/vec/sums_vec.c \
 lib/math/vec/thin_vec.c lib/math/vec/trits_vec.c lib/math/vec/wavelet_vec.c
lib/math/vec/vec.h:
lib/math/vec/kernels.h:
lib/base/bits.h:
lib/base/bytes.h:
lib/base/base.h:
lib/base/coin.h:
lib/base/rng.h:
lib/base/parallel.h:
lib/math/vec/ladder.h:
lib/math/vec/quantise.h:
lib/math/vec/kernels_list.h:
lib/math/vec/adder_vec.c:
lib/math/vec/addup_vec.c:
lib/math/vec/census_vec.c:
lib/math/vec/lane.h:
lib/math/vec/classes_vec.c:
lib/math/vec/pen.h:
lib/math/vec/clusters_vec.c:
lib/math/vec/entries_vec.c:
lib/math/vec/grades_vec.c:
lib/math/vec/gram_vec.c:
lib/math/vec/turn.h:
lib/math/vec/hadamard_vec.c:
lib/math/vec/half_vec.c:
lib/math/vec/knots_vec.c:
lib/math/vec/ladder_vec.c:
lib/math/vec/mark_vec.c:
lib/math/vec/measure_vec.c:
lib/math/vec/picks_vec.c:
lib/math/vec/planes_vec.c:
lib/math/vec/powers_vec.c:
lib/math/vec/quantise_vec.c:
lib/math/vec/rans_vec.c:
lib/math/vec/rotate_vec.c:
lib/math/vec/scaled_vec.c:
lib/math/vec/sift_vec.c:
lib/math/vec/signs_vec.c:
lib/math/vec/sketch_vec.c:
lib/math/vec/sort_vec.c:
lib/math/vec/spectral_vec.c:
lib/math/vec/sums_vec.c:
lib/math/vec/thin_vec.c:
lib/math/vec/trits_vec.c:
lib/math/vec/wavelet_vec.c:
