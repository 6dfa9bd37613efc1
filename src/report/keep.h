/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How many files of reports stay: the oldest go, by the times in their names. What is deleted are plain files
 * whose whole names the template makes, in its directory, which nobody else may write to.
 */
#ifndef STACKBOX_REPORT_KEEP_H
#define STACKBOX_REPORT_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "report/file_name.h"

struct keep {
    uint64_t files, bytes; /* at most; 0: as many as there are */
};

/*
 * The times of one run's names: the last, how far they went before the clock was set back, or before the run, and to
 * where it was. Names between the last and that are of before, younger as they seem; older ones than `back` are, too.
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
 * After a report with this name was written, takes away what is too much. Never that report. 0 or a negative
 * errno: -EPERM where others may write to the directory.
 */
int keep_prune(const struct keep *keep, const char *path, const char *name, struct keep_times *times);

#endif
