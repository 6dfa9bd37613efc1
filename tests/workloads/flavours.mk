# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# The same programs in the shapes that linkers and distributions give them. Dynamic ones are made
# with the system's own libc, in a directory of their own: they run where they were built, not in
# guests.
FLAVOUR_CC := $(if $(findstring musl,$(CC)),gcc,$(CC))
# A cross compiler's own tools: aarch64-linux-gnu-gcc goes with aarch64-linux-gnu-strip.
TARGET := $(if $(findstring -linux-gnu,$(CC)),$(CC:%gcc=%))
STATIC_FLAVOURS := bare bare-plain north-bare south-bare chains-mangled chains-shifted chains-static-pie \
            chains-stripped chains-packed chains-damaged north south usdt-moved \
            usdt-sdt usdt-sdt-guarded
DYNAMIC_FLAVOURS := chains-pie chains-no-pie chains-shifted chains-prelinked chains-ifunc \
            chains-dynsym chains-packed chains-packed-all chains-debuglink chains-build-id \
            chains-wrong-debug usdt loads everyday chores libnorth.so libsouth.so libbare.so
# 32-bit ARM's debug information tells of each instruction what its tables do of calls.
ifneq ($(findstring arm-linux,$(CC)),)
STATIC_FLAVOURS += bare-debug
endif
FLAVOUR_PROGRAMS := $(STATIC_FLAVOURS:%=$(BUILD)/workloads/%) \
            $(DYNAMIC_FLAVOURS:%=$(BUILD)/workloads/dynamic/%)
SHIFTED := tests/workloads/shifted.ld

# flavour COMPILER, OPTIONS: one program of the first prerequisite
flavour = mkdir -p $(@D) && $(1) $(WORKLOAD_CFLAGS) $(2) -MF $(@D)/.$(@F).d -o $@ $<

# frameless OPTIONS: the same without frame pointers, as distributions build
WITH_FRAMES := -O1 -fno-omit-frame-pointer -marm -mapcs-frame -mbackchain
frameless = mkdir -p $(@D) && $(FLAVOUR_CC) $(filter-out $(WITH_FRAMES),$(WORKLOAD_CFLAGS)) -O2 -fomit-frame-pointer \
            -fasynchronous-unwind-tables -DFRAME= $(1) -MF $(@D)/.$(@F).d -o $@ $<

# Without frame pointers, with the tables of a libc that has some; on ARM Thumb code, as distributions build it.
$(BUILD)/workloads/bare-debug: DEBUG := -g
$(BUILD)/workloads/bare $(BUILD)/workloads/bare-debug: tests/workloads/bare.c $(BUILD)/flags
	@mkdir -p $(@D) && $(FLAVOUR_CC) $(filter-out $(WITH_FRAMES),$(WORKLOAD_CFLAGS)) -O2 \
	    -fomit-frame-pointer -fasynchronous-unwind-tables $(DEBUG) -static -MF $(@D)/.$(@F).d -o $@ $<
# Without either: only what it is linked with may have tables.
$(BUILD)/workloads/bare-plain: tests/workloads/bare.c $(BUILD)/flags
	@mkdir -p $(@D) && $(CC) $(filter-out $(WITH_FRAMES),$(WORKLOAD_CFLAGS)) -O2 \
	    -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -static -MF $(@D)/.$(@F).d -o $@ $<
$(BUILD)/workloads/north-bare: tests/workloads/execs.c $(BUILD)/flags
	@$(call frameless,-static -DNAME=north)
$(BUILD)/workloads/south-bare: tests/workloads/execs.c $(BUILD)/flags
	@$(call frameless,-static -DNAME=south)
$(BUILD)/workloads/north: tests/workloads/execs.c $(BUILD)/flags
	@$(call flavour,$(CC),-static -DNAME=north)
$(BUILD)/workloads/south: tests/workloads/execs.c $(BUILD)/flags
	@$(call flavour,$(CC),-static -DNAME=south)
$(BUILD)/workloads/chains-shifted: tests/workloads/chains.c $(SHIFTED) $(BUILD)/flags
	@$(call flavour,$(CC),-static -DFAR_TEXT -T $(SHIFTED))
