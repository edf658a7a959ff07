# Makefile -- builds and tests everything, without recursion. `make help` lists the targets.
#
#   make            builds the programs into build/release/bin/
#   make SAN=1 ...  the same under AddressSanitizer and UBSan, in build/asan/
#   make DEBUG=1    -O0 -g, in build/debug/
#   make V=1        shows the commands

VERSION  := 1.0.0
MODE     := $(if $(SAN),asan,$(if $(DEBUG),debug,release))
B        := build/$(MODE)
CC       ?= gcc
PYTHON   ?= $(firstword $(wildcard /usr/bin/python3) python3)
PKGS     := hdf5-serial fftw3f libzstd blosc zlib libseccomp
HEADERS  := dnnl.h
REVISION := $(or $(REVISION),$(shell git describe --always --dirty --abbrev=12 2>/dev/null))

# The Debian packages that `make deps` installs: to build, to test, and to draw figures.
DEB_BUILD := gcc make pkg-config libhdf5-dev libfftw3-dev libzstd-dev libblosc-dev \
             zlib1g-dev libseccomp-dev libdnnl-dev libopenblas0-pthread libcmocka-dev gnuplot-nox \
             libzfp-dev libfpzip-dev python3
DEB_MPI   := libopenmpi-dev openmpi-bin

have_cc    := $(shell $(CC) --version >/dev/null 2>&1 && echo yes)
have_pkgs  := $(shell pkg-config --exists $(PKGS) 2>/dev/null && echo yes)
have_heads := $(shell printf '\043include <%s>\n' $(HEADERS) | $(CC) -E - >/dev/null 2>&1 && echo yes)
ABSENT     := $(strip $(if $(have_cc),,$(CC)) $(if $(have_cc),$(if $(have_heads),,$(HEADERS))) \
              $(if $(have_pkgs),,$(shell for p in $(PKGS); do pkg-config --exists $$p 2>/dev/null || echo $$p; done)))
# These targets build nothing, or run `make deps` first.
NEED_NONE  := deps deps-mpi check demo paper paper-resnet has-cifar10 help clean dist tarball deb deb-check html format lint depcheck uninstall mutants-fresh
ifneq ($(ABSENT),)
ifneq ($(if $(MAKECMDGOALS),$(filter-out $(NEED_NONE),$(MAKECMDGOALS)),all),)
$(error not found: $(ABSENT); "make deps" installs the missing packages)
endif
endif
# MPI is used if pkg-config finds it; `make MPI=` builds without. Both assignments, as `?=` alone would search at each use.
MPI        ?= $(firstword $(foreach p,ompi-c mpi-c mpich,$(shell pkg-config --exists $p 2>/dev/null && echo $p)))
MPI        := $(MPI)
MPI_CFLAGS := $(if $(MPI),-DATOMO_MPI $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(MPI))))
MPI_LIBS   := $(if $(MPI),$(shell pkg-config --libs $(MPI)))
# The codecs zfp and fpzip are in the build if the headers of their libraries are found; `make SCIENCE=` builds without.
SCIENCE    ?= $(foreach l,zfp fpzip,$(if $(shell printf '\043include <%s.h>\n' $l | $(CC) -E - >/dev/null 2>&1 && echo yes),$l))
SCIENCE := $(SCIENCE)
SCIENCE_FLAGS := $(if $(filter zfp,$(SCIENCE)),-DATOMO_ZFP) $(if $(filter fpzip,$(SCIENCE)),-DATOMO_FPZIP)
PKG_CFLAGS := $(if $(have_pkgs),$(shell pkg-config --cflags $(PKGS)))
# The programs load these libraries, and MPI, only where they need them (lib/base/dynamic.h).
LOADED     := hdf5-serial
PKG_LIBS   := $(if $(have_pkgs),$(shell pkg-config --libs $(filter-out $(LOADED),$(PKGS))))
TEST_LIBS  := $(if $(have_pkgs),$(shell pkg-config --libs $(LOADED))) $(MPI_LIBS) -lcmocka

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef \
            $(if $(CI),-Werror)
OPTIMISE := $(if $(DEBUG),-O0 -g,$(if $(SAN),-O1 -g,-O3))
, := ,
SANITISE := $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS   ?= $(OPTIMISE)
ARCH     := $(shell uname -m)
# On s390x, C11 without this computes floats in double precision, and payloads would differ.
EXCESS   := $(if $(filter s390x,$(ARCH)),-fexcess-precision=fast)
FLAGS    := -std=c11 $(EXCESS) -ffp-contract=off -fno-math-errno -pthread -fPIC -fvisibility=hidden -D_GNU_SOURCE -Ilib $(WARNINGS) $(SANITISE) $(PKG_CFLAGS)
NN_FLAGS := -ffp-contract=fast -fno-trapping-math
# gcc 12 for aarch64 ends with an internal error where it vectorises a loop with fmax, and tests have such loops.
TEST_FLAGS := -Itest $(if $(filter aarch64,$(ARCH)),-fno-tree-loop-vectorize)
# With --as-needed, a program loads only the libraries whose functions it calls.
LIBS     := -Wl,--as-needed $(PKG_LIBS) $(SCIENCE:%=-l%) -ldnnl -lgomp -lm -lpthread -ldl

Q        := $(if $(V),,@)
SAY      := @$(if $(V),:,echo)

# Hot loops (*_vec.c) are compiled once per instruction set, and give the same bytes on each.
ISAS        := base $(if $(filter x86_64,$(ARCH)),avx2 avx512)
ISA_base    :=
ISA_avx2    := -march=x86-64-v3
ISA_avx512  := -march=x86-64-v4 -mprefer-vector-width=512

# Every object depends on $(B)/flags, which is rewritten only when these flags change. Warnings and the name of the
# compiler (cc, gcc, ccache gcc) change no object.
COMPILER  := $(shell $(CC) --version 2>/dev/null | sed -n '1s/^[^ ]*//p')
ALL_FLAGS := $(filter-out -W%,$(COMPILER) $(FLAGS) $(CFLAGS) $(CPPFLAGS) $(foreach i,$(ISAS),$(i) $(ISA_$(i))) $(NN_FLAGS) $(TEST_FLAGS))

VEC_SRC  := $(sort $(wildcard lib/vec/*_vec.c))
NN_SRC   := $(sort $(wildcard lib/nn/vec/*_vec.c))
NO_SRC   := $(foreach l,$(filter-out $(SCIENCE),zfp fpzip),lib/compress/science/$l.c)
LIB_SRC  := $(sort $(filter-out %_vec.c $(NO_SRC),$(shell find lib -name '*.c')))
PLOT_SRC := build/plot_scripts.c
PAGE_SRC := build/page_parts.c
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(B)/plot_scripts.o $(B)/page_parts.o $(foreach i,$(ISAS),$(VEC_SRC:%.c=$(B)/%.$(i).o) $(NN_SRC:%.c=$(B)/%.$(i).o))
BENCH_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard cmd/atomo-bench.c cmd/bench_*.c)))
TESTS    := $(patsubst test/%.c,$(B)/test/%,$(sort $(wildcard test/*/test_*.c)))
TRAIN_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard cmd/atomo-train.c cmd/train_*.c)))
PROGRAMS := $(B)/bin/atomo-bench $(if $(TRAIN_OBJ),$(B)/bin/atomo-train)

