# mazurka: make, make run, make test, make test-full, make check, make fuzz, make bench, make bench-structures,
# make bench-simulate, make install, make uninstall, make clean. See README.md and CONTRIBUTING.md.
#
# Yours to set: CC, CFLAGS, CPPFLAGS, LDFLAGS, CXXFLAGS (of the compiler plug-ins), and the directories below. What the
# build itself needs is added to them. CI=1 makes warnings errors.
PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man
DESTDIR    ?=
CC         ?= cc
B          := build

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        -Wformat=2 -fno-common $(if $(CI),-Werror)
OPT    ?= -O2 -g
CFLAGS ?= $(OPT)
CSTD   := -std=gnu11

VERSION := $(shell cat VERSION)
OUR_CPPFLAGS := -Isrc -Iinclude -DMZ_VERSION='"$(VERSION)"'
COMPILE = $(CC) $(CSTD) $(CFLAGS) $(WARN) $(OUR_CPPFLAGS) $(CPPFLAGS)
LINK    = $(CC) $(CFLAGS) $(LDFLAGS)

base_c    := $(wildcard src/base/*.c)
kernel_c  := $(addprefix src/base/,mix.c region.c) # of base, what also lives inside the tested program
event_c   := $(wildcard src/event/*.c)
trace_c   := $(wildcard src/trace/*.c)
engine_c  := $(trace_c) $(wildcard src/engine/*.c src/engine/*/*.c)
balance_c := $(wildcard src/dist/balance/*.c)
runtime_c := $(wildcard src/runtime/*/*.c)
model_c   := $(wildcard src/model/*.c)
report_c  := $(wildcard src/report/*.c src/report/*/*.c)
# The command: everything but what lives inside the tested program.
cmd_c     := $(wildcard src/build/*.c src/launch/*.c src/dist/*.c src/cmd/*.c)
random_c  := $(wildcard tests/random/*.c)
simulate_c := $(wildcard tools/simulate/*.c)

# What lives inside the tested program: position independent, everything hidden but the hooks, no stack
# protector (fibers), and no call to a libc function that we hook ourselves (RAW in src/runtime/hooks/libc.def).
TARGET_FLAGS := -O3 -U_FORTIFY_SOURCE -mno-red-zone -fPIC -fvisibility=hidden -fno-stack-protector -fno-omit-frame-pointer -fcf-protection=none \
                -ftls-model=initial-exec $(if $(findstring clang,$(shell $(CC) --version)),-fno-builtin,-fno-tree-loop-distribute-patterns) \
                -Wno-pedantic $(if $(filter x86_64,$(shell uname -m)),-msse4.2)

target_o := $(patsubst %.c,$B/target/%.o,$(kernel_c) $(event_c) $(engine_c) $(runtime_c))
cmd_o    := $(patsubst %.c,$B/host/%.o,$(base_c) $(event_c) $(trace_c) $(balance_c) $(report_c) $(cmd_c))
random_o := $(patsubst %.c,$B/host/%.o,$(base_c) $(event_c) $(engine_c) $(balance_c) $(model_c) $(random_c))

# Zydis, a decoder of machine code (version 4), optional. The command uses it to tell which functions without hooks
# matter; without it all do. The tests compare the runtime's own decoder with it. Why the runtime does not use it:
# src/runtime/state/decode.c.
ZYDIS := $(if $(shell printf '\043include <Zydis/Zydis.h>\nint main(void) { return sizeof(ZydisDecoderDecodeFull) == 0; }' | \
         $(CC) -w -x c -o /dev/null - -lZydis 2>/dev/null && echo yes),-lZydis)
$B/host/src/build/scan_code.o: OUR_CPPFLAGS += $(if $(ZYDIS),-DMZ_ZYDIS)

# One for each implementation of MPI that is there.
plugins := $(foreach mpi,openmpi mpich,$(if $(shell command -v mpicc.$(mpi)),$B/libmazurka-$(mpi).so))

# Shows gcc's pass tsan what it would not look at; for the gcc whose headers for plugins are there.
gcc_plugin_dir := $(shell gcc -print-file-name=plugin 2>/dev/null)
gcc_plugin := $(if $(wildcard $(gcc_plugin_dir)/include/gcc-plugin.h),$(if $(shell command -v g++),$B/libmazurka-gcc.so))
gcc_plugin_o := $(patsubst %.cc,$B/plugin/%.o,src/compiler/asm_text.cc $(wildcard src/compiler/gcc_*.cc))
# The same for clang, if the headers of its LLVM are there.
llvm_version := $(firstword $(subst ., ,$(shell clang -dumpversion 2>/dev/null)))
llvm_include := $(if $(llvm_version),$(wildcard /usr/lib/llvm-$(llvm_version)/include))
clang_plugin := $(if $(wildcard $(llvm_include)/llvm/Passes/PassPlugin.h),$(if $(shell command -v g++),$B/libmazurka-clang.so))
clang_plugin_o := $(patsubst %.cc,$B/plugin/%.o,src/compiler/asm_text.cc src/compiler/llvm_plugin.cc)
plugins += $(gcc_plugin) $(clang_plugin)

all: mazurka mazurka-cc mazurka-c++ mazurka-cxx $B/libmazurka.so $(plugins)

$B/libmazurka-%.so: src/dist/mpi/mpi.c src/dist/mpi/transport.h
	@mkdir -p $(@D)
	mpicc.$* $(CSTD) $(CFLAGS) $(WARN) -Wno-pedantic -Isrc $(CPPFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $<

$B/libmazurka-gcc.so: $(gcc_plugin_o)
	g++ -shared $(LDFLAGS) -o $@ $^
$B/libmazurka-clang.so: $(clang_plugin_o)
	g++ -shared $(LDFLAGS) -o $@ $^
$B/plugin/%.o: %.cc
	@mkdir -p $(@D)
	g++ -std=c++17 -O1 -fPIC -fno-rtti -Isrc -Wall -Wextra $(if $(CI),-Werror) $(PLUGIN_FLAGS) $(CXXFLAGS) -MMD -MP -c -o $@ $<
$B/plugin/src/compiler/gcc_%.o: PLUGIN_FLAGS := -isystem $(gcc_plugin_dir)/include
$B/plugin/src/compiler/llvm_%.o: PLUGIN_FLAGS := -isystem $(llvm_include)

mazurka: $(cmd_o)
	$(LINK) -o $@ $^ -ldw -lelf -lm $(ZYDIS)

# Names for build systems that want one word: CMAKE_C_COMPILER=mazurka-cc.
mazurka-cc mazurka-c++ mazurka-cxx: mazurka
	ln -sf mazurka $@

$B/libmazurka.so: $(target_o)
	$(LINK) -shared -Wl,-soname,libmazurka.so -Wl,--build-id -Wl,-z,now -Wl,-Bsymbolic-functions -o $@ $^ -ldl

simulate_o := $(patsubst %.c,$B/host/%.o,$(base_c) $(event_c) $(engine_c) $(balance_c) $(model_c) $(simulate_c))
$B/mz-simulate: $(simulate_o)
	$(LINK) -o $@ $^

decode_test := $(if $(ZYDIS),$B/mz-decode-test)
$B/mz-decode-test: $(patsubst %.c,$B/host/%.o,src/runtime/state/decode.c tests/decode/decode_test.c)
	$(LINK) -o $@ $^ $(ZYDIS)

$B/mz-simulate-test: $(filter-out %/main.o,$(simulate_o)) $B/host/tests/simulate/hand.o
	$(LINK) -o $@ $^ -lm
$B/host/tests/simulate/%.o: OUR_CPPFLAGS += -Itools/simulate

$B/mz-random: $(random_o)
	$(LINK) -o $@ $^

$B/mz-survey: $(filter-out %/main.o,$(random_o)) $B/host/tests/survey/main.o
	$(LINK) -o $@ $^ -lm

# The runtime leaves the registers alone that survive calls, so that those of the program are known wherever it
# calls us: they belong to the local state of a thread (runtime/loops, runtime/state). Only gcc can be told so; built with
# others, loops that wait are not recognised and there are no stateful algorithms.
spin_o := $(patsubst %.c,$B/target/%.o,$(runtime_c))
SPIN_FLAGS := $(if $(findstring clang,$(shell $(CC) --version)),-DMZ_NO_SPIN,\
              -ffixed-rbx -ffixed-r12 -ffixed-r13 -ffixed-r14 -ffixed-r15)
$(spin_o): TARGET_FLAGS += $(SPIN_FLAGS)

# Calls in our own library of the functions that libc.def marks RAW go to mz_raw_*.
$B/rename.syms: $(wildcard src/runtime/hooks/libc/*.def)
	@mkdir -p $(@D)
	@sed -n 's/^[A-Z]*(\([a-z0-9_]*\),.*\<RAW\>.*/\1 mz_raw_\1/p' $^ >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$B/target/%.o: %.c $B/rename.syms
	@mkdir -p $(@D)
	$(COMPILE) $(TARGET_FLAGS) -MMD -MP -c -o $@ $<
	@case $< in */hooks/mem.c|*/hooks/string.c|*/kernel/maps.c) ;; *) objcopy --redefine-syms=$B/rename.syms $@ ;; esac

$B/host/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c -o $@ $<

SANITIZED = $(CC) $(CSTD) -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
# The engine, the model and the oracle under the address and undefined-behaviour sanitizers.
$B/asan/mz-random: $(base_c) $(event_c) $(engine_c) $(balance_c) $(model_c) $(random_c) $(wildcard src/*/*.h src/*/*/*.h tests/random/*.h)
	@mkdir -p $(@D)
	$(SANITIZED) $(OUR_CPPFLAGS) $(CPPFLAGS) -o $@ $(filter %.c,$^)

# Readers of all that comes from outside, on damaged files: the same.
fuzz_o := $(patsubst %.c,$B/asan/%.o,$(base_c) $(event_c) $(trace_c) $(balance_c) $(report_c) $(filter-out %/main.c %/agent.c,$(cmd_c)) \
          $(wildcard tests/fuzz/*.c) \
          $(addprefix tools/simulate/,tree.c ours.c paper.c queue.c waiting.c askers.c))
$B/asan/mz-fuzz-formats: $(fuzz_o)
	$(SANITIZED) -o $@ $^ -ldw -lelf -lm $(ZYDIS)
# The command itself: it finds the library and the header through the links beside it.
$B/asan/mazurka: $(patsubst %.c,$B/asan/%.o,$(base_c) $(event_c) $(trace_c) $(balance_c) $(report_c) $(cmd_c)) $B/libmazurka.so
	$(SANITIZED) -o $@ $(filter %.o,$^) -ldw -lelf -lm $(ZYDIS)
	ln -sfn .. $B/asan/build
	ln -sfn ../../include $B/asan/include
$B/asan/src/build/scan_code.o: OUR_CPPFLAGS += $(if $(ZYDIS),-DMZ_ZYDIS)
$B/asan/%.o: %.c
	@mkdir -p $(@D)
	$(SANITIZED) $(OUR_CPPFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

# Unit tests, under the sanitizers too: for machines with cmocka.
CMOCKA = $(shell printf '\043include <setjmp.h>\n\043include <stdarg.h>\n\043include <stddef.h>\n\043include <cmocka.h>\nint main(void) { return 0; }' | \
         $(CC) -w -x c -o /dev/null - -lcmocka 2>/dev/null && echo yes)
unit_c = $(base_c) $(event_c) $(engine_c) $(wildcard tests/unit/*.c) $(addprefix src/report/,tracefile.c report.c sample.c)
$B/asan/mz-unit: $(patsubst %.c,$B/asan/%.o,$(unit_c))
	$(SANITIZED) -o $@ $^ -lcmocka -lm

# The same without sanitizers, to measure coverage: `make check` builds these with B=... CFLAGS=--coverage.
$B/mz-unit: $(patsubst %.c,$B/host/%.o,$(unit_c))
	$(LINK) -o $@ $^ -lcmocka -lm
coverage-programs: $B/mz-random $(if $(CMOCKA),$B/mz-unit)

setup:
	@sh tools/setup.sh
setup-test:
	@sh tools/setup.sh test
setup-check:
	@sh tools/setup.sh test check

run: setup
	@$(MAKE) --no-print-directory -s all
	@sh tools/run.sh

test_programs = $B/mz-random $B/mz-survey $B/asan/mz-random $B/mz-simulate $B/mz-simulate-test $B/asan/mz-fuzz-formats $B/asan/mazurka \
                $(if $(CMOCKA),$B/asan/mz-unit) $(decode_test)
# A target, so that a second make looks for the libraries after setup-test has installed them.
test-programs: all $(test_programs)
test: setup-test
	@$(MAKE) --no-print-directory -s test-programs
	@sh tests/run.sh

# The whole matrix instead of a sample: hours.
test-full: setup-test
	@$(MAKE) --no-print-directory -s test-programs
	@SLOW=1 MATRIX=all sh tests/run.sh

# Format, clang-tidy, cppcheck, shellcheck, folders, link cycles, names in comments, and the coverage of the engine.
check: setup-check
	@$(MAKE) --no-print-directory -s all
	@sh tools/check.sh

# Damaged files for longer: 30,000 checkpoints, 10,000 of each other kind, 10,000 traces through the commands show and
# replay themselves. Another FUZZ_SEED, other cases.
fuzz: setup
	@$(MAKE) --no-print-directory -s all $B/asan/mz-fuzz-formats $B/asan/mazurka
	@FUZZ_FORMATS=$${FUZZ_FORMATS:-10000} FUZZ_COMMANDS=$${FUZZ_COMMANDS:-10000} SECTION_LIMIT=36000 sh tests/run.sh formats

bench: setup
	@$(MAKE) --no-print-directory -s all
	@sh bench/run.sh
	@echo
	@sh bench/compare.sh
	@echo
	@sh bench/structures.sh sample
	@echo
	@sh bench/capture.sh

# All algorithms on clients of concurrent data structures, with plots: about ten minutes.
bench-structures: setup
	@$(MAKE) --no-print-directory -s all
	@sh bench/structures.sh

# Searches by many workers, simulated on recorded trees: about ten minutes.
bench-simulate: setup
	@$(MAKE) --no-print-directory -s all $B/mz-simulate
	@sh bench/simulate.sh

# Where the command finds libmazurka.so and mazurka.h: beside itself in a checkout, in ../lib/mazurka and ../include once
# installed. If LIBDIR, INCLUDEDIR or BINDIR is elsewhere, their absolute paths are compiled in (src/launch/paths.c).
installed_lib := $(LIBDIR)/mazurka
usual_dirs    := $(PREFIX)/bin $(PREFIX)/lib $(PREFIX)/include
PATHS_FLAGS   := $(if $(filter-out $(usual_dirs),$(BINDIR) $(LIBDIR) $(INCLUDEDIR)),\
                 -DMZ_LIBRARY_DIR='"$(installed_lib)"' -DMZ_INCLUDE_DIR='"$(INCLUDEDIR)"')
$B/host/src/launch/paths.o: OUR_CPPFLAGS += $(PATHS_FLAGS)
$B/host/src/launch/paths.o: $B/paths.flags
$B/paths.flags: FORCE
	@mkdir -p $(@D)
	@echo "$(PATHS_FLAGS)" | cmp -s - $@ || echo "$(PATHS_FLAGS)" >$@

# uninstall removes exactly these. MPI and the compilers may have come or gone since install: all plug-ins are named.
completions  := $(PREFIX)/share/bash-completion/completions
names        := mazurka-cc mazurka-c++ mazurka-cxx
plugin_names := $(patsubst %,libmazurka-%.so,openmpi mpich gcc clang)

install: all $B/mazurka.pc
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(installed_lib) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR) \
	           $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(completions)
	install -m 755 mazurka $(DESTDIR)$(BINDIR)/mazurka
	for name in $(names); do ln -sf mazurka $(DESTDIR)$(BINDIR)/$$name || exit 1; done
	install -m 755 $B/libmazurka.so $(plugins) $(DESTDIR)$(installed_lib)/
	install -m 644 $B/mazurka.pc $(DESTDIR)$(LIBDIR)/pkgconfig/mazurka.pc
	install -m 644 include/mazurka.h $(DESTDIR)$(INCLUDEDIR)/mazurka.h
	install -m 644 man/mazurka.1 $(DESTDIR)$(MANDIR)/man1/mazurka.1
	./mazurka help --bash-completion >$B/bash-completion
	install -m 644 $B/bash-completion $(DESTDIR)$(completions)/mazurka

uninstall:
	rm -f $(addprefix $(DESTDIR)$(BINDIR)/,mazurka $(names)) $(DESTDIR)$(LIBDIR)/pkgconfig/mazurka.pc \
	      $(addprefix $(DESTDIR)$(installed_lib)/,libmazurka.so $(plugin_names)) \
	      $(DESTDIR)$(INCLUDEDIR)/mazurka.h $(DESTDIR)$(MANDIR)/man1/mazurka.1 $(DESTDIR)$(completions)/mazurka
	-[ ! -d $(DESTDIR)$(installed_lib) ] || rmdir $(DESTDIR)$(installed_lib)

$B/mazurka.pc: tools/mazurka.pc.in VERSION FORCE
	@mkdir -p $(@D)
	@sed 's|@PREFIX@|$(PREFIX)|; s|@BINDIR@|$(BINDIR)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' $< >$@

clean:
	rm -rf $B mazurka mazurka-cc mazurka-c++ mazurka-cxx

-include $(shell find $B -name '*.d' 2>/dev/null)

FORCE:
.PHONY: all setup setup-test setup-check coverage-programs run test-programs test test-full check fuzz bench bench-structures bench-simulate install uninstall clean FORCE
