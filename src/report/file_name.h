/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of files of reports, by a template: %n is the number of the report, %t when it began, %% is %.
 * The same template says of a name whether it made it.
 */
#ifndef STACKBOX_REPORT_FILE_NAME_H
#define STACKBOX_REPORT_FILE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define FILE_NAME_TIME (sizeof("20240229-235959.999") - 1)

/* A report, the `number`th from 1, which began at `began` (ns since the epoch). */
struct report_turn {
    uint64_t number, began;
    bool last;
};

/* What makes names differ. -EINVAL: some % is followed by what is not known. */
#define FILE_NAME_NUMBER 1
#define FILE_NAME_HAS_TIME 2
int file_name_varies(const char *path);

/*
 * Appends the name of the file for this report. One that is not the last, by a template with neither %n nor %t,
 * gets its number before the ending.
 */
void file_name_add(struct text *name, const char *path, const struct report_turn *turn);

/* Did this template make the whole of `name`? Then `when` is its first %t, which sorts as times do. */
bool file_name_fits(const char *path, const char *name, char when[FILE_NAME_TIME + 1]);

#endif
