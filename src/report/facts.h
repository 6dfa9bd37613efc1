/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What report files say besides the stacks: about the run, the machine, and losses. */
#ifndef STACKBOX_REPORT_FACTS_H
#define STACKBOX_REPORT_FACTS_H

#include <sys/utsname.h>

#include "report/report.h"

struct facts {
    struct utsname system;
    struct text command_line;
    struct text losses; /* a line per kind: added to by those that know */
    struct report_about about;
    uint64_t start;      /* of the report, by the monotonic clock */
    uint64_t next_began; /* and of the next, by the time of day; 0: not known yet */
};

/* `words`: the command line, up to a NULL. 0 or -ENOMEM; facts_free after either. */
int facts_init(struct facts *facts, const char *applet, char *const *words);
void facts_free(struct facts *facts);

/* The report begins where the last one ended, or now. */
void facts_begin(struct facts *facts);
/* It ends now: called before looking at what was counted. */
void facts_end(struct facts *facts);
/* Its number of events. What `about` points to is valid until facts_begin(). */
void facts_count(struct facts *facts, uint64_t events);

#endif
