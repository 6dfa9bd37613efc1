/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* An event as a line of JSON; src/docs/reports.md describes its fields. Part of records. */
#ifndef STACKBOX_REPORT_RECORDS_JSON_H
#define STACKBOX_REPORT_RECORDS_JSON_H

#include "report/records.h"

void records_json_add_frame(struct text *line, const struct symbol *symbol,
                            const struct record_options *options);
void records_json_add(struct text *out, const struct record *record,
                      const struct record_options *options);

#endif
