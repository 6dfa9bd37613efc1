/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Can stacks of user code be walked by its files' tables? */
#include <errno.h>

#include "base/text.h"
#include "checks/look.h"
#include "machine/machine.h"
#include "unwind/learn.h"

/* With rings that is done here, and nothing about the kernel must be known. */
static int try_walk(struct learned *learned, struct text *log)
{
    if (!check_rings)
        return learned_open(learned, log);
    return machine_walks() ? 0 : -EOPNOTSUPP;
}

void check_unwinding(struct checks *checks)
{
    struct check *check = &checks->of[CHECK_UNWINDING];
    struct learned learned = LEARNED_NONE;
    struct text log = {0};
    const int result = try_walk(&learned, &log);

    check->yes = !result;
    if (!result && checks->walks)
        text_add(&check->detail, "but stackcount of kernel functions walks frame pointers");
    if (result) {
        text_add(&check->detail, "user stacks are unwound by frame pointers: ");
        learned_explain(result, &check->detail);
    }
    learned_close(&learned);
    text_free(&log);
}