# The library for other programs (interface: lib/atomo.h). The programs and tests link $(B)/libatomo.a, which exports
# all functions.
SONAME   := libatomo.so.1
LIBRARY  := $(B)/public/$(SONAME) $(B)/public/libatomo.a
DOOR_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard lib/library/*.c)))

.PHONY: all check check-run tests demo demo-run deps bench bench-check fuzz fuzz-codecs golden format lint depcheck listcheck tsan coverage docs \
        rng-quality install uninstall wheel vectors dist sbom clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAMS) $(LIBRARY)

$(B)/bin/atomo-bench: $(BENCH_OBJ) $(B)/libatomo.a
	@mkdir -p $(@D)
	$(SAY) LD $@
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/bin/atomo-train: $(TRAIN_OBJ) $(B)/libatomo.a
	@mkdir -p $(@D)
	$(SAY) LD $@
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/libatomo.a: $(LIB_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

# The shared library exports only the names in atomo.h.
$(B)/public/$(SONAME): $(DOOR_OBJ) $(B)/libatomo.a lib/library/atomo.map
	@mkdir -p $(@D)
	$(SAY) LD $@
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=lib/library/atomo.map \
	    -Wl,-z,nodelete -Wl,-z,defs -o $@ $(filter %.o %.a,$^) $(LIBS)
	$(Q)ln -sf $(SONAME) $(@D)/libatomo.so

$(B)/public/libatomo.a: $(DOOR_OBJ) $(B)/libatomo.a
	@mkdir -p $(@D)
	$(SAY) AR $@
	$(Q)$(CC) -r -nostdlib -o $(B)/public/libatomo.o $^
	$(Q)$(shell $(CC) -print-prog-name=objcopy) --localize-hidden $(B)/public/libatomo.o && rm -f $@ && ar rcs $@ $(B)/public/libatomo.o && rm $(B)/public/libatomo.o

# The gnuplot scripts are compiled into the program.
$(PLOT_SRC): $(sort $(wildcard plots/*.gp)) Makefile
	@mkdir -p $(@D)
	@{ echo '#include "plot/plot.h"'; echo 'const PlotScript plot_scripts[] = {'; \
	for f in $(filter %.gp,$^); do echo "    {\"$$(basename $$f)\","; \
	    sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/     "&\\n"/' $$f; echo '    },'; done; echo '    {0},'; echo '};'; } >$@

$(B)/flags: $(if $(subst x$(file <$(B)/flags),,x$(ALL_FLAGS)),FORCE)
	@mkdir -p $(@D)
	@echo '$(ALL_FLAGS)' >$@

$(B)/plot_scripts.o: $(PLOT_SRC) $(B)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

# The CSS and JavaScript of report's page are compiled into the program, each with the hash that the page's content
# security policy needs.
as_text = sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/    "&\\n"/' $(1)
as_hash = sha256sum <$(1) | cut -c1-64 | tr a-f A-F | basenc --base16 -d | basenc --base64

# The explorer's files share their names, in one block.
EXPLORE := $(patsubst %,lib/page/explore%.js,_data _view _elements _numbers _canvas _chart _rows _charts _tables) lib/page/explore.js

build/explore.js: $(EXPLORE) Makefile
	@mkdir -p $(@D)
	@{ printf '"use strict";\n{\n'; cat $(EXPLORE); echo '}'; } >$@

$(PAGE_SRC): lib/page/page.css lib/page/page.js build/explore.js
	@mkdir -p $(@D)
	@{ echo '#include "page/report_page.h"'; for f in $^; do \
	    name=$$(basename $$f | tr . _); echo "const char $$name[] ="; $(call as_text,$$f); echo '    "";'; \
	    hash=$$($(call as_hash,$$f)) && echo "const char $${name}_hash[] = \"$$hash\";" || exit 1; done; } >$@

$(B)/page_parts.o: $(PAGE_SRC) $(B)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(FLAGS) $(FILE_FLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

# The table of the libraries that the programs load. Each file in loaded/ is linked to one library, and has no code. It is
# linked at each make, and replaced where the library has another name since, as after an upgrade of the system.
LINKED := HDF5=$(B)/loaded/hdf5-serial.so $(if $(MPI),MPI=$(B)/loaded/$(MPI).so)

$(B)/loaded/%.so: FORCE
	@mkdir -p $(@D)
	$(Q)echo 'extern int unused;' | $(CC) -shared -xc - -o $@.new -Wl,--no-as-needed $$(pkg-config --libs $*)
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(B)/loaded.h: lib/base/loaded.sh $(foreach l,$(LINKED),$(lastword $(subst =, ,$l)))
	$(Q)sh $< '$(shell $(CC) -print-prog-name=readelf)' $(LINKED) >$@

LOADERS := $(foreach f,dump/tensor_hdf5_load net/net_mpi_load num/linalg_load,$(B)/lib/$f.o build/fuzz/lib/$f.o)

$(LOADERS): FILE_FLAGS = -include $(B)/loaded.h
$(LOADERS): $(B)/loaded.h

define vec_rule
$(B)/lib/vec/%.$(1).o: lib/vec/%.c $(B)/flags
	@mkdir -p $$(@D)
	$(SAY) "CC $$< ($(1))"
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) $(ISA_$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach i,$(ISAS),$(eval $(call vec_rule,$(i))))

# The kernels of neural networks may fuse products and sums, so their results may differ between instruction sets.
# With -ftrapping-math gcc would not vectorise loops with conditional sums.
define nn_rule
$(B)/lib/nn/vec/%.$(1).o: lib/nn/vec/%.c $(B)/flags
	@mkdir -p $$(@D)
	$(SAY) "CC $$< ($(1))"
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) $(ISA_$(1)) $(if $(ISA_$(1)),-mfma) $(NN_FLAGS) -MMD -MP -c -o $$@ $$<
endef
$(foreach i,$(ISAS),$(eval $(call nn_rule,$(i))))

VERSION_FLAGS := -DATOMO_VERSION='"$(VERSION)"' -DATOMO_REVISION='"$(REVISION)"'
$(B)/lib/report/report_meta.o $(B)/lib/library/library_codec.o: FLAGS += $(VERSION_FLAGS)
$(B)/lib/report/report_meta.o $(B)/lib/library/library_codec.o: $(B)/revision

$(B)/lib/net/%.o: FLAGS += $(MPI_CFLAGS)
$(B)/lib/net/net_mpi.o $(B)/lib/net/net_mpi_load.o $(B)/lib/net/net_none.o $(B)/lib/net/net_version.o: $(B)/mpi
$(B)/mpi: FORCE
	@mkdir -p $(@D)
	@echo '$(MPI)' | cmp -s - $@ || echo '$(MPI)' >$@

# These files know which of the codecs zfp and fpzip are in the build.
SCIENCE_OBJ := $(addprefix $(B)/,lib/compress/all.o lib/compress/names.o lib/base/host.o adding/all.o)
$(SCIENCE_OBJ): FLAGS += $(SCIENCE_FLAGS)
$(SCIENCE_OBJ): $(B)/science
$(B)/science: FORCE
	@mkdir -p $(@D)
	@echo '$(SCIENCE)' | cmp -s - $@ || echo '$(SCIENCE)' >$@

# This file is rewritten only when its text changes, so that files that depend on it are rebuilt only then.
$(B)/revision: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION) $(REVISION)' | cmp -s - $@ || echo '$(VERSION) $(REVISION)' >$@

$(B)/test/net/%.o: FLAGS += $(MPI_CFLAGS)

# Compiling and linking are two commands, as ccache stores only the results of compiling.
$(B)/test/%.o: FLAGS += $(TEST_FLAGS) $(SCIENCE_FLAGS)
$(TESTS:%=%.o): $(B)/science $(B)/mpi

$(B)/test/%: $(B)/test/%.o $(B)/libatomo.a
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS) $(TEST_LIBS)

# This test runs commands of atomo-bench in its own process.
$(B)/test/app/test_power_loss: $(B)/cmd/bench_compare.o $(B)/cmd/bench_synth.o

tests: $(TESTS)

# Stored payloads are also read and written with fewer instruction sets (see kernels.c). An object on the command line
# in front of the archive replaces the archive's object of the same functions.
GOLDENS := $(if $(filter avx2,$(ISAS)),$(B)/test/golden-most0 $(B)/test/golden-most1)

$(foreach m,0 1 2,$(B)/kernels-most$m.o): $(B)/kernels-most%.o: lib/vec/kernels.c lib/vec/kernels.h $(B)/flags
	@mkdir -p $(@D)
	$(SAY) "CC $< (most $*)"
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) -DKERNELS_MOST=$* -MMD -MP -c -o $@ $<

$(GOLDENS): $(B)/test/golden-most%: $(B)/test/codec/test_golden.o $(B)/kernels-most%.o $(B)/libatomo.a
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS) $(TEST_LIBS)

# The example codec of docs/adding-a-compressor.md is extracted and added to the list of codecs, to run the tests of
# promises and of unbiasedness on it.
ADDING := $(B)/test/adding-promises $(B)/test/adding-unbiased

$(B)/adding/meansign.c: docs/adding-a-compressor.md
	@mkdir -p $(@D)
	@awk '/^```c$$/ && !ended {inside = 1; next} /^```$$/ && inside {inside = 0; ended = 1} inside' $< >$@

$(B)/adding/all.c: lib/compress/all.c
	@mkdir -p $(@D)
	@sed 's/^ *X(none) .*/&\n    X(meansign) \\/' $< >$@

