# Makefile -- builds, tests and installs everything, without recursion; test/lab.mk has what is run by hand.
#
#: make demo      set up, build, compare the paper's compressors on a real gradient, draw a figure
#: make check     set up, build, run every test            (SAN=1: under ASan and UBSan)
#: make           build                                    (DEBUG=1, V=1)
#: make format lint depcheck tsan rng-quality install uninstall clean deps deps-mpi

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
             libzfp-dev python3
DEB_MPI   := libopenmpi-dev openmpi-bin

have_cc    := $(shell $(CC) --version >/dev/null 2>&1 && echo yes)
have_pkgs  := $(shell pkg-config --exists $(PKGS) 2>/dev/null && echo yes)
have_heads := $(shell printf '\043include <%s>\n' $(HEADERS) | $(CC) -E - >/dev/null 2>&1 && echo yes)
ABSENT     := $(strip $(if $(have_cc),,$(CC)) $(if $(have_cc),$(if $(have_heads),,$(HEADERS))) \
              $(if $(have_pkgs),,$(shell for p in $(PKGS); do pkg-config --exists $$p 2>/dev/null || echo $$p; done)))
# These targets build nothing, or run `make deps` first.
NEED_NONE  := deps deps-mpi check demo paper paper-resnet has-cifar10 help clean dist tarball deb deb-check html format lint depcheck uninstall mutants-fresh words
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
# The codec zfp is in the build if the header of its library is found; `make SCIENCE=` builds without.
SCIENCE    ?= $(if $(shell printf '\043include <zfp.h>\n' | $(CC) -E - >/dev/null 2>&1 && echo yes),zfp)
SCIENCE := $(SCIENCE)
SCIENCE_FLAGS := $(if $(filter zfp,$(SCIENCE)),-DATOMO_ZFP)
PKG_CFLAGS := $(if $(have_pkgs),$(shell pkg-config --cflags $(PKGS)))
# The programs load these libraries, and MPI, only where they need them (lib/base/dynamic.h).
LOADED     := hdf5-serial
PKG_LIBS   := $(if $(have_pkgs),$(shell pkg-config --libs $(filter-out $(LOADED),$(PKGS))))
TEST_LIBS  := $(if $(have_pkgs),$(shell pkg-config --libs $(LOADED))) $(MPI_LIBS) -lcmocka

# The constants of an enum are ints in C11; clang of Debian 13 takes them for a type of their own beside a double.
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef \
            -Wno-enum-float-conversion $(if $(CI),-Werror)
OPTIMISE := $(if $(DEBUG),-O0 -g,$(if $(SAN),-O1 -g,-O3))
, := ,
SANITISE := $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS   ?= $(OPTIMISE)
ARCH     := $(shell uname -m)
# On s390x, C11 without this computes floats in double precision, and payloads would differ.
EXCESS   := $(if $(filter s390x,$(ARCH)),-fexcess-precision=fast)
FLAGS    := -std=c11 $(EXCESS) -ffp-contract=off -fno-math-errno -pthread -fPIC -fvisibility=hidden -D_GNU_SOURCE -Ilib $(WARNINGS) $(SANITISE) $(PKG_CFLAGS)
NN_FLAGS := -ffp-contract=fast -fno-trapping-math
# cmocka gives each test a state that few use. gcc 12 for aarch64 ends with an internal error where it vectorises a loop with fmax, and tests have such loops.
TEST_FLAGS := -Itest -I. -Wno-unused-parameter $(if $(filter aarch64,$(ARCH)),-fno-tree-loop-vectorize)
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

