# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
#   make            ./stackbox, one static binary
#   make demo       builds, then traces a small program of its own: two flame graphs
#   make test       unit, golden, command line, live, one guest: ten minutes
#   make test-guests  the rest: other kernels and machines, sanitizers, compilers, fuzzers, readers: 45 minutes
#   make test-kernels  every live test on every kernel that it is for: an hour and a half
#   make test-machine  the live tests in guests that resemble other machines: hours
#   make test-arch  live tests on kernels of other architectures, and all builds for them: 45 minutes
#   make proof      fuzzers, failing calls, kills and random command lines, for hours; PART='words 1000': one
#   make bench      ratios to the minimum possible and to peers; QUICK=1: fewer rounds
#   make bench-readme  puts the figures of the last `make bench` into README.md and src/docs/costs.md
#   make install    DESTDIR= PREFIX=/usr/local: the binary, links, man pages, completions; make uninstall
#                   LINKS=no: no links with the applets' names; LINKS=stackbox-: links with this prefix
#                   PAGES=no: no man pages and completions, which only the binary itself can print: for a cross-build
#   make APPLETS="profile stackcount"  a binary with only these
#   make size       how much of the binary each folder of src/ takes, and the whole under xz
#   make deb        build/stackbox_VERSION-1_ARCH.deb
#   make packages   build/packages: what OpenWrt, Buildroot, Yocto, Alpine and Debian take to build it
#   make cross      the binary for aarch64, armv7, riscv64 and more, tested in emulation; ARCH=: one of them
#   make dist       build/stackbox-VERSION.tar.gz, the same bytes wherever it is made
#
# CC=clang and SANITIZE=1 (AddressSanitizer, UBSan; not static) build the same tree elsewhere:
# each pair of BUILD and PROGRAM is a build of its own. FUZZER=1 with SANITIZE=1 uses libFuzzer.

VERSION  := 0.2
DATE     := 2026-11-25
BUILD    ?= build/release
PROGRAM  ?= stackbox
PREFIX   ?= /usr/local
LINKS    ?= yes
PAGES    ?= yes
APPLETS  ?= all

ifeq ($(origin CC),default)
CC := $(if $(shell command -v musl-gcc),musl-gcc,cc)
endif

# -Wsign-conversion is left out on purpose: errno values, sizes and kernel words mix signs on every
# line of a program like this one, and the casts would hide the conversions that matter.
# Rows of tables leave out their last fields where these are zero.
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
            -Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings \
            -Wno-missing-field-initializers
# Where size_t has 32 bits, glibc's times and file offsets do, too, without these macros.
ifeq ($(filter x86_64% aarch64% riscv64%,$(shell $(CC) -dumpmachine 2>/dev/null)),)
WIDE := -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64
endif
# gcc's flags for the smallest binary, which clang and gcc before 12 do not know. xz packs
# repetitive code well: without these passes the packed binary is 18 KB smaller.
SMALLEST := -Oz -fno-schedule-insns2 -fno-caller-saves -fno-tree-tail-merge -fno-thread-jumps -fno-if-conversion \
            -fno-move-loop-invariants -fno-tree-loop-im -fno-tree-dominator-opts -fno-shrink-wrap \
            -fno-inline-functions-called-once -fno-ipa-sra
knows = $(shell $(CC) -Werror $1 -E -x c /dev/null >/dev/null 2>&1 && echo yes)
CFLAGS   ?= $(if $(call knows,$(SMALLEST)),$(SMALLEST),-Os)
# For code_follow.c: making the rows of a compiler takes half a second; this saves 5 % for 0.3 KB.
FAST     := -O2 -fno-align-functions -fno-align-jumps -fno-align-loops -finline-functions-called-once
# On x86 gcc otherwise aligns arrays to 32 bytes, which takes 3 KB.
ALIGN    := $(if $(call knows,-malign-data=abi),-malign-data=abi)
ALL_CFLAGS := -std=gnu11 $(WARNINGS) $(CFLAGS) $(ALIGN) -ffunction-sections -fdata-sections \
            -fno-asynchronous-unwind-tables '-ffile-prefix-map=$(CURDIR)=.' \
            -D_GNU_SOURCE $(WIDE) -DSTACKBOX_VERSION='"$(VERSION)"' \
            -DSTACKBOX_DATE='"$(DATE)"' -Isrc -I. -MMD -MP