$(B)/adding/meansign.o $(B)/adding/all.o: %.o: %.c $(B)/flags
	$(SAY) CC $<
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(ADDING): $(B)/test/adding-%: $(B)/test/codec/test_%.o $(B)/adding/meansign.o $(B)/adding/all.o $(B)/libatomo.a
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS) $(TEST_LIBS)

# ---- the two commands of the README ----

# Installs missing packages, or nothing if all are there. Tests for the libraries, headers and programs that the build
# uses, not for package names.
deps:
	@missing=; for p in $(PKGS) cmocka; do pkg-config --exists $$p 2>/dev/null || missing="$$missing $$p"; done; \
	for h in $(HEADERS) zfp.h fpzip.h; do echo "#include <$$h>" | $(CC) -E - >/dev/null 2>&1 || missing="$$missing $$h"; done; \
	[ "$$($(CC) -print-file-name=libopenblas.so.0 2>/dev/null)" != libopenblas.so.0 ] || missing="$$missing libopenblas.so.0"; \
	for c in $(CC) gnuplot python3; do command -v $$c >/dev/null 2>&1 || missing="$$missing $$c"; done; \
	[ -z "$$missing" ] && exit 0; \
	echo "not found:$$missing"; \
	command -v apt-get >/dev/null || { echo "this is not Debian or a relative: install the equivalents of:" \
	    "$(DEB_BUILD)"; exit 1; }; \
	set -- apt-get -qy install --no-install-recommends $(DEB_BUILD); \
	if [ $$(id -u) = 0 ]; then \
	    echo "running apt-get update, then $$*  (about 500 MB on disk)"; \
	    apt-get -q update && DEBIAN_FRONTEND=noninteractive "$$@"; \
	elif command -v sudo >/dev/null; then \
	    echo "running by sudo: apt-get update, then $$*  (about 500 MB on disk)"; \
	    sudo apt-get -q update && sudo DEBIAN_FRONTEND=noninteractive "$$@"; \
	else \
	    echo "run as root:  apt-get update && apt-get install --no-install-recommends $(DEB_BUILD)"; exit 1; \
	fi

# MPI is optional: with it, `mpirun -n P atomo-train run` trains on several processes (docs/cluster.md).
.PHONY: deps-mpi

deps-mpi:
	@command -v apt-get >/dev/null || { echo "this is not Debian or a relative: install an MPI library, such as Open MPI"; exit 1; }
	@[ $$(id -u) = 0 ] || command -v sudo >/dev/null || { echo "run as root:  apt-get install $(DEB_MPI)"; exit 1; }
	@set -- apt-get -qy install --no-install-recommends $(DEB_MPI); [ $$(id -u) = 0 ] || set -- sudo "$$@"; \
	echo "running $$*"; DEBIAN_FRONTEND=noninteractive "$$@"

PARALLEL = $(MAKE) --no-print-directory -j$$(nproc)

check: deps
	@$(PARALLEL) all tests $(GOLDENS) $(ADDING) $(REPLAYS) $(B)/test/python/export_digits $(B)/test/python/gpt_pass
	@$(MAKE) --no-print-directory -j$$(($$(nproc) + 1)) -k -O check-run; STATUS=$$? sh test/tally.sh $(TESTS:%=%.log) $(GOLDENS:%=%.log) $(ADDING:%=%.log) $(CLI_TESTS:%=$(B)/cli-%.log) $(PYTHON_TESTS:%=$(B)/python-%.log) $(B)/reference*.log $(REPLAYS:%=%.log)

demo: deps
	@$(PARALLEL) all
	@$(MAKE) --no-print-directory demo-run

DUMP := datasets/lenet-mnist.h5

DEMO_COLUMNS := compressor,bytes,ratio,bits_per_element,encode_ms,decode_ms,relative_error,wasserstein_mean,relative_error_steps,bias
demo-run:
	@mkdir -p build/demo
	@echo; echo "== every compressor of the ATOMO paper on a real gradient ($(DUMP)); some seconds"; echo
	@$(B)/bin/atomo-bench compare $(DUMP) --threads 1 --force -o build/demo/compare.json
	@$(B)/bin/atomo-bench report build/demo/compare.json --columns $(DEMO_COLUMNS)
	@$(B)/bin/atomo-bench plot pareto build/demo/compare.json --force -o build/demo/pareto.svg
	@echo; echo "program  $(CURDIR)/$(B)/bin/atomo-bench"
	@echo "results  $(CURDIR)/build/demo/compare.json"
	@echo "figure   $(CURDIR)/build/demo/pareto.svg"
	@echo "next     $(B)/bin/atomo-bench --help, then README.md"

# ---- the dump of a language model that ships with the project ----

.PHONY: datasets

BABBLE := build/datasets/gpt-nano.h5
datasets: all
	@rm -rf $(dir $(BABBLE)) && mkdir -p $(dir $(BABBLE))
	$(B)/bin/atomo-train run --network gpt-nano --batch-size 12 --max-steps 1001 --eval-freq 0 --threads 1 --optimizer adamw --lr 1e-3 \
	    --beta2 0.99 --weight-decay 0.1 --clip-norm 1 --lr-warmup 100 --lr-cosine 4000 --lr-min 1e-4 --dump-gradients $(BABBLE) --dump-freq 1000
	$(PYTHON) datasets/pack.py $(BABBLE) 1001 datasets/gpt-nano-babble.h5

# ---- the figures and tables of the paper ----

.PHONY: paper paper-resnet has-cifar10

paper: deps
	@$(PARALLEL) all
	@sh plots/paper.sh $(B)/bin build/paper

DATASETS ?= datasets

has-cifar10:
	@for f in data_batch_1.bin test_batch.bin; do \
	    [ -f "$(DATASETS)/cifar10/$$f" ] || { \
	        echo "make paper-resnet: $(DATASETS)/cifar10/$$f: not there, want CIFAR-10 in its binary format" >&2; \
	        echo "hint: sh datasets/fetch.sh cifar10 (170 MB), or DATASETS=DIR with the files in DIR/cifar10" >&2; exit 2; }; done

paper-resnet: has-cifar10
	@$(MAKE) --no-print-directory deps
	@$(PARALLEL) all
	@PAPER_LIST=plots/resnet.list PAPER_HEADING='Figures 2, 3 and 5 of the paper in small' DATASETS='$(DATASETS)' \
	    STEPS='$(STEPS)' sh plots/paper.sh $(B)/bin build/paper-resnet

# ---- the runs of docs/results.md and docs/training.md ----

.PHONY: training results

# The dumps that plots/results.list makes, and the tables that go into docs/results.json.
RESULT_DUMPS := resnet18 vgg11 gpt-nano gpt-char
RESULT_TABLES := rates $(RESULT_DUMPS:%=rates-%) lenet-means fc-means gpt-means

results: all
	@PAPER_LIST=plots/results.list PAPER_HEADING='The field at a glance' PAPER_DUMPS='$(RESULT_DUMPS)' sh plots/paper.sh $(B)/bin build/results
	@sh plots/rates.sh all docs/results.json $(RESULT_TABLES:%=build/results/data/%.json)
	@cp $(patsubst %,build/results/%.svg,front $(RESULT_DUMPS:%=front-%) lenet-accuracy fc-accuracy gpt-accuracy) docs/figures/
	@LONG=1 $(PYTHON) test/tables.py make $(B)/bin docs/results.md

training: all
	@PAPER_LIST=plots/training.list sh plots/paper.sh $(B)/bin build/training
	@LONG=1 $(PYTHON) test/tables.py make $(B)/bin docs/training.md

# ---- the tables of the documents, by the commands in their sources (test/tables.py) ----

