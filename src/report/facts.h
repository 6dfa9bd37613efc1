/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What files of reports say besides the stacks: of what run, on which machine, and what is missing. */
#ifndef STACKBOX_REPORT_FACTS_H
#define STACKBOX_REPORT_FACTS_H

#include <sys/utsname.h>

#include "report/report.h"

struct facts {
    struct utsname system;
    struct text command_line;
    struct text losses; /* a line for each kind: added to by who knows */
    struct report_about about;
    uint64_t start;      /* of the report, by the monotonic clock */
    uint64_t next_began; /* and of the next by that of the day; 0: not known yet */
};

/* `words`: the command line, up to a NULL. 0 or -ENOMEM; facts_free after either. */
int facts_init(struct facts *facts, const char *applet, char *const *words);
void facts_free(struct facts *facts);

/* The report begins where the last one ended, or now. */
void facts_begin(struct facts *facts);
/* It ends now: before it is looked at what was counted. */
void facts_end(struct facts *facts);
/* It has so many events. What is asked of `about` holds until facts_begin(). */
void facts_count(struct facts *facts, uint64_t events);

#endif
