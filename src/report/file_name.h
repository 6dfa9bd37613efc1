/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of report files, by a template: %n is the report's number, %t when it began, %% is %. The
 * same template tells whether it made a name.
 */
#ifndef STACKBOX_REPORT_FILE_NAME_H
#define STACKBOX_REPORT_FILE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define FILE_NAME_TIME (sizeof("20240229-235959.999") - 1)

/* The `number`th report, from 1, which began at `began` (ns since the epoch). */
struct report_turn {
    uint64_t number, began;
    bool last;
};

/* What makes names differ. -EINVAL: a % is followed by something unknown. */
#define FILE_NAME_NUMBER 1
#define FILE_NAME_HAS_TIME 2
int file_name_varies(const char *path);

/*
 * Appends this report's file name. A report that is not the last gets its number before the suffix
 * if the template has neither %n nor %t.
 */
void file_name_add(struct text *name, const char *path, const struct report_turn *turn);

/*
 * Did this template make the whole of `name`? If so, `when` is its first %t, which sorts as times
 * do.
 */
bool file_name_fits(const char *path, const char *name, char when[FILE_NAME_TIME + 1]);

#endif