# Makes the tables that take seconds anew, with LONG=1 also others whose files are there or in the folder DUMPS; tables-check compares.
PAGES ?= README.md $(sort $(wildcard docs/*.md))
.PHONY: tables tables-check

tables: all
	@$(PYTHON) test/tables.py make $(B)/bin $(PAGES)

tables-check: all
	@$(PYTHON) test/tables.py check $(B)/bin $(PAGES)

# ---- tests ----

RUNS    := $(TESTS:$(B)/test/%=run-%) $(GOLDENS:$(B)/test/%=run-%) $(ADDING:$(B)/test/%=run-%)
ROOMS   := $(sort $(foreach t,$(TESTS:$(B)/test/%=%),$(firstword $(subst /, ,$t))))
FUZZERS := $(patsubst test/fuzz/%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c)))
REPLAYS := $(FUZZERS:%=$(B)/fuzz/%)

.PHONY: $(RUNS) $(FUZZERS:%=replay-%) cli-tests $(ROOMS:%=check-%)

VEC_RUNS := $(filter run-vec/%,$(RUNS))

# The tests of one directory of test/, for example: make check-coder
$(foreach r,$(ROOMS),$(eval check-$r: $(filter run-$r/%,$(RUNS))))

# The tests that take longest begin first, so that no core waits at the end.
LONGEST := check-reference cli-paper cli-docs cli-report cli-ranks cli-compare run-measure/test_memory run-codec/test_promises python-digits run-net/test_ranks \
        run-nn/test_train_digits cli-tables cli-train cli-output cli-shell run-codec/test_unbiased run-plot/test_plot_overlap python-torch cli-plot cli-doctor \
        run-coder/test_efficiency

check-run: $(LONGEST) cli-tests python-tests $(RUNS) $(FUZZERS:%=replay-%) depcheck listcheck mutants-fresh

# A test that waits for ever is ended after LIMIT seconds and has failed. No test takes a tenth of this time.
LIMIT ?= 1200
ENDING = timeout --foreground -k 10 $(LIMIT)

# Begins a recipe whose processor time tally.sh adds up: NAME.times gets what the shell prints about its children.
timed = trap 'times >$(1).times' EXIT;

run-adding-%: export CODEC := meansign

$(RUNS): run-%: $(B)/test/%
	@$(call timed,$<) if $(ENDING) $< >$<.log 2>&1; then awk '/^\[  PASSED/ {print "$*:", $$4, "passed"} /^skip/ {print "$*:", $$0}' $<.log; \
	else cat $<.log; echo "FAILED: $*" | tee -a $<.log; exit 1; fi

# Each command is run with failing allocations and failing system calls of its own; POINTS=0 makes each call fail.
POINTS ?= 25
.PHONY: faults
faults: $(PROGRAMS) $(B)/faults.so
	@sh test/faults/faults.sh $(B)/bin $(B)/faults.so $(POINTS)

$(B)/faults.so: test/faults/shim.c
	$(SAY) CC $<
	$(Q)$(CC) -shared -fPIC -O1 -D_GNU_SOURCE -Wall -Wextra -o $@ $< -ldl

# A rank that waits sleeps.
$(B)/rest.so: test/net/rest.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -shared -fPIC -O1 -D_GNU_SOURCE -Wall -Wextra -o $@ $<

run-net/test_ranks cli-ranks rank-kills: $(B)/rest.so

# Two made-up hosts and a link between them, and training on them against the predictions of `cost`.
$(B)/two_hosts: test/net/two_hosts.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -O2 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wconversion -o $@ $<

.PHONY: predict
predict: $(PROGRAMS) $(B)/two_hosts
	@$(PYTHON) test/net/predict.py $(B)/bin $(B)/two_hosts

# Ranks of a training run are killed at random moments.
RANK_KILLS ?= 100
.PHONY: rank-kills
rank-kills: $(PROGRAMS)
	@$(PYTHON) test/net/kills.py $(B)/bin $(RANK_KILLS)

# Kills commands with SIGKILL at random moments, KILLS times in all, and resumes them.
KILLS ?= 500
.PHONY: kills
kills: $(PROGRAMS)
	@sh test/kills.sh $(B)/bin $(KILLS)
	@sh test/resumes.sh $(B)/bin

# Stops commands on a large vector with SIGTERM: each must end within a second.
STOPS ?= 10
.PHONY: stops
stops: $(PROGRAMS)
	@$(PYTHON) test/stops.py $(B)/bin $(STOPS)

# Kills comparisons only, each start before one codec is finished.
.PHONY: resume-kills
resume-kills: $(PROGRAMS)
	@sh test/resumes.sh $(B)/bin $(KILLS)

# Independent implementations of the documents check the programs (Debian: python3-numpy python3-scipy python3-h5py).
REFERENCE := decode altered compare against claims merge vectors files

# A vector of 2^31 + 5 elements through encode, decode and inspect: 20 GB of memory, 30 GB in HUGE_DIR, some minutes.
.PHONY: huge
huge: all
	@$(PYTHON) test/huge.py $(B)/bin $(HUGE_DIR)

.PHONY: verify-reference check-reference $(REFERENCE:%=reference-%)

verify-reference: all
	@$(PYTHON) -c 'import numpy, scipy, h5py'
	@$(PARALLEL) -O $(REFERENCE:%=reference-%)

# The faster ones of these checks run in `make check` if Python has the modules that they import.
REFERENCE_CHECK := decode altered against claims merge vectors files
check-reference: $(PROGRAMS) $(LIBRARY)
	+@rm -f $(B)/reference*.log; if [ -z "$(SAN)" ] && $(PYTHON) -c 'import numpy, scipy, h5py' 2>/dev/null; then $(MAKE) --no-print-directory $(REFERENCE_CHECK:%=reference-%); \
	else for t in $(REFERENCE_CHECK); do \
	    echo "skip: reference/check_$$t: needs numpy, scipy and h5py (Debian: python3-numpy python3-scipy python3-h5py), and a build without sanitizers"; \
	done | tee $(B)/reference.log; fi

$(REFERENCE:%=reference-%): reference-%:
	@$(call timed,$(B)/reference-$*) if PYTHONDONTWRITEBYTECODE=1 $(ENDING) $(PYTHON) test/reference/check_$*.py $(B)/bin/atomo-bench >$(B)/reference-$*.log 2>&1; \
	then tail -1 $(B)/reference-$*.log; \
	else grep -v '^passed' $(B)/reference-$*.log | tail -40; echo "FAILED: reference-$*, see $(B)/reference-$*.log" | tee -a $(B)/reference-$*.log; exit 1; fi

# Plants one fault at a time in source files; the tests that test/mutants/list.txt names must fail. WORD=... runs only
# some lines.
.PHONY: mutants mutants-fresh

mutants: all
	+@CC="$(CC)" MAKE="$(MAKE)" sh test/mutants/run.sh $(B) '$(WORD)'

# Checks that each fault of the list still changes the file that it names.
mutants-fresh:
	@sh test/mutants/run.sh -n

# Runs fuzz targets on stored and on random inputs; `make fuzz` searches for new inputs.
$(B)/fuzz/%: $(B)/test/fuzz/%.o $(B)/test/fuzz/replay.o $(B)/libatomo.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

# This target has functions of its own in the place of those that read HDF5.
$(B)/fuzz/fuzz_checkpoint build/fuzz/fuzz_checkpoint: LDFLAGS += $(foreach f,open close attrs count tensor read,-Wl$(,)--wrap=dump_$f)

$(FUZZERS:%=replay-%): replay-%: $(B)/fuzz/%
	@$(call timed,$<) $(ENDING) $< test/fuzz/corpus/$*

CLI_TESTS := $(patsubst test/cli/%.t,%,$(wildcard test/cli/*.t))
.PHONY: $(CLI_TESTS:%=cli-%)

cli-tests: $(CLI_TESTS:%=cli-%)

torture-ranks: $(B)/two_hosts

$(CLI_TESTS:%=cli-%): cli-%: $(PROGRAMS) $(LIBRARY)
	@$(call timed,$(B)/cli-$*) sh test/cli/run.sh $(B)/bin test/cli/$*.t >$(B)/cli-$*.log 2>&1; code=$$?; sed 's/^cli:/cli $*:/' $(B)/cli-$*.log; exit $$code

# Cases that need signals at some moment, times, or limits of the system; a busy machine can spoil them, so `make check` has none.
TORTURES := $(patsubst test/torture/%.t,torture-%,$(sort $(wildcard test/torture/*.t)))
.PHONY: torture $(TORTURES)

torture: $(TORTURES)
	@TORTURE=1 $(MAKE) --no-print-directory run-net/test_ranks
	@sh test/kills.sh $(B)/bin 20

$(TORTURES): torture-%: $(PROGRAMS) $(LIBRARY)
	@sh test/cli/run.sh $(B)/bin test/torture/$*.t

# The tests of the Python package, if its modules are installed (Debian: python3-numpy, python3-h5py, python3-pandas,
# python3-torch). A program without AddressSanitizer cannot load a library that has it, so there are no such tests
# under SAN=1.
PYTHON_TESTS := atomo guest torch ranks digits chunks weights
AS_PACKAGE = PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=lib/python ATOMO_LIBRARY=$(CURDIR)/$(B)/public/$(SONAME)

.PHONY: python-tests $(PYTHON_TESTS:%=python-%)

# With -v, unittest names each test that it skips.
VERBOSE_atomo := -v
VERBOSE_guest := -v

python-tests: $(PYTHON_TESTS:%=python-%)

python-digits: $(B)/test/python/export_digits
python-weights: $(B)/test/python/gpt_pass

$(PYTHON_TESTS:%=python-%): python-%: all
	@$(call timed,$(B)/python-$*) if [ -n "$(SAN)" ] || ! $(PYTHON) -c 'import numpy' 2>/dev/null; then echo "skip: python/test_$*: needs numpy, and a build without sanitizers" | tee $(B)/python-$*.log; \
	elif $(AS_PACKAGE) BIN=$(CURDIR)/$(B)/bin DIGITS=$(B)/test/python/export_digits GPT_PASS=$(B)/test/python/gpt_pass \
	    $(ENDING) $(PYTHON) test/python/test_$*.py $(VERBOSE_$*) >$(B)/python-$*.log 2>&1; then echo "python/test_$*: $$(tail -1 $(B)/python-$*.log)"; \
	else cat $(B)/python-$*.log; echo "FAILED: python/test_$*" | tee -a $(B)/python-$*.log; exit 1; fi

# A wheel for `pip install` that contains the library.
wheel: $(LIBRARY)
	@$(PYTHON) lib/python/make_wheel.py $(VERSION) $(B)/public/$(SONAME) build/wheel

DOCS_FIGURES := spectrum sweep errors histogram-conv histogram-fc convergence

# Writes the documents that the programs print about themselves; a release must have the committed documents equal to
# these.
docs: $(PROGRAMS) $(B)/test/report/test_fields
	@mkdir -p docs
	ATOMO_WRITE_DOCS=1 $(B)/test/report/test_fields >$(B)/docs.log 2>&1
	$(B)/bin/atomo-bench list --details --format md -o docs/compressors.md
	@mkdir -p docs/figures $(B)/docs
	$(B)/bin/atomo-bench inspect datasets/lenet-mnist.h5 --step '*1000' --spectrum -o $(B)/docs/spectrum.csv
	$(B)/bin/atomo-bench plot spectrum $(B)/docs/spectrum.csv -o $(B)/docs/spectrum.svg
	$(B)/bin/atomo-bench sweep datasets/lenet-mnist.h5 -o $(B)/docs/sweep.csv -c entry -c svd -c svd:vectors=qsgd \
	    -c hadamard -c qsgd -c joint -c joint+svd:vectors=qsgd
	$(B)/bin/atomo-bench plot pareto $(B)/docs/sweep.csv -o $(B)/docs/sweep.svg
	$(B)/bin/atomo-bench compare datasets/lenet-mnist.h5 --step '*1000' --repeats 3 -o $(B)/docs/compare.csv -c none \
	    -c qsgd:bits=2/4/8 -c terngrad -c svd:rank=2 -c entry:bits=0.6 -c ef+topk:ratio=0.01 -c sign
	$(B)/bin/atomo-bench plot errors $(B)/docs/compare.csv -o $(B)/docs/errors.svg
	for k in conv fc; do \
	    $(B)/bin/atomo-bench inspect datasets/lenet-mnist.h5 --kind $$k --histogram -o $(B)/docs/histogram-$$k.csv && \
	    $(B)/bin/atomo-bench plot histogram $(B)/docs/histogram-$$k.csv -o $(B)/docs/histogram-$$k.svg || exit 1; done
	for s in 1 2 3; do $(B)/bin/atomo-train run --network fc --workers 2 --batch-size 64 --max-steps 200 --eval-freq 20 \
	    --target-accuracy 0.5,0.7 --seed $$s -c none -c qsgd:bits=2 -c svd:rank=2 -c terngrad -o $(B)/docs/run$$s.csv || exit 1; done
	$(B)/bin/atomo-bench plot convergence $(B)/docs/run1.csv $(B)/docs/run2.csv $(B)/docs/run3.csv --x bytes -o $(B)/docs/convergence.svg
	cp $(DOCS_FIGURES:%=$(B)/docs/%.svg) docs/figures/

# Rewrites the stored payloads and the lists of codecs.
golden: $(B)/test/codec/test_golden $(PROGRAMS)
	$< --write
	@sh test/listcheck.sh $(B)/bin --write

# Rewrites the test vectors for other implementations (test/vectors/README.md).
vectors: $(B)/test/library/test_vectors
	ATOMO_WRITE_VECTORS=1 $<

# Each target runs for FUZZ_SECONDS, or FUZZ_RUNS inputs; TARGETS names some of them.
FUZZ_SECONDS ?= 60
FUZZ_MOST    = $(if $(FUZZ_RUNS),-runs=$(FUZZ_RUNS),-max_total_time=$(FUZZ_SECONDS))
TARGETS      ?= $(FUZZERS)
FUZZ_FLAGS   := -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all

# Prints how many inputs ran and what they reached: cov, edges of the program; ft, edges with their counts; corp, inputs kept.
fuzzed = { $(1) $(FUZZ_MOST) -rss_limit_mb=2048 -timeout=60 -print_final_stats=1 $(2) $(3) >$(2).log 2>&1; code=$$?; \
    grep -oE 'DONE.*corp: [0-9]+|stat::number_of_executed.*|SUMMARY.*|ERROR.*|Test unit.*' $(2).log; [ $$code = 0 ]; }

# Fuzzing needs clang and its runtime library (Debian: clang, libclang-rt-14-dev).
fuzz: $(TARGETS:%=build/fuzz/%)
	@for f in $^; do name=$$(basename $$f); mkdir -p build/fuzz/corpus/$$name; echo "== $$name"; \
	    $(call fuzzed,$$f,build/fuzz/corpus/$$name,test/fuzz/corpus/$$name) || exit 1; done

# The decoder of one codec after the other, each for FUZZ_SECONDS; CODECS names some of them.
CODECS ?= $(basename $(notdir $(wildcard test/golden/*.txt)))
fuzz-codecs: build/fuzz/fuzz_decode
	@for c in $(CODECS); do mkdir -p build/fuzz/corpus/codec-$$c; echo "== $$c"; \
	    CODEC=$$c; export CODEC; $(call fuzzed,$<,build/fuzz/corpus/codec-$$c,test/fuzz/corpus/fuzz_decode) || exit 1; done

FUZZ_OBJ := $(patsubst %.c,build/fuzz/%.o,$(LIB_SRC) $(VEC_SRC) $(NN_SRC) $(PLOT_SRC) $(PAGE_SRC))
FUZZ_CC  := clang $(FLAGS) -Wno-everything $(FUZZ_FLAGS) -DKERNELS_MOST=0 $(VERSION_FLAGS) $(SCIENCE_FLAGS)

build/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) CLANG $<
	$(Q)$(FUZZ_CC) $(FILE_FLAGS) -MMD -MP -c -o $@ $<

$(FUZZERS:%=build/fuzz/%): build/fuzz/%: test/fuzz/%.c $(FUZZ_OBJ)
	$(SAY) CLANG $<
	$(Q)$(FUZZ_CC) -Itest $(LDFLAGS) -o $@ $^ $(LIBS)

# Runs the thread sanitizer on the pool of threads, on all codecs and on training (test/tsan.sh). base/parallel.c creates
# all threads, and the sanitizer sees its mutexes and atomics. The libraries OpenBLAS and oneDNN run with one thread.
TSAN := $(MAKE) MODE=tsan SANITISE=-fsanitize=thread OPTIMISE='-O1 -g' MPI=
TSAN_TESTS := base/test_parallel library/test_library exchange/test_exchange measure/test_merging measure/test_windows \
              nn/test_layers nn/test_layer_rules nn/test_gpt num/test_fourier num/test_radix coder/test_indices coder/test_signs

tsan: export TSAN_OPTIONS := die_after_fork=0 halt_on_error=1
tsan: export OPENBLAS_NUM_THREADS := 1
tsan:
	+@$(TSAN) -j$$(nproc) all $(TSAN_TESTS:%=run-%) build/tsan/test/codec/test_promises
	@TEST=threads_do_not_change_a_byte build/tsan/test/codec/test_promises >build/tsan/codecs.log 2>&1 || \
	    { cat build/tsan/codecs.log; exit 1; }
	@sh test/tsan.sh build/tsan/bin

# The second compiler: no warnings, and the bytes of the stored payloads.
CLANG ?= clang
.PHONY: clang
clang:
	+@$(MAKE) --no-print-directory MODE=clang CC='$(CLANG)' CI=1 -j$$(nproc) all tests run-codec/test_golden run-compress/test_qsgd $(VEC_RUNS)

# The lines and branches of lib/ that tests run, for each room; fails below the limits in test/coverage.py. The counters
# are mapped from a file (%c), so processes count too that are killed, end by _exit or may make no system calls. Without
# NDEBUG clang takes the lines behind an assertion for lines that cannot be reached.
# Left out: tests that take long and run no line that no other test runs.
# Needs llvm-cov and llvm-profdata (Debian: clang, libclang-rt-14-dev, llvm).
COUNTERS := $(CURDIR)/build/coverage/counters
COVERAGE := $(MAKE) --no-print-directory MODE=coverage CC='$(CLANG)' POINTS=5 SANITISE='-fprofile-instr-generate=$(COUNTERS)/%m%c.profraw' \
            OPTIMISE='-O1 -w -DNDEBUG -fcoverage-mapping -mllvm -runtime-counter-relocation -fprofile-list=test/coverage.list'
COVERAGE_NOT := run-net/test_ranks run-nn/test_train_digits run-measure/test_memory run-codec/test_unbiased run-coder/test_efficiency \
            run-adding-unbiased cli-paper cli-docs cli-release

.PHONY: coverage-run
coverage-run: $(B)/whole.so $(filter-out $(COVERAGE_NOT),$(RUNS) $(FUZZERS:%=replay-%) $(CLI_TESTS:%=cli-%) faults)

$(B)/whole.so: $(B)/libatomo.a
	$(Q)$(CC) -shared $(SANITISE) -o $@ -Wl,--whole-archive $< -Wl,--no-whole-archive $(LIBS)

coverage:
	@for p in $(CLANG) llvm-cov llvm-profdata; do command -v $$p >/dev/null || { echo "make $@ needs $$p: apt-get install clang libclang-rt-14-dev llvm" >&2; exit 2; }; done
	@rm -rf $(COUNTERS) && mkdir -p -m 1777 $(COUNTERS)
	+@$(COVERAGE) -k -O -j$$(nproc) $@-run || touch $(COUNTERS)/failed
	@$(PYTHON) test/coverage.py build/coverage && [ ! -e $(COUNTERS)/failed ]

# ---- speed ----

$(B)/test/bench/%: test/bench/%.c $(B)/libatomo.a $(B)/flags
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(FLAGS) -Itest $(CFLAGS) $(CPPFLAGS) -o $@ $(filter %.c %.a,$^) $(LIBS)

# A large dump (file of gradients) for benchmarks, if there is one: make bench BIG_DUMP=FILE.h5
BIG_DUMP := $(wildcard ../shared/data/resnet18-cifar10.h5)

# Benchmarks print ratios to a memcpy or to another library, measured in the same run. A comparison is skipped if the
# other library (h5py, scipy, PyTorch) is missing. bench writes docs/performance.md.
BENCHES := $(patsubst test/bench/%.c,$(B)/test/bench/%,$(wildcard test/bench/speed_*.c))
PERFORMANCE := $(AS_PACKAGE) $(PYTHON) test/bench/performance.py

bench: all $(BENCHES)
	$(PERFORMANCE) $(B) $(or $(BIG_DUMP),$(DUMP)); low=$$?; \
	$(B)/test/bench/speed_merge || low=1; $(B)/test/bench/speed_svd $(BIG_DUMP) || low=1; \
	$(PYTHON) test/bench/networks.py $(B)/test/bench/speed_networks || low=1; \
	$(AS_PACKAGE) $(PYTHON) test/bench/ddp.py || low=1; \
	$(AS_PACKAGE) $(PYTHON) test/bench/blas.py $(B)/bin/atomo-bench $(DUMP); exit $$low

# Fails if a codec is slower than 0.75 times its ratio to memcpy in docs/performance.json.
bench-check: all $(B)/test/bench/speed_codecs
	@$(PERFORMANCE) --check $(B)

# ---- the certificate: bias and variance of every codec that promises them ----

CERTIFY := $(if $(filter avx2,$(ISAS)),0 1 2,0)
CERTIFY_SHARES := 0 1 2 3
CERTIFY_PARTS := $(foreach m,$(CERTIFY),$(CERTIFY_SHARES:%=$(B)/certify/most$m-%.txt))

.PHONY: certify

certify: all
	@$(PARALLEL) $(B)/certify/level.md $(CERTIFY_PARTS) $(B)/test/certify/certify_report
	@sh test/certify/page.sh $(B) $(CERTIFY_PARTS) >docs/certificate.md.new; code=$$?; \
	    mv docs/certificate.md.new docs/certificate.md; exit $$code

$(CERTIFY:%=$(B)/test/certify/draw-most%): $(B)/test/certify/draw-most%: $(B)/test/certify/certify_draw.o $(B)/kernels-most%.o $(B)/libatomo.a
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS) $(TEST_LIBS)

define certify_rule
$(B)/certify/most$(1)-%.txt: $(B)/test/certify/draw-most$(1)
	@mkdir -p $$(@D)
	$$(SAY) "DRAW $$@"
	$$(Q)$$< $(1) $$* $(words $(CERTIFY_SHARES)) >$$@
endef
$(foreach m,$(CERTIFY),$(eval $(call certify_rule,$m)))

$(B)/certify/level.md: $(B)/test/certify/bias_level
	@mkdir -p $(@D)
	$(SAY) "DRAW $@"
	$(Q)$< >$@; echo $$? >$@.code

# ---- how often intervals hold: tables of docs/intervals.md ----

.PHONY: intervals
INTERVALS := conv1.weight conv2.bias fc2.bias

intervals: $(B)/test/certify/interval_level
	@code=0; for t in $(INTERVALS); do printf '\n`%s`:\n\n' $$t; \
	    $< datasets/lenet-mnist.h5 '*1000' $$t 300 || code=1; done; exit $$code

rng-quality: $(B)/test/bench/rng_stream
	$< | dieharder -a -g 200
	$< addresses | dieharder -a -g 200

# ---- the source ----

SOURCES := $(shell find cmd lib test -name '*.[ch]')

format:
	clang-format -i $(SOURCES)

lint: depcheck
	clang-format --dry-run -Werror $(SOURCES)
	cppcheck --quiet --error-exitcode=1 --enable=warning,portability --suppressions-list=test/cppcheck.txt -Ilib lib cmd

depcheck: $(B)/libatomo.a
	@sh test/depcheck.sh
	@sh test/circles.sh $<

listcheck: $(PROGRAMS)
	@sh test/listcheck.sh $(B)/bin

# ---- manual pages: from the tables of --help and list ----

MAN      := $(B)/man
MAN_DATE := $(firstword $(shell git log -1 --format=%cs 2>/dev/null) $(shell date -u -r CHANGELOG.md +%F))

.PHONY: man
man: $(MAN)/done

$(MAN)/done: $(PROGRAMS)
	@rm -rf $(MAN) && mkdir -p $(MAN)/man1 $(MAN)/man7
	@for p in $(PROGRAMS); do name=$$(basename $$p); $$p --man >$(MAN)/man1/$$name.1 || exit 1; \
	    for c in $$($$p --complete '' | grep -vx help); do $$p $$c --man >$(MAN)/man1/$$name-$$c.1 || exit 1; done; done
	@$(B)/bin/atomo-bench --man codecs >$(MAN)/man7/atomo.7
	@sed -i 's/@date@/$(MAN_DATE)/' $(MAN)/man?/*
	@touch $@

# ---- the documentation: its commands, and as a site ----

# Runs every command of README.md and docs/*.md that test/commands.txt does not exclude; make check runs the quick ones.
# Training ends after DOC_STEPS steps; 0: as written, which takes hours.
DOC_STEPS ?= 48
.PHONY: docs-check
docs-check: all
	@TIMES=1 STEPS=$(DOC_STEPS) $(PYTHON) test/commands.py $(B)/bin --long

HTML := build/html
.PHONY: html
html:
	@command -v pandoc >/dev/null || { echo "make html needs pandoc: apt-get install pandoc" >&2; exit 2; }
	@sh docs/site/build.sh $(HTML) $(VERSION) && echo $(HTML)/index.html

# ---- installing ----

PREFIX  ?= /usr/local
prefix  ?= $(PREFIX)
bindir  ?= $(prefix)/bin
datadir ?= $(prefix)/share
mandir  ?= $(datadir)/man
zshdir  ?= $(datadir)/zsh/site-functions

libdir  ?= $(prefix)/lib
incdir  ?= $(prefix)/include
pydir   ?= $(libdir)/python3/dist-packages
COMPLETION := bash-completion/completions/atomo-bench bash-completion/completions/atomo-train \
              fish/vendor_completions.d/atomo-bench.fish fish/vendor_completions.d/atomo-train.fish

install: all man
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(datadir)/atomo/datasets $(DESTDIR)$(datadir)/atomo/plots \
	    $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(incdir) $(DESTDIR)$(pydir)/atomo $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man7 \
	    $(DESTDIR)$(datadir)/bash-completion/completions $(DESTDIR)$(zshdir) $(DESTDIR)$(datadir)/fish/vendor_completions.d
	install -m 644 $(MAN)/man1/* $(DESTDIR)$(mandir)/man1
	install -m 644 $(MAN)/man7/* $(DESTDIR)$(mandir)/man7
	for p in $(notdir $(PROGRAMS)); do \
	    install -m 644 cmd/completion/atomo.bash $(DESTDIR)$(datadir)/bash-completion/completions/$$p && \
	    install -m 644 cmd/completion/atomo.fish $(DESTDIR)$(datadir)/fish/vendor_completions.d/$$p.fish || exit 1; done
	install -m 644 cmd/completion/_atomo $(DESTDIR)$(zshdir)/_atomo
	install -m 644 $(LIBRARY) $(DESTDIR)$(libdir)
	ln -sf $(SONAME) $(DESTDIR)$(libdir)/libatomo.so
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ! command -v ldconfig >/dev/null || ldconfig
	install -m 644 lib/atomo.h $(DESTDIR)$(incdir)
	sed 's|@prefix@|$(prefix)|; s|@libdir@|$(libdir)|; s|@includedir@|$(incdir)|; s|@version@|$(VERSION)|; s|@private@|$(LIBS)|' \
	    lib/library/atomo.pc.in >$(DESTDIR)$(libdir)/pkgconfig/atomo.pc
	install -m 644 lib/python/atomo/*.py $(DESTDIR)$(pydir)/atomo
	install $(PROGRAMS) $(DESTDIR)$(bindir)
	install -m 644 datasets/lenet-mnist.h5 datasets/gpt-nano-babble.h5 datasets/dump_torch.py $(DESTDIR)$(datadir)/atomo/datasets
	install -m 644 plots/*.gp $(DESTDIR)$(datadir)/atomo/plots

uninstall:
	rm -f $(PROGRAMS:$(B)/bin/%=$(DESTDIR)$(bindir)/%)
	rm -f $(LIBRARY:$(B)/public/%=$(DESTDIR)$(libdir)/%) $(DESTDIR)$(libdir)/libatomo.so $(DESTDIR)$(incdir)/atomo.h \
	    $(DESTDIR)$(libdir)/pkgconfig/atomo.pc
	rm -rf $(DESTDIR)$(datadir)/atomo $(DESTDIR)$(pydir)/atomo
	rm -f $(COMPLETION:%=$(DESTDIR)$(datadir)/%) $(DESTDIR)$(zshdir)/_atomo $(DESTDIR)$(mandir)/man7/atomo.7 \
	    $(foreach p,$(notdir $(PROGRAMS)),$(DESTDIR)$(mandir)/man1/$p.1 $(DESTDIR)$(mandir)/man1/$p-*.1)

# ---- what a release consists of ----

# The committed files as a tarball: the same commit gives the same bytes, whatever the umask, the time zone and git's settings.
DIST := build/atomo-$(VERSION).tar.gz
.PHONY: tarball deb
dist: listcheck
	@$(MAKE) --no-print-directory tarball

tarball:
	@mkdir -p build
	@git -c tar.umask=0022 archive --format=tar --prefix=atomo-$(VERSION)/ -o $(DIST:.gz=) HEAD && gzip -9nf $(DIST:.gz=) && echo $(DIST)

# Debian packages of the committed files, in build/deb; they need dpkg-dev, debhelper, dh-python, pandoc and, to be checked, lintian.
DEB := build/deb
deb:
	@for p in dh dh_python3 dpkg-buildpackage pandoc; do command -v $$p >/dev/null || { echo "make deb needs $$p: apt-get install dpkg-dev debhelper dh-python pandoc lintian" >&2; exit 2; }; done
	@$(MAKE) --no-print-directory tarball
	@rm -rf $(DEB) && mkdir -p $(DEB) && cp $(DIST) $(DEB)/atomo_$(VERSION).orig.tar.gz && tar xzf $(DIST) -C $(DEB)
	@cp -r $(DEB)/atomo-$(VERSION)/docs/packaging/debian $(DEB)/atomo-$(VERSION)/
	@who=$$(git log -1 --format='%an <%ae>') && [ -z "$$DEBEMAIL" ] || who="$${DEBFULLNAME:-$$DEBEMAIL} <$$DEBEMAIL>"; \
	    sed -i "s/@version@/$(VERSION)/; s/@date@/$$(git log -1 --format=%cD)/; s|@maintainer@|$$who|" $(addprefix $(DEB)/atomo-$(VERSION)/debian/,changelog control)
	@sed -e '1,4d' -e 's/^$$/./; s/^/ /' LICENSE | sed -e '/^@licence@/r /dev/stdin' -e '/^@licence@/d' -i $(DEB)/atomo-$(VERSION)/debian/copyright
	@REVISION=$$(git describe --always --abbrev=12); export REVISION; cd $(DEB)/atomo-$(VERSION) && \
	    MAKEFLAGS= dpkg-buildpackage -us -uc >../build.log 2>&1 || { grep -aE 'rror|\*\*\*' ../build.log | cut -c1-300 | tail -20; exit 1; }
	@! command -v lintian >/dev/null || lintian --allow-root --suppress-tags initial-upload-closes-no-bugs --fail-on error $(DEB)/*.changes
	@ls $(DEB)/*.deb

# Installs, uses and removes the packages in bare Debian roots (as root; Debian: debootstrap).
.PHONY: deb-check
deb-check: deb
	@sh test/packages.sh $(DEB) $(ROOT)

# The libraries that the programs load, with versions and licences (CycloneDX).
SBOM := build/atomo-$(VERSION).cdx.json
sbom: $(PROGRAMS)
	@CC="$(CC)" sh docs/packaging/sbom.sh $(B)/bin/atomo-bench $(VERSION) $(MAN_DATE)T00:00:00Z $(PKGS) $(SCIENCE) $(MPI) >$(SBOM) && echo $(SBOM)

clean:
	rm -rf build

help:
	@echo "make demo      set up, build, compare the paper's compressors on a real gradient, draw a figure"
	@echo "make check     set up, build, run every test            (SAN=1: under ASan and UBSan)"
	@echo "make           build                                    (DEBUG=1, V=1)"
	@echo "make datasets  train gpt-nano and write datasets/gpt-nano-babble.h5 anew, in some minutes"
	@echo "make results   27 codecs on five gradients and 8 in three trainings, and the tables of docs/results.md anew, within an hour"
	@echo "make training  the training runs of docs/training.md, and its tables anew  (DATA=full DATASETS=DIR)"
	@echo "make tables    the tables of README.md and docs/*.md anew, by the commands in their sources; with LONG=1 those that take long  (DUMPS=DIR)"
	@echo "make tables-check   compare the tables that take seconds, number by number, and the commands of the others"
	@echo "make paper     every figure and table of the ATOMO paper into build/paper  (DATA=full DATASETS=DIR)"
	@echo "make paper-resnet   figures 2, 3 and 5 from a ResNet-18 on a part of CIFAR-10, within an hour  (DATASETS=DIR STEPS=80)"
	@echo "make bench     speed, as ratios to memcpy and to peers: docs/performance.md"
	@echo "make bench-check   fail where a codec has fallen by more than a quarter against docs/performance.json"
	@echo "make fuzz      search for inputs that break a decoder or parser  (FUZZ_SECONDS=60 each)"
	@echo "make fuzz-codecs   the same for the decoder of one codec after the other  (CODECS=\"svd qsgd\")"
	@echo "make faults    every command with one of its own allocations or system calls failing  (POINTS=0: each call)"
	@echo "make torture   signals, times and limits: what make check leaves out, as a busy machine can spoil it"
	@echo "make kills     kill commands at random moments, resume them, compare with undisturbed runs  (KILLS=500)"
	@echo "make stops     stop commands on a vector of 2.4 GB with SIGTERM; each must end within a second  (STOPS=10)"
	@echo "make predict   train on two made-up hosts, and compare the time of an iteration with the prediction of cost: docs/cluster.md"
	@echo "make resume-kills  kill comparisons within one codec, resume them, compare with an undisturbed run  (KILLS=500)"
	@echo "make rank-kills   kill ranks of a training run at random moments; nothing may hang or be lost  (RANK_KILLS=100)"
	@echo "make coverage  lines and branches of lib/ that the tests run, for each room; fail below 95 and 85 %"
	@echo "make mutants   plant faults in what makes numbers; the tests must see each  (WORD=metrics.c: some)"
	@echo "make intervals how often the 95 % intervals of results hold the true value: docs/intervals.md"
	@echo "make certify   bias and variance of every codec that promises them, and the tests' own level: docs/certificate.md"
	@echo "make huge      a vector of over 2^31 elements through encode, decode and inspect: 20 GB of memory  (HUGE_DIR=DIR)"
	@echo "make verify-reference   hold payloads, metrics and promises against Python, numpy, scipy and h5py"
	@echo "make clang     build with clang, warnings as errors; hold its payloads against the stored ones"
	@echo "make wheel     the Python package for pip install, in build/wheel"
	@echo "make dist      a tarball of the committed files, the same bytes each time; make sbom: the libraries, versions and licences"
	@echo "make docs-check   run every command of README.md and docs/*.md with at most DOC_STEPS=48 steps of training, half an hour"
	@echo "make html      the documentation as a small static site, in build/html  (needs pandoc)"
	@echo "make deb       Debian packages of the committed files, in build/deb; make deb-check: use them in a bare root"
	@echo "make golden    rewrite the stored payloads; review the difference"
	@echo "make docs      regenerate docs/compressors.md and the figures of docs/atomo.md"
	@echo "make format lint depcheck tsan rng-quality install uninstall clean deps deps-mpi"

-include $(shell find build \( -path build/deb -o -path build/desks \) -prune -o -name '*.d' -print 2>/dev/null)
