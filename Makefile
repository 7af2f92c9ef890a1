# mazurka: make, make run, make test, make test-full, make bench, make bench-structures, make bench-simulate, make install, make clean. See README.md.
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
B       := build

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        -Wformat=2 -fno-common $(if $(CI),-Werror)
OPT  ?= -O2 -g
CSTD := -std=gnu11

VERSION := $(shell cat VERSION)
CPPFLAGS += -Isrc -Iinclude -DMZ_VERSION='"$(VERSION)"'

base_c    := $(wildcard src/base/*.c)
event_c   := $(wildcard src/event/*.c)
engine_c  := $(wildcard src/engine/*.c)
balance_c := $(wildcard src/balance/*.c)
runtime_c := $(wildcard src/runtime/*.c src/runtime/*/*.c)
runtime_s := $(wildcard src/runtime/*.S)
model_c   := $(wildcard src/model/*.c)
report_c  := $(wildcard src/report/*.c)
cmd_c     := $(wildcard src/cmd/*.c)
random_c  := $(wildcard tests/random/*.c)
simulate_c := $(wildcard tools/simulate/*.c)

# What lives inside the tested program: position independent, everything hidden but the hooks, no stack
# protector (fibers), and no call to a libc function that we hook ourselves (see src/runtime/rename.syms).
TARGET_FLAGS := -O3 -mno-red-zone -fPIC -fvisibility=hidden -fno-stack-protector -fno-omit-frame-pointer -fcf-protection=none \
                -ftls-model=initial-exec $(if $(findstring clang,$(shell $(CC) --version)),-fno-builtin,-fno-tree-loop-distribute-patterns) \
                -Wno-pedantic $(if $(filter x86_64,$(shell uname -m)),-msse4.2)

target_o := $(patsubst %.c,$B/target/%.o,$(base_c) $(event_c) $(engine_c) $(runtime_c)) \
            $(patsubst %.S,$B/target/%.o,$(runtime_s))
cmd_o    := $(patsubst %.c,$B/host/%.o,$(base_c) $(event_c) $(engine_c) $(balance_c) $(report_c) $(cmd_c))
random_o := $(patsubst %.c,$B/host/%.o,$(base_c) $(event_c) $(engine_c) $(balance_c) $(model_c) $(random_c))

# A decoder of machine code (version 4): tells which functions without hooks matter. Without it all do.
ZYDIS := $(if $(shell printf '\043include <Zydis/Zydis.h>\nint main(void) { return sizeof(ZydisDecoderDecodeFull) == 0; }' | \
         $(CC) -w -x c -o /dev/null - -lZydis 2>/dev/null && echo yes),-lZydis)
$B/host/src/cmd/scan_code.o: CPPFLAGS += $(if $(ZYDIS),-DMZ_ZYDIS)

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

$B/libmazurka-%.so: src/mpi/mpi.c src/mpi/transport.h
	@mkdir -p $(@D)
	mpicc.$* $(CSTD) $(OPT) $(WARN) -Wno-pedantic -Isrc -fPIC -shared -o $@ $<

$B/libmazurka-gcc.so: $(gcc_plugin_o)
	g++ -shared -o $@ $^
$B/libmazurka-clang.so: $(clang_plugin_o)
	g++ -shared -o $@ $^
$B/plugin/%.o: %.cc
	@mkdir -p $(@D)
	g++ -std=c++17 -O1 -fPIC -fno-rtti -Wall -Wextra $(if $(CI),-Werror) $(CXXFLAGS) -MMD -MP -c -o $@ $<
$B/plugin/src/compiler/gcc_%.o: CXXFLAGS += -isystem $(gcc_plugin_dir)/include
$B/plugin/src/compiler/llvm_%.o: CXXFLAGS += -isystem $(llvm_include)

mazurka: $(cmd_o)
	$(CC) $(OPT) $(LDFLAGS) -o $@ $^ -ldw -lelf -lm $(ZYDIS)

# Names for build systems that want one word: CMAKE_C_COMPILER=mazurka-cc.
mazurka-cc mazurka-c++ mazurka-cxx: mazurka
	ln -sf mazurka $@

$B/libmazurka.so: $(target_o)
	$(CC) $(OPT) -shared -Wl,-soname,libmazurka.so -Wl,--build-id -Wl,-z,now -Wl,-Bsymbolic-functions -o $@ $^ -ldl

simulate_o := $(patsubst %.c,$B/host/%.o,$(base_c) $(event_c) $(engine_c) $(balance_c) $(model_c) $(simulate_c))
$B/mz-simulate: $(simulate_o)
	$(CC) $(OPT) $(LDFLAGS) -o $@ $^

$B/mz-layout-test: $(patsubst %.c,$B/host/%.o,$(event_c) tests/mpi/layout_test.c)
	$(CC) $(OPT) $(LDFLAGS) -o $@ $^

$B/mz-simulate-test: $(filter-out %/main.o,$(simulate_o)) $B/host/tests/simulate/hand.o
	$(CC) $(OPT) $(LDFLAGS) -o $@ $^ -lm
$B/host/tests/simulate/%.o: CPPFLAGS += -Itools/simulate

$B/mz-random: $(random_o)
	$(CC) $(OPT) $(LDFLAGS) -o $@ $^

# The runtime leaves the registers alone that survive calls, so that those of the program are known wherever it
# calls us: they belong to the local state of a thread (spin.c, state.c). Only gcc can be told so; built with
# others, loops that wait are not recognised and there are no stateful algorithms.
spin_o := $(patsubst %.c,$B/target/%.o,$(runtime_c))
SPIN_FLAGS := $(if $(findstring clang,$(shell $(CC) --version)),-DMZ_NO_SPIN,\
              -ffixed-rbx -ffixed-r12 -ffixed-r13 -ffixed-r14 -ffixed-r15)
$(spin_o): TARGET_FLAGS += $(SPIN_FLAGS)

$B/target/%.o: %.c src/runtime/rename.syms
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(OPT) $(WARN) $(CPPFLAGS) $(TARGET_FLAGS) -MMD -MP -c -o $@ $<
	@case $< in */hooks_mem.c|*/hooks_string.c|*/maps.c) ;; *) objcopy --redefine-syms=src/runtime/rename.syms $@ ;; esac

$B/target/%.o: %.S
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -c -o $@ $<

$B/host/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(OPT) $(WARN) $(CPPFLAGS) -MMD -MP -c -o $@ $<

# The engine, the model and the oracle under the address and undefined-behaviour sanitizers.
$B/asan/mz-random: $(base_c) $(event_c) $(engine_c) $(balance_c) $(model_c) $(random_c) $(wildcard src/*/*.h tests/random/*.h)
	@mkdir -p $(@D)
	$(CC) $(CSTD) -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all $(CPPFLAGS) -o $@ $(filter %.c,$^)

# Readers of all that comes from outside, on damaged files: the same.
fuzz_o := $(patsubst %.c,$B/asan/%.o,$(base_c) $(event_c) $(engine_c) $(balance_c) $(report_c) $(filter-out %/main.c %/pool.c %/agent.c,$(cmd_c)) \
          $(wildcard tests/fuzz/*.c) \
          $(addprefix tools/simulate/,tree.c ours.c paper.c queue.c waiting.c askers.c))
$B/asan/mz-fuzz-formats: $(fuzz_o)
	$(CC) -fsanitize=address,undefined -o $@ $^ -ldw -lelf -lm $(ZYDIS)
# The command itself: it finds the library and the header through the links beside it.
$B/asan/mazurka: $(patsubst %.c,$B/asan/%.o,$(base_c) $(event_c) $(engine_c) $(balance_c) $(report_c) $(cmd_c)) $B/libmazurka.so
	$(CC) -fsanitize=address,undefined -o $@ $(filter %.o,$^) -ldw -lelf -lm $(ZYDIS)
	ln -sfn .. $B/asan/build
	ln -sfn ../../include $B/asan/include
$B/asan/src/cmd/scan_code.o: CPPFLAGS += $(if $(ZYDIS),-DMZ_ZYDIS)
$B/asan/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CSTD) -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all $(CPPFLAGS) -MMD -MP -c -o $@ $<

setup:
	@sh tools/setup.sh

run: setup
	@$(MAKE) --no-print-directory -s all
	@sh tools/run.sh

test: setup
	@$(MAKE) --no-print-directory -s all $B/mz-random $B/asan/mz-random $B/mz-simulate $B/mz-simulate-test $B/mz-layout-test $B/asan/mz-fuzz-formats $B/asan/mazurka
	@sh tests/run.sh

# The whole matrix instead of a sample: hours.
test-full: setup
	@$(MAKE) --no-print-directory -s all $B/mz-random $B/asan/mz-random $B/mz-simulate $B/mz-simulate-test $B/mz-layout-test $B/asan/mz-fuzz-formats $B/asan/mazurka
	@SLOW=1 MATRIX=all sh tests/run.sh

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

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/mazurka $(DESTDIR)$(PREFIX)/include \
	           $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 mazurka $(DESTDIR)$(PREFIX)/bin/mazurka
	for name in cc c++ cxx; do ln -sf mazurka $(DESTDIR)$(PREFIX)/bin/mazurka-$$name || exit 1; done
	install -m 755 $B/libmazurka.so $(DESTDIR)$(PREFIX)/lib/mazurka/libmazurka.so
	for plugin in $(plugins); do install -m 755 $$plugin $(DESTDIR)$(PREFIX)/lib/mazurka/ || exit 1; done
	install -m 644 include/mazurka.h $(DESTDIR)$(PREFIX)/include/mazurka.h
	install -m 644 man/mazurka.1 $(DESTDIR)$(PREFIX)/share/man/man1/mazurka.1

clean:
	rm -rf $B mazurka mazurka-cc mazurka-c++ mazurka-cxx

-include $(shell find $B -name '*.d' 2>/dev/null)

.PHONY: all setup run test test-full fuzz bench bench-structures bench-simulate install clean
