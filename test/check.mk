# check.mk -- builds and runs the tests of `make check`.

$(B)/test/exchange/%.o: FLAGS += $(MPI_CFLAGS)

# Compiling and linking are two commands, as ccache stores only the results of compiling.
$(B)/test/%.o: FLAGS += $(TEST_FLAGS) $(SCIENCE_FLAGS)
$(TESTS:%=%.o): $(B)/science $(B)/mpi
# Nearly all of a test's time is the library's. At -O1 the tests compile in half the time.
$(TESTS:%=%.o): CFLAGS := $(patsubst -O3,-O1,$(CFLAGS))

$(B)/test/%: $(B)/test/%.o $(B)/libatomo.a
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS) $(TEST_LIBS)

tests: $(TESTS)

# Stored payloads are also read and written with fewer instruction sets (see kernels.c). An object on the command line
# in front of the archive replaces the archive's object of the same functions.
GOLDENS := $(if $(filter avx2,$(ISAS)),$(B)/test/golden-most0 $(B)/test/golden-most1)

$(foreach m,0 1 2,$(B)/kernels-most$m.o): $(B)/kernels-most%.o: lib/math/vec/kernels.c lib/math/vec/kernels.h $(B)/flags
	@mkdir -p $(@D)
	$(SAY) "CC $< (most $*)"
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) -DKERNELS_MOST=$* -MMD -MP -c -o $@ $<

$(GOLDENS): $(B)/test/golden-most%: $(B)/test/compress/test_golden.o $(B)/kernels-most%.o $(B)/libatomo.a
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS) $(TEST_LIBS)

# The example codec of docs/adding-a-compressor.md is extracted and added to the list of codecs, to run the tests of
# promises and of unbiasedness on it.
ADDING := $(B)/test/adding-promises $(B)/test/adding-unbiased

$(B)/adding/meansign.c: docs/adding-a-compressor.md
	@mkdir -p $(@D)
	@awk '/^```c$$/ && !ended {inside = 1; next} /^```$$/ && inside {inside = 0; ended = 1} inside' $< >$@

$(B)/adding/all.c: lib/compress/all.c
	@mkdir -p $(@D)
	@sed 's/^ *ONE(entry) .*/&\n    ONE(meansign) \\/' $< >$@

$(B)/adding/meansign.o $(B)/adding/all.o: %.o: %.c $(B)/flags
	$(SAY) CC $<
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(ADDING): $(B)/test/adding-%: $(B)/test/compress/test_%.o $(B)/adding/meansign.o $(B)/adding/all.o $(B)/libatomo.a
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS) $(TEST_LIBS)
# ---- tests ----

RUNS    := $(TESTS:$(B)/test/%=run-%) $(GOLDENS:$(B)/test/%=run-%) $(ADDING:$(B)/test/%=run-%)
ROOMS   := $(sort $(foreach t,$(TESTS:$(B)/test/%=%),$(firstword $(subst /, ,$t))))
FUZZERS := $(patsubst test/fuzz/%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c)))
REPLAYS := $(FUZZERS:%=$(B)/fuzz/%)

.PHONY: $(RUNS) $(FUZZERS:%=replay-%) cli-tests $(ROOMS:%=check-%)

VEC_RUNS := run-math/test_kernels run-math/test_thin run-math/test_wavelet

# The tests of one directory of test/, for example: make check-coder
$(foreach r,$(ROOMS),$(eval check-$r: $(filter run-$r/%,$(RUNS))))

# The tests that take longest begin first, so that no core waits at the end.
LONGEST := check-reference cli-paper cli-docs cli-report cli-ranks cli-compare run-measure/test_memory run-compress/test_promises run-exchange/test_ranks \
        run-train/test_train_digits cli-tables cli-train cli-output cli-shell run-compress/test_unbiased run-report/test_plot_page python-torch cli-plot cli-doctor \
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

# A rank that waits sleeps.
$(B)/rest.so: test/exchange/rest.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -shared -fPIC -O1 -D_GNU_SOURCE -Wall -Wextra -o $@ $<

run-exchange/test_ranks cli-ranks: $(B)/rest.so

# Independent implementations of the documents check the programs (Debian: python3-numpy python3-scipy python3-h5py).
REFERENCE := decode casts altered compare against claims merge vectors files patch sample

.PHONY: verify-reference check-reference $(REFERENCE:%=reference-%)

verify-reference: all
	@$(PYTHON) -c 'import numpy, scipy, h5py'
	@$(PARALLEL) -O $(REFERENCE:%=reference-%)

# The faster ones of these checks run in `make check` if Python has the modules that they import.
REFERENCE_CHECK := decode casts altered against claims merge vectors files patch sample
check-reference: $(PROGRAMS) $(LIBRARY)
	+@rm -f $(B)/reference*.log; if [ -z "$(SAN)" ] && $(PYTHON) -c 'import numpy, scipy, h5py' 2>/dev/null; then $(MAKE) --no-print-directory $(REFERENCE_CHECK:%=reference-%); \
	else for t in $(REFERENCE_CHECK); do \
	    echo "skip: reference/check_$$t: needs numpy, scipy and h5py (Debian: python3-numpy python3-scipy python3-h5py), and a build without sanitizers"; \
	done | tee $(B)/reference.log; fi

$(REFERENCE:%=reference-%): reference-%:
	@$(call timed,$(B)/reference-$*) if PYTHONDONTWRITEBYTECODE=1 $(ENDING) $(PYTHON) test/reference/check_$*.py $(B)/bin/atomo-bench >$(B)/reference-$*.log 2>&1; \
	then tail -1 $(B)/reference-$*.log; \
	else grep -v '^passed' $(B)/reference-$*.log | tail -40; echo "FAILED: reference-$*, see $(B)/reference-$*.log" | tee -a $(B)/reference-$*.log; exit 1; fi

# Runs fuzz targets on stored and on random inputs; `make fuzz` searches for new inputs.
$(B)/fuzz/%: $(B)/test/fuzz/%.o $(B)/test/fuzz/replay.o $(B)/libatomo.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITISE) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

# This target has functions of its own in the place of those that read HDF5.
$(B)/fuzz/fuzz_checkpoint build/fuzz/fuzz_checkpoint: LDFLAGS += $(foreach f,open close attrs count find tensor read,-Wl$(,)--wrap=dump_$f)

$(FUZZERS:%=replay-%): replay-%: $(B)/fuzz/%
	@$(call timed,$<) $(ENDING) $< test/fuzz/corpus/$*

CLI_TESTS := $(patsubst test/cli/%.t,%,$(wildcard test/cli/*.t))
.PHONY: $(CLI_TESTS:%=cli-%)

cli-tests: $(CLI_TESTS:%=cli-%)

$(CLI_TESTS:%=cli-%): cli-%: $(PROGRAMS) $(LIBRARY)
	@$(call timed,$(B)/cli-$*) PYTHON=$(PYTHON) sh test/cli/run.sh $(B)/bin test/cli/$*.t >$(B)/cli-$*.log 2>&1; code=$$?; sed 's/^cli:/cli $*:/' $(B)/cli-$*.log; exit $$code

# The tests of the Python package, if its modules are installed (Debian: python3-numpy, python3-h5py, python3-pandas,
# python3-torch). A program without AddressSanitizer cannot load a library that has it, so there are no such tests
# under SAN=1.
PYTHON_MORE := fsdp jax ray docs installed
PYTHON_TESTS := atomo guest dump exchange torch ranks overlap local digits chunks weights $(PYTHON_MORE)
AS_PACKAGE = PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=lib/python ATOMO_LIBRARY=$(CURDIR)/$(B)/public/$(SONAME)

.PHONY: python-tests $(PYTHON_TESTS:%=python-%) has-numpy

has-numpy: all
	@rm -f $(B)/numpy; ! $(PYTHON) -c 'import numpy' 2>/dev/null || touch $(B)/numpy

# With -v, unittest names each test that it skips.
VERBOSE_atomo := -v
VERBOSE_guest := -v

# python-digits, which trains, is run by hand: python-torch holds the weights of short runs against atomo-train. PYTHON_MORE need
# what Debian does not have, and are run by check-python.
python-tests: $(filter-out python-digits $(PYTHON_MORE:%=python-%),$(PYTHON_TESTS:%=python-%))

# All of them with the packages of test/python/requirements.txt, from PyPI, in an environment of their own. Nothing else needs it.
#: make check-python   the tests of the Python package with PyTorch 2.13, Ray, JAX, pandas and mypy from PyPI, in build/venv
VENV := build/venv
.PHONY: check-python
$(VENV)/done: test/python/requirements.txt
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV) && $(VENV)/bin/pip install -q -r $< && touch $@

check-python: $(VENV)/done all
	@LONG=1 $(MAKE) --no-print-directory -k -O PYTHON=$(CURDIR)/$(VENV)/bin/python python-tests $(PYTHON_MORE:%=python-%)

python-digits: $(B)/test/python/export_digits
python-weights: $(B)/test/python/gpt_pass

$(PYTHON_TESTS:%=python-%): python-%: has-numpy
	@$(call timed,$(B)/python-$*) if [ -n "$(SAN)" ] || [ ! -e $(B)/numpy ]; then echo "skip: python/test_$*: needs numpy, and a build without sanitizers" | tee $(B)/python-$*.log; \
	elif $(AS_PACKAGE) BIN=$(CURDIR)/$(B)/bin DIGITS=$(B)/test/python/export_digits GPT_PASS=$(B)/test/python/gpt_pass \
	    $(ENDING) $(PYTHON) test/python/test_$*.py $(VERBOSE_$*) >$(B)/python-$*.log 2>&1; then echo "python/test_$*: $$(tail -1 $(B)/python-$*.log)"; \
	else cat $(B)/python-$*.log; echo "FAILED: python/test_$*" | tee -a $(B)/python-$*.log; exit 1; fi

depcheck: $(B)/libatomo.a
	@sh test/depcheck.sh
	@sh test/circles.sh $<

listcheck: $(PROGRAMS)
	@sh test/listcheck.sh $(B)/bin

# Checks that each fault of the list still changes the file that it names.
mutants-fresh:
	@sh test/mutants/run.sh -n