# What not every machine's libc has a beginning for.
$(BUILD)/workloads/chains-static-pie: tests/workloads/chains.c $(BUILD)/flags
	@case $$($(FLAVOUR_CC) -print-file-name=rcrt1.o) in \
	/*) $(call flavour,$(FLAVOUR_CC),-static-pie -fPIE) ;; \
	*) : >$@ ;; \
	esac
$(BUILD)/workloads/chains-mangled: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(CC),-static -DMANGLED)
$(BUILD)/workloads/chains-stripped: $(BUILD)/workloads/chains
	@$(TARGET)strip -o $@ $<
$(BUILD)/workloads/usdt-moved: tests/workloads/usdt.c $(BUILD)/flags
	@$(call flavour,$(CC),-static -DSHIFT=0x10000)

# Where <sys/sdt.h> is not installed these two are empty files that cannot be run. It is the same for all
# machines, and installed for this one.
SDT_HEADERS := $(if $(TARGET),-idirafter /usr/include/$(shell gcc -print-multiarch 2>/dev/null))
sdt_flavour = if $(CC) $(KERNEL_HEADERS) $(SDT_HEADERS) -include sys/sdt.h -E -x c /dev/null >/dev/null 2>&1; \
            then $(call flavour,$(CC),$(SDT_HEADERS) -static -DWITH_SDT $(1)); else : >$@; fi
$(BUILD)/workloads/usdt-sdt: tests/workloads/usdt.c $(BUILD)/flags
	@$(call sdt_flavour)
$(BUILD)/workloads/usdt-sdt-guarded: tests/workloads/usdt.c $(BUILD)/flags
	@$(call sdt_flavour,-D_SDT_HAS_SEMAPHORES)

$(BUILD)/workloads/dynamic/chains-pie: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie)
$(BUILD)/workloads/dynamic/chains-no-pie: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fno-pie -no-pie)
$(BUILD)/workloads/dynamic/chains-shifted: tests/workloads/chains.c $(SHIFTED) $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie -DFAR_TEXT -T $(SHIFTED))
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
$(BUILD)/workloads/dynamic/everyday: tests/workloads/dynamic/everyday.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie)
$(BUILD)/workloads/dynamic/chores: tests/workloads/dynamic/chores.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie -pthread)
$(BUILD)/workloads/dynamic/libbare.so: tests/workloads/dynamic/library.c $(BUILD)/flags
	@$(call frameless,-fPIC -shared -DNAME=bare)
$(BUILD)/workloads/dynamic/lib%.so: tests/workloads/dynamic/library.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIC -shared -DNAME=$*)

# What distributions ship: no .symtab, and the symbols in another file, named by .gnu_debuglink or
# by the build id; chains-wrong-debug names a file that is there, but is another program's.
$(BUILD)/workloads/dynamic/chains-dynsym: $(BUILD)/workloads/dynamic/chains-exported
	@$(TARGET)strip -o $@ $<
$(BUILD)/workloads/dynamic/chains-debuglink: $(BUILD)/workloads/dynamic/chains-no-pie
	@mkdir -p $(@D)/.debug
	@$(TARGET)objcopy --only-keep-debug $< $(@D)/.debug/chains-debuglink.debug
	@$(TARGET)strip -o $@ $<
	@cd $(@D)/.debug && $(TARGET)objcopy --add-gnu-debuglink=chains-debuglink.debug ../$(@F)
$(BUILD)/workloads/dynamic/chains-wrong-debug: $(BUILD)/workloads/dynamic/chains-no-pie \
        $(BUILD)/workloads/dynamic/chains-ifunc
	@mkdir -p $(@D)/.debug
	@$(TARGET)strip -o $@ $<
	@cd $(@D)/.debug && : >chains-wrong.debug && \
	    $(TARGET)objcopy --add-gnu-debuglink=chains-wrong.debug ../$(@F)
	@$(TARGET)objcopy --only-keep-debug $(@D)/chains-ifunc $(@D)/.debug/chains-wrong.debug
$(BUILD)/workloads/dynamic/chains-build-id: tests/workloads/chains.c $(BUILD)/flags
	@$(call flavour,$(FLAVOUR_CC),-fPIE -pie -Wl$(comma)--build-id=0x5bacb0c50123456789abcdef)
	@mkdir -p $(@D)/symfs/usr/lib/debug/.build-id/5b
	@$(TARGET)objcopy --only-keep-debug $@ \
	    $(@D)/symfs/usr/lib/debug/.build-id/5b/acb0c50123456789abcdef.debug
	@cp $@ $@.full && $(TARGET)strip $@

# And the functions that .dynsym lacks in .gnu_debugdata, as Fedora's packages are made. Static ones
# have all of them there. Of chains-damaged's a byte in the middle is another.
packed = $(TARGET)nm -D $< --format=posix --defined-only 2>/dev/null | awk '{ print $$1 }' | sort >$@.dynamic; \
    $(TARGET)nm $< --format=sysv --defined-only | awk -F '|' '$$4 ~ "FUNC" { print $$1 }' | sed 's/ *$$//' | \
    sort | comm -13 $@.dynamic - >$@.keep && $(TARGET)objcopy --only-keep-debug $< $@.debug 2>/dev/null && \
    $(TARGET)objcopy -S --remove-section .comment --keep-symbols=$@.keep $@.debug $@.mini 2>/dev/null && \
    xz -c $@.mini >$@.xz && $(TARGET)strip -o $@ $< && $(1) $(TARGET)objcopy --add-section .gnu_debugdata=$@.xz $@ && \
    rm -f $@.dynamic $@.keep $@.debug $@.mini $@.xz
damaged = printf '\377' | dd of=$@.xz bs=1 seek=200 conv=notrunc status=none &&

$(BUILD)/workloads/chains-packed: $(BUILD)/workloads/chains
	@$(call packed)
$(BUILD)/workloads/chains-damaged: $(BUILD)/workloads/chains
	@$(call packed,$(damaged))
$(BUILD)/workloads/dynamic/chains-packed: $(BUILD)/workloads/dynamic/chains-exported
	@$(call packed)
$(BUILD)/workloads/dynamic/chains-packed-all: $(BUILD)/workloads/dynamic/chains-pie
	@$(call packed)
