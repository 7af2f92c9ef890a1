# mazurka: make, make run, make test, make bench, make bench-structures, make bench-simulate, make install, make clean. See README.md.
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

# One for each implementation of MPI that is there.
plugins := $(foreach mpi,openmpi mpich,$(if $(shell command -v mpicc.$(mpi)),$B/libmazurka-$(mpi).so))

all: mazurka mazurka-cc mazurka-c++ mazurka-cxx $B/libmazurka.so $(plugins)

$B/libmazurka-%.so: src/mpi/mpi.c src/mpi/transport.h
	@mkdir -p $(@D)
	mpicc.$* $(CSTD) $(OPT) $(WARN) -Wno-pedantic -Isrc -fPIC -shared -o $@ $<

mazurka: $(cmd_o)
	$(CC) $(OPT) $(LDFLAGS) -o $@ $^ -ldw -lelf -lm

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

setup:
	@sh tools/setup.sh

run: setup
	@$(MAKE) --no-print-directory -s all
	@sh tools/run.sh

test: setup
	@$(MAKE) --no-print-directory -s all $B/mz-random $B/asan/mz-random $B/mz-simulate $B/mz-simulate-test $B/mz-layout-test
	@sh tests/run.sh

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

.PHONY: all setup run test bench bench-structures bench-simulate install clean
