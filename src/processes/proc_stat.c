/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/proc_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"

#define STAT_LIMIT 65536

/* The words after the name, which is in parentheses and may contain anything. */
enum {
    STATE = 3,
    USER_TICKS = 14,
    SYSTEM_TICKS = 15,
    START_TICKS = 22,
};

bool proc_stat_read(uint32_t pid, struct proc_stat *stat)
{
    const uint64_t tick = tick_ns();
    struct text text = {0};
    char path[32];

    *stat = (struct proc_stat){0};
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    const char *at = read_file(AT_FDCWD, path, STAT_LIMIT, &text) || !text.data
        ? NULL : strrchr(text.data, ')');
    for (int word = STATE; at && word <= START_TICKS && (at = strchr(at, ' ')); word++) {
        at++;
        if (word == STATE)
            stat->state = *at;
        else if (word == USER_TICKS || word == SYSTEM_TICKS)
            stat->used += strtoull(at, NULL, 10) * tick;
        else if (word == START_TICKS)
            stat->start = strtoull(at, NULL, 10) * tick;
    }
    text_free(&text);
    return at;
}
