# Makefile -- everything, non-recursive. `make help` lists the targets.
#
#   make            builds the programs into build/release/bin/
#   make SAN=1 ...  the same under AddressSanitizer and UBSan, in build/asan/
#   make DEBUG=1    -O0 -g, in build/debug/
#   make V=1        shows the commands

VERSION  := 0.1.0
MODE     := $(if $(SAN),asan,$(if $(DEBUG),debug,release))
B        := build/$(MODE)
CC       ?= gcc
PYTHON   ?= /usr/bin/python3
PKGS     := hdf5-serial openblas lapacke fftw3f
REVISION := $(shell git describe --always --dirty --abbrev=12 2>/dev/null)

# What `make deps` installs: to build, to test, to draw.
DEB_BUILD := gcc make pkg-config libopenblas-dev liblapacke-dev libhdf5-dev libfftw3-dev libcmocka-dev gnuplot-nox

have_pkgs  := $(shell pkg-config --exists $(PKGS) cmocka 2>/dev/null && echo yes)
PKG_CFLAGS := $(if $(have_pkgs),$(shell pkg-config --cflags $(PKGS)))
PKG_LIBS   := $(if $(have_pkgs),$(shell pkg-config --libs $(PKGS)))

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef \
            $(if $(CI),-Werror)
OPTIMISE := $(if $(DEBUG),-O0 -g,$(if $(SAN),-O1 -g,-O3))
SANITISE := $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
, := ,
CFLAGS   ?= $(OPTIMISE)
FLAGS    := -std=c11 -ffp-contract=off -fno-math-errno -fopenmp -D_GNU_SOURCE -Ilib $(WARNINGS) $(SANITISE) $(PKG_CFLAGS)
LIBS     := $(PKG_LIBS) -lm -lpthread

Q        := $(if $(V),,@)
SAY      := @$(if $(V),:,echo)

# Hot loops are compiled once per instruction set; same bytes from each.
ARCH        := $(shell uname -m)
ISAS        := base $(if $(filter x86_64,$(ARCH)),avx2 avx512)
ISA_base    :=
ISA_avx2    := -march=x86-64-v3 -mno-fma
ISA_avx512  := -march=x86-64-v4 -mprefer-vector-width=512

LIB_SRC  := $(sort $(wildcard lib/*.c lib/compress/*.c))
VEC_SRC  := $(sort $(wildcard lib/vec/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(foreach i,$(ISAS),$(VEC_SRC:%.c=$(B)/%.$(i).o))
BENCH_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard cmd/atomo-bench.c cmd/bench_*.c)))
TESTS    := $(patsubst test/%.c,$(B)/test/%,$(sort $(wildcard test/test_*.c)))
PROGRAMS := $(B)/bin/atomo-bench

.PHONY: all check demo bench fuzz golden format lint depcheck coverage docs deps clean help tests
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAMS)

$(B)/bin/atomo-bench: $(BENCH_OBJ) $(B)/libatomo.a
	@mkdir -p $(@D)
	$(SAY) LD $@
	$(Q)$(CC) $(SANITISE) -fopenmp $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/libatomo.a: $(LIB_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

define vec_rule
$(B)/lib/vec/%.$(1).o: lib/vec/%.c
	@mkdir -p $$(@D)
	$(SAY) "CC $$< ($(1))"
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) $(ISA_$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach i,$(ISAS),$(eval $(call vec_rule,$(i))))

$(B)/lib/report_meta.o: FLAGS += -DATOMO_VERSION='"$(VERSION)"' -DATOMO_REVISION='"$(REVISION)"'

$(B)/test/%: test/%.c $(B)/libatomo.a
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -MF $@.d -o $@ $< $(B)/libatomo.a $(LIBS) -lcmocka

tests: $(TESTS)

check: all tests
	@for t in $(TESTS); do echo "== $$t"; $$t || exit 1; done

clean:
	rm -rf build

-include $(shell find build -name '*.d' 2>/dev/null)