ALL_LDFLAGS := -Wl,--gc-sections -Wl,--build-id=none -pthread $(LDFLAGS) -lm

ifdef SANITIZE
ALL_CFLAGS  += -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
ALL_LDFLAGS += -fsanitize=address,undefined
else
# The binary is at fixed addresses anyway: position-independent code is 10 KB more. (Some compilers' -static is
# -static-pie.)
ALL_CFLAGS  += -fno-pie
# Segments that share pages need no padding, and without RELRO no page of their own: 12 KB less.
# Data need not begin a page: half a page on average. Sections sorted by alignment need no padding.
ALL_LDFLAGS += -static $(if $(findstring clang,$(CC)),,-no-pie) -s -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,-z,common-page-size=32 \
               -Wl,--sort-section=alignment
endif
ifdef FUZZER
ALL_CFLAGS  += -fsanitize=fuzzer-no-link
FUZZ_DRIVER := -fsanitize=fuzzer
else
FUZZ_DRIVER := tests/fuzz/driver.c
endif

# musl-gcc lacks the kernel's headers: it gets the system's, after musl's own. (Toolchains for musl
# have both.)
LACKS_KERNEL := $(shell $(CC) -E -include linux/bpf.h -x c /dev/null >/dev/null 2>&1 || echo yes)
ifeq ($(if $(findstring musl,$(CC)),$(LACKS_KERNEL)),yes)
MULTIARCH  := $(shell gcc -print-multiarch 2>/dev/null)
KERNEL_HEADERS := -idirafter /usr/include $(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH))
endif
ALL_CFLAGS += $(KERNEL_HEADERS)

# Programs to trace: their stacks must look the same with every compiler and in every build.
WORKLOAD_CFLAGS := -std=gnu11 $(WARNINGS) -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls \
            -D_GNU_SOURCE $(WIDE) $(KERNEL_HEADERS) -MMD -MP -pthread
# A 32-bit ARM kernel probes ARM code, but not Thumb code, and walks APCS frames, which compilers no
# longer make by default.
ifneq ($(findstring arm-linux,$(CC)),)
WORKLOAD_CFLAGS += -marm -mapcs-frame
endif
# MIPS kernels walk no user stacks: tables are all there is.
ifneq ($(findstring mips,$(CC)),)
WORKLOAD_CFLAGS += -fomit-frame-pointer -fasynchronous-unwind-tables
# Workloads and stackbox's threads count in 64 bits, which takes libatomic on 32-bit MIPS.
ALL_LDFLAGS   += -latomic
WORKLOAD_LIBS := -latomic
endif
# On s390x kernels walk user stacks by back chains only.
ifneq ($(findstring s390x-,$(CC)),)
WORKLOAD_CFLAGS += -mbackchain
endif

SOURCES  := $(sort $(wildcard src/*.c src/*/*.c)) $(sort $(wildcard insns/*.c))
OBJECTS  := $(SOURCES:%.c=$(BUILD)/%.o)
ALL_BUT_MAIN := $(filter-out $(BUILD)/src/main.o,$(OBJECTS))
UNITS    := $(sort $(wildcard tests/unit/*.c))
UNIT_PROGRAMS := $(UNITS:tests/unit/%.c=$(BUILD)/unit/%)
WORKLOADS := $(filter-out %/execs.c %/bare.c,$(sort $(wildcard tests/workloads/*.c)))
WORKLOAD_PROGRAMS := $(WORKLOADS:tests/workloads/%.c=$(BUILD)/workloads/%)
FUZZERS  := $(patsubst tests/fuzz/corpus/%,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/corpus/*)))
TOOL_PROGRAMS := $(patsubst tests/tools/%.c,$(BUILD)/workloads/%,$(sort $(wildcard tests/tools/*.c)))

all: $(PROGRAM)

$(PROGRAM): $(OBJECTS)
	@$(CC) $(ALL_CFLAGS) -o $@ $(OBJECTS) $(ALL_LDFLAGS) -Wl,-Map=$(BUILD)/link.map
	@echo "$@: $$(wc -c < $@) bytes ($(CC))"

# Every object depends on the compiler and its flags: a change of either rebuilds it.
FLAGS = $(CC) $(ALL_CFLAGS), of workloads $(WORKLOAD_CFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS))' > $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -c -o $@ $<

# The linker drops the code of applets that are not in the list, but what others need.
ifneq ($(APPLETS),all)
ALL_APPLETS := $(shell sed -n 's/^ *&\(.*\)_applet,$$/\1/p' src/applets/applets.c)
$(foreach name,$(filter-out $(ALL_APPLETS),$(APPLETS)),\
    $(error APPLETS: there is no $(name); there are $(ALL_APPLETS)))
endif
$(BUILD)/applets.c: src/applets/applets.c FORCE
	@mkdir -p $(@D)
	@sed $(foreach name,$(filter-out $(APPLETS),$(ALL_APPLETS)),-e '/&$(name)_applet,$$/d') -e '' $< > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(BUILD)/src/applets/applets.o: $(BUILD)/applets.c $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -c -o $@ $<

# The assembler includes these files, so the compiler writes no dependency on them. They lose their
# comments, margins, and most of the script's blanks.
$(BUILD)/src/flame/svg.o: $(BUILD)/flame/flame.js $(BUILD)/flame/flame.css
$(BUILD)/src/flame/svg.o: private ALL_CFLAGS += -Wa,-I$(BUILD)/flame
TIGHTEN := -e 's/ \([=!]==\|=>\|&&\|||\|[<>]=\|[=?:*<>]\) /\1/g' -e 's/) {/){/g'
$(BUILD)/flame/%: src/flame/%
	@mkdir -p $(@D)
	@sed -e 's/^ *//' -e '/^\/\*.*\*\/$$/d' -e '/^\/\/ /d' -e '/^$$/d' \
	    $(if $(filter %.js,$@),$(TIGHTEN)) $< > $@

ifneq ($(origin CFLAGS)$(SANITIZE),file)
FAST :=
endif
$(BUILD)/src/elf/code_follow.o: private ALL_CFLAGS += $(if $(call knows,$(FAST)),$(FAST))

# The C library's system calls, a CALL(name) each.
$(BUILD)/src/machine/system_calls.o: $(BUILD)/system_calls.inc
$(BUILD)/src/machine/system_calls.o: private ALL_CFLAGS += -I$(BUILD)
$(BUILD)/system_calls.inc: $(BUILD)/flags
	@echo '#include <sys/syscall.h>' | $(CC) $(ALL_CFLAGS) -MF /dev/null -E -dM -x c - | \
	    sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/CALL(\1)/p' | grep -vx 'CALL(\(syscalls\|arch_specific_syscall\))' | \
	    LC_ALL=C sort > $@

# Every test program links the whole tree except main(): the linker drops unused parts.
$(BUILD)/parts.a: $(ALL_BUT_MAIN)
	@rm -f $@
	@$(AR) rcs $@ $(ALL_BUT_MAIN)

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/parts.a $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -Itests -o $@ $< $(BUILD)/parts.a $(ALL_LDFLAGS)

units: $(UNIT_PROGRAMS)

# The sanitized build again, in which a call can be made to fail (tests/faults).
FAULT_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/faults/*.c)))
comma    := ,
WRAPPED  := malloc calloc realloc strdup strndup opendir fdopendir regcomp mmap \
            pthread_create fork sigprocmask

$(BUILD)/faulty/stackbox: $(OBJECTS) $(FAULT_OBJECTS)
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -o $@ $(OBJECTS) $(FAULT_OBJECTS) $(WRAPPED:%=-Wl$(comma)--wrap=%) $(ALL_LDFLAGS)

faulty: $(BUILD)/faulty/stackbox

# Without libFuzzer, which not every compiler has, our own driver runs the fuzzers.
$(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/parts.a $(BUILD)/flags tests/fuzz/driver.c tests/fuzz/cost.c tests/fuzz/fuzz.h
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -MF /dev/null -o $@ $< tests/fuzz/cost.c $(FUZZ_DRIVER) $(BUILD)/parts.a \
	    -Wl,--wrap=read -Wl,--wrap=pread $(ALL_LDFLAGS)

fuzzers: $(FUZZERS)

# Tools of scripts/bench.sh.
$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/parts.a $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -o $@ $< $(BUILD)/parts.a $(ALL_LDFLAGS)

benches: $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard tests/bench/*.c)))

$(BUILD)/workloads/%: tests/workloads/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(WORKLOAD_CFLAGS) -static -MF $(BUILD)/workloads/.$*.d -o $@ $< $(WORKLOAD_LIBS)

# Tools with which live tests use parts of stackbox; they go where the workloads go, into guests, too.
$(TOOL_PROGRAMS): $(BUILD)/workloads/%: tests/tools/%.c $(BUILD)/parts.a $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -MF $(BUILD)/workloads/.$*.d -o $@ $< $(BUILD)/parts.a $(ALL_LDFLAGS)

include tests/workloads/flavours.mk

tools: $(TOOL_PROGRAMS)

workloads: $(WORKLOAD_PROGRAMS) $(FLAVOUR_PROGRAMS) $(TOOL_PROGRAMS)

# Static programs, which need no libraries: for other machines' guests.
guest-programs: $(WORKLOAD_PROGRAMS) $(STATIC_FLAVOURS:%=$(BUILD)/workloads/%) $(TOOL_PROGRAMS)

demo:
	@sh scripts/demo.sh

test test-guests test-kernels test-machine test-arch:
	@sh tests/run.sh $(@:test-%=%)

proof:
	@sh scripts/proof.sh $(or $(PART),all)

# QUICK=1: three rounds instead of nine.
bench:
	@sh scripts/bench.sh $(if $(QUICK),--quick)

bench-readme:
	@sh scripts/bench/readme.sh --write

size: $(PROGRAM)
	@sh scripts/size.sh $(BUILD)/link.map $(PROGRAM)

INSTALLED = $(shell sed -n 's/^ *&\(.*\)_applet,$$/\1/p' $(BUILD)/applets.c)
install: $(PROGRAM)
	sh scripts/install.sh --links "$(LINKS)" $(if $(filter no,$(PAGES)),--applets "$(INSTALLED)") \
	    "$(DESTDIR)$(PREFIX)" $(PROGRAM)

uninstall:
	sh scripts/install.sh --remove "$(DESTDIR)$(PREFIX)"

dist:
	@sh scripts/dist.sh $(VERSION) $(DATE)

packages:
	@sh scripts/packages.sh $(VERSION) $(DATE)

deb: $(PROGRAM)
	@sh scripts/deb.sh $(VERSION) $(DATE) $(PROGRAM)

cross: $(PROGRAM)
	@sh scripts/setup.sh cross; sh scripts/setup.sh arch; sh scripts/cross.sh $(ARCH)

clean:
	rm -rf build stackbox

-include $(OBJECTS:.o=.d) $(FAULT_OBJECTS:.o=.d) $(UNIT_PROGRAMS:=.d) $(wildcard $(BUILD)/bench/*.d) \
         $(wildcard $(BUILD)/workloads/.*.d $(BUILD)/workloads/dynamic/.*.d)

.PHONY: all units faulty tools fuzzers benches workloads guest-programs demo test test-guests test-kernels test-machine test-arch \
        proof bench bench-readme size install uninstall dist packages deb cross clean FORCE
.SECONDARY:
