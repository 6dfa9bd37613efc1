/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's types: a member that is found is in a file that contains its name, and is found
 * again.
 */
#include "tests/unit/btf_member.h"

#include <errno.h>
#include <string.h>

#include "fuzz.h"

static void look_for(const struct btf *btf, const char *structure, const char *member)
{
    struct btf_member found = {0}, again = {0};
    int result = btf_find_member(btf, structure, member, &found);

    ALWAYS(result == 0 || result == -ENOENT || result == -EINVAL);
    ALWAYS(btf_find_member(btf, structure, member, &again) == result);
    ALWAYS(!memcmp(&found, &again, sizeof(found)));
    if (result)
        return;
    /* A flexible array has no size. */
    ALWAYS(found.offset <= UINT32_MAX - found.size);
    ALWAYS(memmem(btf->strings, btf->strings_size, member, strlen(member) + 1));
}

/* The reader takes the input whole, and makes a list of types. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {4096, 8, 0},
    [FUZZ_READS] = {8, 0, 0},
    [FUZZ_TIME] = {10000, 5, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    struct btf btf;
    uint32_t count = 0;
    int result = btf_read(&btf, fuzz_file(data, size));

    ALWAYS(result == 0 || result == -ENOEXEC);
    if (result)
        return;
    ALWAYS(btf.count >= 1 && btf.types_size <= size && btf.strings_size <= size);
    look_for(&btf, "task_struct", "pid");
    look_for(&btf, "task_struct", "state");
    look_for(&btf, "task_struct", "exit_state");
    look_for(&btf, "", "");
    result = btf_count_parameters(&btf, "btf_trace_sched_switch", &count);
    ALWAYS(result == 0 ? count <= 65535 : result == -ENOENT || result == -EINVAL);
    btf_free(&btf);
}
