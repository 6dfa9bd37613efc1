/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts that several pages of the manual share, and which options they list. Part of the manual. */
#ifndef STACKBOX_OPTIONS_MANUAL_TEXTS_H
#define STACKBOX_OPTIONS_MANUAL_TEXTS_H

#include "base/text.h"
#include "options/applet.h"

/* For applets that trace, and for those that do not: up to a row without a title. */
extern const struct manual_section manual_tracing[], manual_filter[];

/* What reports and events contain. */
extern const struct manual_row manual_output[];

/* For stackbox itself. */
extern const struct manual_row manual_exit_status[], manual_main_usage[], manual_main_examples[],
    manual_main_notes[];
extern const char manual_main_synopsis[], manual_main_about[];

/* "-t, -L, --tid": a row that is listed has a name and a help text. */
void manual_option_names(const struct option *option, const struct option *const *tables,
                         struct text *names);
/* The text of a listed row, without the mark of those that -h lists. */
const char *manual_option_text(const struct option *option);
/* An applet's own row comes before the common one and replaces it. */
bool manual_lists(const struct option *option, const struct option *const *tables);

#endif
