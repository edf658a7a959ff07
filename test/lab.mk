# lab.mk -- what is run by hand: the tables and figures of the documents, searches for faults, speed, the certificate.
#
#: make datasets  train gpt-nano and write datasets/gpt-nano-babble.h5 anew, in some minutes
#: make results   27 codecs on five gradients and 8 in three trainings, and the tables of docs/results.md anew, within an hour
#: make today     the training runs of docs/today.md, and its tables anew, within 3 hours of two cores  (QUICK=1: small, in minutes)
#: make training  the training runs of docs/training.md, and its tables anew  (DATA=full DATASETS=DIR)
#: make tables    the tables of README.md and docs/*.md anew, by the commands in their sources; with LONG=1 those that take long  (DUMPS=DIR)
#: make tables-check   compare the tables that take seconds, number by number, and the commands of the others
#: make paper     every figure and table of the ATOMO paper into build/paper  (DATA=full DATASETS=DIR)
#: make paper-resnet   figures 2, 3 and 5 from a ResNet-18 on a part of CIFAR-10, within an hour  (DATASETS=DIR STEPS=80)
#: make bench     speed, as ratios to memcpy and to peers: docs/generated/performance.md
#: make bench-check   fail where a codec has fallen by more than a quarter against docs/generated/performance.json
#: make fuzz      search for inputs that break a decoder or parser  (FUZZ_SECONDS=60 each)
#: make fuzz-codecs   the same for the decoder of one codec after the other  (CODECS="svd qsgd")
#: make torture   kill, stop, resume and starve commands and ranks at random moments; a busy machine can spoil it  (KILLS=20 POINTS=5 PART=kills)
#: make predict   train on two made-up hosts, and compare the time of an iteration with the prediction of cost: docs/cluster.md
#: make advise-check   hold the first choice of advise against all codecs, rates and exchanges  (ADVISED="FILE ..." LINKS="lan1g lan10g")
#: make coverage  lines and branches of lib/ that the tests run, for each room; fail below 95 and 85 %
#: make mutants   plant faults in what makes numbers; the tests must see each  (WORD=metrics.c: some)
#: make intervals how often the 95 % intervals of results hold the true value: docs/generated/interval-counts.md
#: make certify   bias and variance of every codec that promises them, and the tests' own level: docs/generated/certificate.md
#: make huge      a vector of over 2^31 elements through encode, decode and inspect: 20 GB of memory  (HUGE_DIR=DIR)
#: make verify-reference   hold payloads, metrics and promises against Python, numpy, scipy and h5py
#: make clang     build with clang, warnings as errors; hold its payloads against the stored ones
#: make docs-check   run every command of README.md and docs/*.md with at most DOC_STEPS=48 steps of training, half an hour
#: make golden    rewrite the stored payloads; review the difference
#: make words     the words of README.md and docs/ that are written by hand
#: make docs      regenerate docs/generated/compressors.md and the figures of docs/atomo.md

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

.PHONY: training results today

# The dumps that plots/results.list makes, and the tables that go into docs/results.json.
RESULT_DUMPS := resnet18 vgg11 gpt-nano gpt-char
RESULT_TABLES := rates $(RESULT_DUMPS:%=rates-%) lenet-means fc-means gpt-means

results: all
	@PAPER_LIST=plots/results.list PAPER_HEADING='The field at a glance' PAPER_DUMPS='$(RESULT_DUMPS)' sh plots/paper.sh $(B)/bin build/results
	@sh plots/rates.sh all docs/results.json $(RESULT_TABLES:%=build/results/data/%.json)
	@cp $(patsubst %,build/results/%.svg,front $(RESULT_DUMPS:%=front-%) lenet-accuracy fc-accuracy gpt-accuracy) docs/figures/
	@LONG=1 $(PYTHON) test/tables.py make $(B)/bin docs/results.md docs/generated/rates.md

training: all
	@PAPER_LIST=plots/training.list sh plots/paper.sh $(B)/bin build/training
	@LONG=1 $(PYTHON) test/tables.py make $(B)/bin docs/training.md

today: all
	@PAPER_QUICK='$(QUICK)' PAPER_LIST=plots/today.list PAPER_PAGE=no PAPER_HEADING='Training of today' sh plots/paper.sh $(B)/bin build/today
	@$(PYTHON) plots/today.py figure build/today/data docs/figures/today.svg
	@LONG=1 $(PYTHON) test/tables.py make $(B)/bin docs/today.md

# ---- the tables of the documents, by the commands in their sources (test/tables.py) ----

# Makes the tables that take seconds anew, with LONG=1 also others whose files are there or in the folder DUMPS; tables-check compares.
PAGES ?= README.md $(sort $(wildcard docs/*.md)) docs/generated/rates.md
.PHONY: tables tables-check

tables: all
	@$(PYTHON) test/tables.py make $(B)/bin $(PAGES)

tables-check: all
	@$(PYTHON) test/tables.py check $(B)/bin $(PAGES)

# ---- searches for faults ----

$(B)/faults.so: test/faults.c
	$(SAY) CC $<
	$(Q)$(CC) -shared -fPIC -O1 -D_GNU_SOURCE -Wall -Wextra -o $@ $< -ldl

# Disturbs commands at random moments: kills, signals, failing calls (test/torture.py says what must hold). PART=kills: a part of it.
# What it has needs signals at some moment, times, or limits of the system; a busy machine can spoil it, so `make check` has none.
PART ?=
.PHONY: torture
torture: export KILLS := $(or $(KILLS),20)
torture: export POINTS := $(or $(POINTS),5)
torture: export SHIM = $(B)/faults.so
torture: $(PROGRAMS) $(LIBRARY) $(B)/faults.so $(B)/rest.so $(B)/two_hosts
	@$(PYTHON) test/torture.py $(B)/bin $(PART)
	@[ -n '$(PART)' ] || sh test/cli/run.sh $(B)/bin test/torture.t
	@[ -n '$(PART)' ] || TORTURE=1 $(MAKE) --no-print-directory run-exchange/test_ranks

# Two made-up hosts and a link between them, and training on them against the predictions of `cost`.
$(B)/two_hosts: test/exchange/two_hosts.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -O2 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wconversion -o $@ $<

.PHONY: predict
predict: $(PROGRAMS) $(B)/two_hosts
	@$(PYTHON) test/exchange/predict.py $(B)/bin $(B)/two_hosts

.PHONY: advise-check
LINKS   ?= edge20m wan100m lan1g lan10g lan25g lan100g
ADVISED ?= $(wildcard datasets/*.h5)
advise-check: $(PROGRAMS)
	@low=0; for d in $(ADVISED); do $(PYTHON) test/bench/advise_best.py $(B)/bin $$d $(LINKS) || low=1; done; exit $$low

# A vector of 2^31 + 5 elements through encode, decode and inspect: 20 GB of memory, 30 GB in HUGE_DIR, some minutes.
.PHONY: huge
huge: all
	@$(PYTHON) test/huge.py $(B)/bin $(HUGE_DIR)

# Plants one fault at a time in source files; the tests that test/mutants/list.txt names must fail. WORD=... runs only
# some lines.
.PHONY: mutants mutants-fresh figures-check

# All figures of the overlap test, which make check draws a part of.
figures-check: $(B)/test/report/test_plot_page
	FIGURES=all $<

mutants: all
	+@CC="$(CC)" MAKE="$(MAKE)" sh test/mutants/run.sh $(B) '$(WORD)'

DOCS_FIGURES := spectrum sweep errors heat histogram-conv histogram-fc convergence

# Writes the documents that the programs print about themselves; a release must have the committed documents equal to
# these.
docs: $(PROGRAMS) $(B)/test/report/test_fields
	@mkdir -p docs
	ATOMO_WRITE_DOCS=1 $(B)/test/report/test_fields >$(B)/docs.log 2>&1
	$(B)/bin/atomo-bench list --details --format md -o docs/generated/compressors.md
	@mkdir -p docs/figures $(B)/docs
	$(B)/bin/atomo-bench inspect datasets/lenet-mnist.h5 --step '*1000' --spectrum -o $(B)/docs/spectrum.csv
	$(B)/bin/atomo-bench plot spectrum $(B)/docs/spectrum.csv -o $(B)/docs/spectrum.svg
	$(B)/bin/atomo-bench sweep datasets/lenet-mnist.h5 -o $(B)/docs/sweep.csv -c entry -c svd -c svd:vectors=qsgd \
	    -c hadamard -c qsgd -c joint -c joint+svd:vectors=qsgd
	$(B)/bin/atomo-bench plot pareto $(B)/docs/sweep.csv -o $(B)/docs/sweep.svg
	$(B)/bin/atomo-bench compare datasets/lenet-mnist.h5 --step '*1000' --repeats 3 -o $(B)/docs/compare.csv -c qsgd:bits=4/8 -c terngrad -c svd:rank=2
	$(B)/bin/atomo-bench plot errors $(B)/docs/compare.csv -o $(B)/docs/errors.svg
	$(B)/bin/atomo-bench compare datasets/lenet-mnist.h5 --step '*1000' --repeats 3 -o $(B)/docs/tensors.csv -c qsgd:bits=2/4/8 -c terngrad \
	    -c svd:rank=2 -c entry:bits=0.6 -c ef+topk:ratio=0.01
	$(B)/bin/atomo-bench plot heat $(B)/docs/tensors.csv -o $(B)/docs/heat.svg
	for k in conv fc; do \
	    $(B)/bin/atomo-bench inspect datasets/lenet-mnist.h5 --kind $$k --histogram -o $(B)/docs/histogram-$$k.csv && \
	    $(B)/bin/atomo-bench plot histogram $(B)/docs/histogram-$$k.csv -o $(B)/docs/histogram-$$k.svg || exit 1; done
	for s in 1 2 3; do $(B)/bin/atomo-train run --network fc --workers 2 --batch-size 64 --max-steps 200 --eval-freq 20 \
	    --target-accuracy 0.5,0.7 --seed $$s -c none -c qsgd:bits=2 -c svd:rank=2 -c terngrad -o $(B)/docs/run$$s.csv || exit 1; done
	$(B)/bin/atomo-bench plot convergence $(B)/docs/run1.csv $(B)/docs/run2.csv $(B)/docs/run3.csv --x bytes -o $(B)/docs/convergence.svg
	cp $(DOCS_FIGURES:%=$(B)/docs/%.svg) docs/figures/

# Rewrites the stored payloads, the test vectors for other implementations (test/vectors/README.md), and the lists of codecs.
golden: $(B)/test/compress/test_golden $(B)/test/library/test_vectors $(PROGRAMS)
	$< --write
	ATOMO_WRITE_VECTORS=1 $(B)/test/library/test_vectors
	@sh test/listcheck.sh $(B)/bin --write

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
TSAN_TESTS := base/test_parallel library/test_library exchange/test_exchange measure/test_merging measure/test_long \
              train/test_layers train/test_layer_rules train/test_gpt math/test_fourier math/test_radix coder/test_indices coder/test_signs

tsan: export TSAN_OPTIONS := die_after_fork=0 halt_on_error=1
tsan: export OPENBLAS_NUM_THREADS := 1
tsan:
	+@$(TSAN) -j$$(nproc) all $(TSAN_TESTS:%=run-%) build/tsan/test/compress/test_promises
	@TEST=threads_do_not_change_a_byte build/tsan/test/compress/test_promises >build/tsan/codecs.log 2>&1 || \
	    { cat build/tsan/codecs.log; exit 1; }
	@sh test/tsan.sh build/tsan/bin

# The second compiler: no warnings, and the bytes of the stored payloads.
CLANG ?= clang
.PHONY: clang
clang:
	+@$(MAKE) --no-print-directory MODE=clang CC='$(CLANG)' CI=1 -j$$(nproc) all tests run-compress/test_golden run-compress/test_qsgd $(VEC_RUNS)

# The lines and branches of lib/ that tests run, for each room; fails below the limits in test/coverage.py. The counters
# are mapped from a file (%c), so processes count too that are killed, end by _exit or may make no system calls. Without
# NDEBUG clang takes the lines behind an assertion for lines that cannot be reached.
# Left out: tests that take long and run no line that no other test runs.
# Needs llvm-cov and llvm-profdata (Debian: clang, libclang-rt-14-dev, llvm).
COUNTERS := $(CURDIR)/build/coverage/counters
COVERAGE := $(MAKE) --no-print-directory MODE=coverage CC='$(CLANG)' PART=calls SANITISE='-fprofile-instr-generate=$(COUNTERS)/%m%c.profraw' \
            OPTIMISE='-O1 -w -DNDEBUG -fcoverage-mapping -mllvm -runtime-counter-relocation -fprofile-list=test/coverage.list'
COVERAGE_NOT := run-exchange/test_ranks run-train/test_train_digits run-measure/test_memory run-compress/test_unbiased run-coder/test_efficiency \
            run-adding-unbiased cli-paper cli-docs cli-release

.PHONY: coverage-run
coverage-run: $(B)/whole.so $(filter-out $(COVERAGE_NOT),$(RUNS) $(FUZZERS:%=replay-%) $(CLI_TESTS:%=cli-%)) torture

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
# other library (h5py, scipy, PyTorch) is missing. bench writes docs/generated/performance.md.
BENCHES := $(patsubst test/bench/%.c,$(B)/test/bench/%,$(wildcard test/bench/speed_*.c))
PERFORMANCE := $(AS_PACKAGE) $(PYTHON) test/bench/performance.py

bench: all $(BENCHES)
	$(PERFORMANCE) $(B) $(or $(BIG_DUMP),$(DUMP)); low=$$?; \
	$(B)/test/bench/speed_merge || low=1; $(B)/test/bench/speed_svd $(BIG_DUMP) || low=1; \
	$(PYTHON) test/bench/networks.py $(B)/test/bench/speed_networks || low=1; \
	$(AS_PACKAGE) $(PYTHON) test/bench/ddp.py || low=1; $(AS_PACKAGE) $(PYTHON) test/bench/overlap.py || low=1; \
	$(AS_PACKAGE) $(PYTHON) test/bench/blas.py $(B)/bin/atomo-bench $(DUMP); exit $$low

# Fails if a codec is slower than 0.75 times its ratio to memcpy in docs/generated/performance.json.
bench-check: all $(B)/test/bench/speed_codecs
	@$(PERFORMANCE) --check $(B)

# ---- the certificate: bias and variance of every codec that promises them ----

CERTIFY := $(if $(filter avx2,$(ISAS)),0 1 2,0)
CERTIFY_SHARES := 0 1 2 3
CERTIFY_PARTS := $(foreach m,$(CERTIFY),$(CERTIFY_SHARES:%=$(B)/certify/most$m-%.txt))

.PHONY: certify

certify: all
	@$(PARALLEL) $(B)/certify/level.md $(CERTIFY_PARTS) $(B)/test/certify/certify_report
	@sh test/certify/page.sh $(B) $(CERTIFY_PARTS) >docs/generated/certificate.md.new; code=$$?; \
	    mv docs/generated/certificate.md.new docs/generated/certificate.md; exit $$code

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

# ---- how often intervals hold ----

.PHONY: intervals
INTERVALS := conv1.weight conv2.bias fc2.bias

intervals: $(B)/test/certify/interval_level
	@sh test/certify/intervals.sh $< $(INTERVALS) >docs/generated/interval-counts.md.new; code=$$?; \
	    mv docs/generated/interval-counts.md.new docs/generated/interval-counts.md; exit $$code

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

# ---- the documentation: its commands, and as a site ----

# Runs every command of README.md and docs/ that test/commands.txt does not exclude; make check runs the quick ones.
# Training ends after DOC_STEPS steps; 0: as written, which takes hours.
DOC_STEPS ?= 48
.PHONY: docs-check
docs-check: all
	@TIMES=1 STEPS=$(DOC_STEPS) $(PYTHON) test/commands.py $(B)/bin --long

# The words of the documentation that are written by hand: without FORMAT.md, and without the pages and tables that programs write.
.PHONY: words
words:
	@awk 'FNR == 1 || /^$$/ {made = 0} /^<!-- (long )?table/ {made = 1} made && /^[|]/ {next} {words[FILENAME] += NF; all += NF} \
	    END {for (file in words) print words[file], file; print all, "all"}' README.md $(filter-out docs/FORMAT.md,$(sort $(wildcard docs/*.md))) | sort -n
