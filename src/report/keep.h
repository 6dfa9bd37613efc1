/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How many report files are kept: the oldest go, by the times in their names. Only regular files
 * whose whole names the template makes are deleted, in its directory, which nobody else may write
 * to.
 */
#ifndef STACKBOX_REPORT_KEEP_H
#define STACKBOX_REPORT_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "report/file_name.h"

struct keep {
    uint64_t files, bytes; /* at most; 0: no limit */
};

/*
 * The times in one run's names: the last one, how far they went before the clock was set back, or
 * before the run, and where it was set back to. Names between the last and that are from before,
 * although they look newer; names older than `back` are, too.
 */
struct keep_times {
    char last[FILE_NAME_TIME + 1], ahead[FILE_NAME_TIME + 1], back[FILE_NAME_TIME + 1];
};

bool keep_is_asked(const struct keep *keep);

/* Does this template tell ages, in one directory? 0, or -EINVAL with one line in `error`. */
int keep_check_name(const char *path, struct text *error);
/* May files be deleted where it puts them? 0, or a negative errno with one line in `error`. */
int keep_check_place(const char *path, struct text *error);

/*
 * After a report with this name was written, deletes what is too much, but never that report. 0 or
 * a negative errno: -EPERM if others may write to the directory.
 */
int keep_prune(const struct keep *keep, const char *path, const char *name, struct keep_times *times);

#endif
