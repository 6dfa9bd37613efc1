/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Whether stacks of user code can be walked along the tables of its files. */
#include "base/text.h"
#include "checks/look.h"
#include "unwind/learn.h"

void check_unwinding(struct checks *checks)
{
    struct check *check = &checks->of[CHECK_UNWINDING];
    struct learned learned = LEARNED_NONE;
    struct text log = {0};
    const int result = learned_open(&learned, &log);

    check->yes = !result;
    if (result) {
        text_add(&check->detail, "user stacks are walked along frame pointers: ");
        learned_explain(result, &check->detail);
    }
    learned_close(&learned);
    text_free(&log);
}