VEC_SRC  := lib/math/vec/kernels_vec.c
NN_SRC   := $(sort $(wildcard lib/train/vec/*_vec.c))
NO_SRC   := $(if $(SCIENCE),,lib/compress/science/zfp.c)
LIB_SRC  := $(sort $(filter-out %_vec.c $(NO_SRC),$(shell find lib -name '*.c')))
PAGE_SRC := build/page_parts.c
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(B)/page_parts.o $(foreach i,$(ISAS),$(VEC_SRC:%.c=$(B)/%.$(i).o) $(NN_SRC:%.c=$(B)/%.$(i).o))
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
        rng-quality install uninstall wheel dist sbom clean help FORCE
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

$(B)/flags: $(if $(subst x$(file <$(B)/flags),,x$(ALL_FLAGS)),FORCE)
	@mkdir -p $(@D)
	@echo '$(ALL_FLAGS)' >$@

# The CSS and JavaScript of report's page are compiled into the program, each with the hash that the page's content
# security policy needs.
as_text = sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/    "&\\n"/' $(1)
as_hash = sha256sum <$(1) | cut -c1-64 | tr a-f A-F | basenc --base16 -d | basenc --base64

# The explorer's files share their names, in one block.
EXPLORE := $(patsubst %,lib/report/explore%.js,_data _view _elements _numbers _canvas _chart _rows _charts _tables) lib/report/explore.js

build/explore.js: $(EXPLORE) Makefile
	@mkdir -p $(@D)
	@{ printf '"use strict";\n{\n'; cat $(EXPLORE); echo '}'; } >$@

$(PAGE_SRC): lib/report/page.css lib/report/page.js build/explore.js
	@mkdir -p $(@D)
	@{ echo '#include "report/report_page.h"'; for f in $^; do \
	    hash=$$($(call as_hash,$$f)) || exit 1; \
	    echo "const PagePart $$(basename $$f | tr . _) = {"; $(call as_text,$$f); echo "    \"\", \"$$hash\"};"; done; } >$@

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

LOADERS := $(foreach f,dump/tensor_hdf5_load exchange/net_mpi math/linalg_load,$(B)/lib/$f.o build/fuzz/lib/$f.o)

$(LOADERS): FILE_FLAGS = -include $(B)/loaded.h
$(LOADERS): $(B)/loaded.h

define vec_rule
$(B)/lib/math/vec/%.$(1).o: lib/math/vec/%.c $(B)/flags
	@mkdir -p $$(@D)
	$(SAY) "CC $$< ($(1))"
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) $(ISA_$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach i,$(ISAS),$(eval $(call vec_rule,$(i))))

# The kernels of neural networks may fuse products and sums, so their results may differ between instruction sets.
# With -ftrapping-math gcc would not vectorise loops with conditional sums.
define nn_rule
$(B)/lib/train/vec/%.$(1).o: lib/train/vec/%.c $(B)/flags
	@mkdir -p $$(@D)
	$(SAY) "CC $$< ($(1))"
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) $(ISA_$(1)) $(if $(ISA_$(1)),-mfma) $(NN_FLAGS) -MMD -MP -c -o $$@ $$<
endef
$(foreach i,$(ISAS),$(eval $(call nn_rule,$(i))))

VERSION_FLAGS := -DATOMO_VERSION='"$(VERSION)"' -DATOMO_REVISION='"$(REVISION)"'
$(B)/lib/report/report_meta.o $(B)/lib/library/library_codec.o: FLAGS += $(VERSION_FLAGS)
$(B)/lib/report/report_meta.o $(B)/lib/library/library_codec.o: $(B)/revision

$(B)/lib/exchange/net.o $(B)/lib/exchange/net_mpi.o: FLAGS += $(MPI_CFLAGS)
$(B)/lib/exchange/net_mpi.o $(B)/lib/exchange/net.o: $(B)/mpi
$(B)/mpi: FORCE
	@mkdir -p $(@D)
	@echo '$(MPI)' | cmp -s - $@ || echo '$(MPI)' >$@

# These files know if the codec zfp is in the build.
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

# ---- the two commands of the README ----

# Installs missing packages, or nothing if all are there. Tests for the libraries, headers and programs that the build
# uses, not for package names.
deps:
	@missing=; for p in $(PKGS) cmocka; do pkg-config --exists $$p 2>/dev/null || missing="$$missing $$p"; done; \
	for h in $(HEADERS) zfp.h; do echo "#include <$$h>" | $(CC) -E - >/dev/null 2>&1 || missing="$$missing $$h"; done; \
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
	@$(PARALLEL) all tests $(GOLDENS) $(ADDING) $(REPLAYS) $(B)/test/python/gpt_pass
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

# ---- installing ----

PREFIX  ?= /usr/local
prefix  ?= $(PREFIX)
bindir  ?= $(prefix)/bin
datadir ?= $(prefix)/share
mandir  ?= $(datadir)/man
zshdir  ?= $(datadir)/zsh/site-functions

libdir  ?= $(prefix)/lib
incdir  ?= $(prefix)/include
# A folder below PREFIX/lib where this Python looks; else one that PYTHONPATH must name.
pydir   ?= $(or $(shell $(PYTHON) -c 'import site; print(*[p for p in [*site.getsitepackages(), site.getusersitepackages()] if p.startswith("$(prefix)/lib")][:1])' 2>/dev/null),$(libdir)/python3/dist-packages)
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
	install -m 644 lib/python/atomo/*.py lib/python/atomo/py.typed $(DESTDIR)$(pydir)/atomo
	install $(PROGRAMS) $(DESTDIR)$(bindir)
	install -m 644 datasets/lenet-mnist.h5 datasets/gpt-nano-babble.h5 datasets/dump_torch.py $(DESTDIR)$(datadir)/atomo/datasets

uninstall:
	rm -f $(PROGRAMS:$(B)/bin/%=$(DESTDIR)$(bindir)/%)
	rm -f $(LIBRARY:$(B)/public/%=$(DESTDIR)$(libdir)/%) $(DESTDIR)$(libdir)/libatomo.so $(DESTDIR)$(incdir)/atomo.h \
	    $(DESTDIR)$(libdir)/pkgconfig/atomo.pc
	rm -rf $(DESTDIR)$(datadir)/atomo $(DESTDIR)$(pydir)/atomo
	rm -f $(COMPLETION:%=$(DESTDIR)$(datadir)/%) $(DESTDIR)$(zshdir)/_atomo $(DESTDIR)$(mandir)/man7/atomo.7 \
	    $(foreach p,$(notdir $(PROGRAMS)),$(DESTDIR)$(mandir)/man1/$p.1 $(DESTDIR)$(mandir)/man1/$p-*.1)

clean:
	rm -rf build

# The lines that begin with `#: `, of all makefiles.
help:
	@sed -n 's/^#: //p' $(filter-out %.d,$(MAKEFILE_LIST))

include test/check.mk test/lab.mk docs/packaging/release.mk

-include $(shell find build \( -path build/deb -o -path build/desks \) -prune -o -name '*.d' -print 2>/dev/null)
