# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
#   make            ./stackbox, one static binary
#   make demo       builds, then traces this machine for three seconds
#   make test       everything: unit, golden, command line, live, guests
#   make check      the quick part of it: no guest, no live tracing
#   make bench      the figures, as ratios against the bare floor and peers
#   make install    DESTDIR= PREFIX=/usr/local: the binary, its links, its man pages
#
# CC=clang and SANITIZE=1 (AddressSanitizer, UBSan; not static) build the same tree elsewhere:
# each pairing of BUILD and PROGRAM is its own build.

VERSION  := 0.1
DATE     := 2026-11-20
BUILD    ?= build/release
PROGRAM  ?= stackbox
PREFIX   ?= /usr/local

ifeq ($(origin CC),default)
CC := $(if $(shell command -v musl-gcc),musl-gcc,cc)
endif

# -Wsign-conversion is left out on purpose: errno values, sizes and kernel words mix signs on every
# line of a program like this one, and the casts would hide the conversions that matter.
comma := ,
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
            -Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings
# The parts of glibc are dropped function by function, so that one binary stays small there too.
CFLAGS   ?= -Os
ALL_CFLAGS := -std=gnu11 $(WARNINGS) $(CFLAGS) -ffunction-sections -fdata-sections \
            -fno-asynchronous-unwind-tables -ffile-prefix-map=$(CURDIR)=. \
            -D_GNU_SOURCE -DSTACKBOX_VERSION='"$(VERSION)"' \
            -DSTACKBOX_DATE='"$(DATE)"' -Isrc -I. -MMD -MP
ALL_LDFLAGS := -Wl,--gc-sections -Wl,--build-id=none -pthread $(LDFLAGS)

ifdef SANITIZE
ALL_CFLAGS  += -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
ALL_LDFLAGS += -fsanitize=address,undefined
else
ALL_LDFLAGS += -static -s
endif

# musl's headers come without the kernel's: those are taken from the system, after musl's own.
ifneq ($(findstring musl,$(CC)),)
MULTIARCH  := $(shell gcc -print-multiarch 2>/dev/null)
KERNEL_HEADERS := -idirafter /usr/include $(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH))
endif
ALL_CFLAGS += $(KERNEL_HEADERS)

# Programs to be traced: their stacks must look the same from every compiler and in every build.
WORKLOAD_CFLAGS := -std=gnu11 $(WARNINGS) -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls \
            -D_GNU_SOURCE $(KERNEL_HEADERS) -MMD -MP -pthread
# The same programs in the shapes that linkers and distributions give them. Dynamic ones are made with
# the system's own libc, in a directory of their own: they run where they were built, not in guests.
FLAVOUR_CC := $(if $(findstring musl,$(CC)),gcc,$(CC))
STATIC_FLAVOURS := chains-shifted chains-static-pie chains-stripped north south usdt-moved \
            usdt-sdt usdt-sdt-guarded
DYNAMIC_FLAVOURS := chains-pie chains-no-pie chains-shifted chains-prelinked chains-ifunc chains-dynsym \
            chains-debuglink chains-build-id chains-wrong-debug usdt loads libnorth.so libsouth.so

SOURCES  := $(sort $(wildcard src/*.c src/*/*.c insns/*.c))
OBJECTS  := $(SOURCES:%.c=$(BUILD)/%.o)
PARTS    := $(filter-out $(BUILD)/src/main.o,$(OBJECTS))
UNITS    := $(sort $(wildcard tests/unit/*.c))
UNIT_PROGRAMS := $(UNITS:tests/unit/%.c=$(BUILD)/unit/%)
WORKLOADS := $(filter-out %/execs.c,$(sort $(wildcard tests/workloads/*.c)))
WORKLOAD_PROGRAMS := $(WORKLOADS:tests/workloads/%.c=$(BUILD)/workloads/%)
FLAVOUR_PROGRAMS := $(STATIC_FLAVOURS:%=$(BUILD)/workloads/%) \
            $(DYNAMIC_FLAVOURS:%=$(BUILD)/workloads/dynamic/%)
TOOL_PROGRAMS := $(patsubst tests/tools/%.c,$(BUILD)/workloads/%,$(sort $(wildcard tests/tools/*.c)))

all: $(PROGRAM)

$(PROGRAM): $(OBJECTS)
	@$(CC) $(ALL_CFLAGS) -o $@ $(OBJECTS) $(ALL_LDFLAGS)
	@echo "$@: $$(wc -c < $@) bytes ($(CC))"

# What a compiler and its flags were is part of every object: a change of either rebuilds.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(CC) $(ALL_CFLAGS))' | cmp -s - $@ || echo '$(subst ','\'',$(CC) $(ALL_CFLAGS))' > $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Every test program links the whole tree but main(): unused parts are dropped by the linker.
$(BUILD)/parts.a: $(PARTS)
	@rm -f $@
	@ar rcs $@ $(PARTS)

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/parts.a $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -Itests -o $@ $< $(BUILD)/parts.a $(ALL_LDFLAGS)

units: $(UNIT_PROGRAMS)

# What the figures are measured with.
$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/parts.a $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -o $@ $< $(BUILD)/parts.a $(ALL_LDFLAGS)

benches: $(BUILD)/bench/floor $(BUILD)/bench/cost

$(BUILD)/workloads/%: tests/workloads/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(WORKLOAD_CFLAGS) -static -MF $(BUILD)/workloads/.$*.d -o $@ $<

# flavour COMPILER, OPTIONS: one program of the first prerequisite
flavour = mkdir -p $(@D) && $(1) $(WORKLOAD_CFLAGS) $(2) -MF $(@D)/.$(@F).d -o $@ $<

$(BUILD)/workloads/north: tests/workloads/execs.c $(BUILD)/flags
	@$(call flavour,$(CC),-static -DNAME=north)
$(BUILD)/workloads/south: tests/workloads/execs.c $(BUILD)/flags
	@$(call flavour,$(CC),-static -DNAME=south)
$(BUILD)/workloads/chains-shifted: tests/workloads/chains.c tests/workloads/shifted.ld $(BUILD)/flags
	@$(call flavour,$(CC),-static -DFAR_TEXT -Wl$(comma)-T$(comma)tests/workloads/shifted.ld)
$(BUILD)/workloads/chains-static-pie: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-static-pie -fPIE)
$(BUILD)/workloads/chains-stripped: $(BUILD)/workloads/chains
	@strip -o $@ $<
$(BUILD)/workloads/usdt-moved: tests/workloads/usdt.c $(BUILD)/flags
	@$(call flavour,$(CC),-static -DSHIFT=0x10000)

# Where <sys/sdt.h> is not installed these two are empty files that nobody can run.
sdt_flavour = if $(CC) $(KERNEL_HEADERS) -include sys/sdt.h -E -x c /dev/null >/dev/null 2>&1; \
            then $(call flavour,$(CC),-static -DWITH_SDT $(1)); else : >$@; fi
$(BUILD)/workloads/usdt-sdt: tests/workloads/usdt.c $(BUILD)/flags
	@$(call sdt_flavour)
$(BUILD)/workloads/usdt-sdt-guarded: tests/workloads/usdt.c $(BUILD)/flags
	@$(call sdt_flavour,-D_SDT_HAS_SEMAPHORES)

$(BUILD)/workloads/dynamic/chains-pie: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie)
$(BUILD)/workloads/dynamic/chains-no-pie: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fno-pie -no-pie)
$(BUILD)/workloads/dynamic/chains-shifted: tests/workloads/chains.c tests/workloads/shifted.ld $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie -DFAR_TEXT -Wl$(comma)-T$(comma)tests/workloads/shifted.ld)
$(BUILD)/workloads/dynamic/chains-prelinked: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie -Wl$(comma)-Ttext-segment=0x7000000)
$(BUILD)/workloads/dynamic/chains-ifunc: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie -DWITH_IFUNC)
$(BUILD)/workloads/dynamic/chains-exported: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie -rdynamic -Wl$(comma)--build-id)
$(BUILD)/workloads/dynamic/usdt: tests/workloads/usdt.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie)
$(BUILD)/workloads/dynamic/loads: tests/workloads/dynamic/loads.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie -ldl)
$(BUILD)/workloads/dynamic/lib%.so: tests/workloads/dynamic/library.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIC -shared -DNAME=$*)

# What distributions ship: no .symtab, and the symbols in another file, named by .gnu_debuglink or by
# the build id; chains-wrong-debug names a file that is there, but is another program's.
$(BUILD)/workloads/dynamic/chains-dynsym: $(BUILD)/workloads/dynamic/chains-exported
	@strip -o $@ $<
$(BUILD)/workloads/dynamic/chains-debuglink: $(BUILD)/workloads/dynamic/chains-no-pie
	@mkdir -p $(@D)/.debug
	@objcopy --only-keep-debug $< $(@D)/.debug/chains-debuglink.debug
	@strip -o $@ $<
	@cd $(@D)/.debug && objcopy --add-gnu-debuglink=chains-debuglink.debug ../$(@F)
$(BUILD)/workloads/dynamic/chains-wrong-debug: $(BUILD)/workloads/dynamic/chains-no-pie \
        $(BUILD)/workloads/dynamic/chains-ifunc
	@mkdir -p $(@D)/.debug
	@strip -o $@ $<
	@cd $(@D)/.debug && : >chains-wrong.debug && \
	    objcopy --add-gnu-debuglink=chains-wrong.debug ../$(@F)
	@objcopy --only-keep-debug $(@D)/chains-ifunc $(@D)/.debug/chains-wrong.debug
$(BUILD)/workloads/dynamic/chains-build-id: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie -Wl$(comma)--build-id=0x5bacb0c50123456789abcdef)
	@mkdir -p $(@D)/symfs/usr/lib/debug/.build-id/5b
	@objcopy --only-keep-debug $@ \
	    $(@D)/symfs/usr/lib/debug/.build-id/5b/acb0c50123456789abcdef.debug
	@cp $@ $@.full && strip $@

# What live tests ask our own parts by; it goes where the workloads go, into guests too.
$(TOOL_PROGRAMS): $(BUILD)/workloads/%: tests/tools/%.c $(BUILD)/parts.a $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -MF $(BUILD)/workloads/.$*.d -o $@ $< $(BUILD)/parts.a $(ALL_LDFLAGS)

workloads: $(WORKLOAD_PROGRAMS) $(FLAVOUR_PROGRAMS) $(TOOL_PROGRAMS)

demo:
	@sh scripts/demo.sh

test:
	@sh tests/run.sh

check:
	@sh tests/run.sh --quick

bench:
	@sh scripts/bench.sh

install: $(PROGRAM)
	sh scripts/install.sh "$(DESTDIR)$(PREFIX)" "$(abspath $(PROGRAM))"

clean:
	rm -rf build stackbox

-include $(OBJECTS:.o=.d) $(UNIT_PROGRAMS:=.d) $(wildcard $(BUILD)/workloads/.*.d $(BUILD)/workloads/dynamic/.*.d)

.PHONY: all units benches workloads demo test check bench install clean FORCE
.SECONDARY:
