/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Callers and frames of the kernel's own stacks, as machines with a link register have them. */
#include "unit/test.h"

#include "base/util.h"
#include "insns/caller.h"
#include "insns/layout.h"
#include "machine/rows.h"
#include "maps/callers.h"

#define ENTERED 0xffff800080001000
#define CALLER   0xffff800080002040
#define OUTER    0xffff800080003080

static void missing(void)
{
    static const uint64_t lacks[] = {ENTERED, OUTER}, has[] = {ENTERED, CALLER, OUTER};

    CHECK(callers_miss_kernel(CALLER, KEY_KERNEL_START, lacks, COUNT_OF(lacks)));
    CHECK(callers_miss_kernel(CALLER, KEY_KERNEL_START, lacks, 1)); /* the leaf alone */
    CHECK(!callers_miss_kernel(CALLER, KEY_KERNEL_START, has, COUNT_OF(has)));
    /* No stack, no caller, or an event of another kind, whose caller is a user's. */
    CHECK(!callers_miss_kernel(CALLER, KEY_KERNEL_START, lacks, 0));
    CHECK(!callers_miss_kernel(0, KEY_KERNEL_START, lacks, COUNT_OF(lacks)));
    CHECK(!callers_miss_kernel(CALLER, KEY_USER_PROBE, lacks, COUNT_OF(lacks)));
    CHECK(!callers_miss_kernel(CALLER, KEY_TRACEPOINT, lacks, COUNT_OF(lacks)));
}

static void twice(void)
{
    static const uint64_t frames[] = {ENTERED, ENTERED, ENTERED, CALLER};

    CHECK_NUMBER(callers_count_twice(frames, COUNT_OF(frames)), 1); /* what it began with, and no more */
    CHECK_NUMBER(callers_count_twice(frames + 2, 2), 0);
    CHECK_NUMBER(callers_count_twice(frames, 1), 0);
    CHECK_NUMBER(callers_count_twice(frames, 0), 0);
}

static void link_registers(void)
{
    CHECK(machine_has_link(&machine_aarch64));
    CHECK(machine_has_link(&machine_arm));
    CHECK(machine_has_link(&machine_riscv64));
    CHECK(!machine_has_link(&machine_x86_64));
    CHECK(!machine_has_link(&machine_i386));
    CHECK(!machine_has_link(&machine_s390x));
}

int main(void)
{
    TEST(missing);
    TEST(twice);
    TEST(link_registers);
    return tests_done();
}
