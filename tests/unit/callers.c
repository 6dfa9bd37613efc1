/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Callers and frames in the kernel's own stacks, as on machines with a link register. */
#include "unit/files.h"


#include "find/find.h"
#include "insns/layout.h"
#include "machine/machine.h"
#include "store/store.h"

#define ENTERED 0xffff800080001000
#define CALLER   0xffff800080002040
#define OUTER    0xffff800080003080

TEST(missing)
{
    static const uint64_t lacks[] = {ENTERED, OUTER}, has[] = {ENTERED, CALLER, OUTER};

    CHECK(callers_miss_kernel(CALLER, KEY_KERNEL_START, lacks, COUNT_OF(lacks)));
    CHECK(callers_miss_kernel(CALLER, KEY_KERNEL_START, lacks, 1)); /* only the leaf */
    CHECK(!callers_miss_kernel(CALLER, KEY_KERNEL_START, has, COUNT_OF(has)));
    /* No stack, no known caller, or an event whose caller is in user code. */
    CHECK(!callers_miss_kernel(CALLER, KEY_KERNEL_START, lacks, 0));
    CHECK(!callers_miss_kernel(0, KEY_KERNEL_START, lacks, COUNT_OF(lacks)));
    CHECK(!callers_miss_kernel(CALLER, KEY_USER_PROBE, lacks, COUNT_OF(lacks)));
    CHECK(!callers_miss_kernel(CALLER, KEY_TRACEPOINT, lacks, COUNT_OF(lacks)));
}

TEST(twice)
{
    static const uint64_t frames[] = {ENTERED, ENTERED, ENTERED, CALLER};

    CHECK_NUMBER(callers_count_twice(frames, COUNT_OF(frames)), 1); /* unchanged */
    CHECK_NUMBER(callers_count_twice(frames + 2, 2), 0);
    CHECK_NUMBER(callers_count_twice(frames, 1), 0);
    CHECK_NUMBER(callers_count_twice(frames, 0), 0);
}

TEST(link_registers)
{
    CHECK(machine_has_link(&machine_aarch64));
    CHECK(machine_has_link(&machine_arm));
    CHECK(machine_has_link(&machine_riscv64));
    CHECK(!machine_has_link(&machine_x86_64));
    CHECK(!machine_has_link(&machine_i386));
    CHECK(!machine_has_link(&machine_s390x));
}

/* How many stacks lack their caller in a kernel with these symbols: vfs_read at its first instruction. */
static int starts_in(const char *symbols)
{
    static const char *const typed[] = {"vfs_read", "r::vfs_read", "vfs_read+4"};
    struct pattern patterns[COUNT_OF(typed)] = {0};
    size_t matched[COUNT_OF(typed)] = {0};
    AUTO(places_free) struct places places = {0};
    AUTO_TEXT error = {0};
    AUTO_FD file = file_of_text(symbols);
    int starts = 0;

    for (size_t i = 0; i < COUNT_OF(typed); i++)
        CHECK_NUMBER(pattern_parse(&patterns[i], typed[i], false, &error), 0);
    CHECK_NUMBER(kernel_functions_find(file, patterns, COUNT_OF(typed), &places, matched), 0);
    CHECK_NUMBER(places.count, COUNT_OF(typed));
    for (size_t i = 0; i < places.count; i++) {
        CHECK(places.items[i].start != START_LINK || (!places.items[i].at_return && !places.items[i].offset));
        starts += places.items[i].start == START_LINK;
    }
    for (size_t i = 0; i < COUNT_OF(typed); i++)
        pattern_free(&patterns[i]);
    return starts;
}

TEST(which_kernels)
{
    const struct machine *kernel = machine_of_kernel();

    CHECK_NUMBER(starts_in("ffffffff81000000 T vfs_read\nffffffff81000100 T unwind_next_frame\n"),
                 machine_has_link(kernel) || kernel == &machine_x86_64);
    /* The unwinder's symbol, unwind_init, may come before or after vfs_read. */
    CHECK_NUMBER(starts_in("ffffffff81000000 T vfs_read\nffffffff82000000 T unwind_init\n"), machine_has_link(kernel));
    CHECK_NUMBER(starts_in("ffffffff80000000 T unwind_init\nffffffff81000000 T vfs_read\n"), machine_has_link(kernel));
}

TEST_MAIN
