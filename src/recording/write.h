/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Writes a recording: what was counted, and what is needed to symbolize it elsewhere, as
 * src/docs/recordings.md describes it. Names from files are not in it.
 */
#ifndef STACKBOX_RECORDING_WRITE_H
#define STACKBOX_RECORDING_WRITE_H

#include <stdio.h>

#include "processes/process.h"
#include "report/report.h"

struct recording_account {
    uint64_t seen, counted, filtered, lost;
};

struct recording_source {
    const struct tally *tally;
    const struct symbols *symbols; /* the tally's: kernel and in-memory code already have names */
    const struct process_place *places; /* of each symbol, {0} if unknown; NULL: of none */
    const struct report_options *options; /* with `names`, and `about` */
    const struct waiting_text *waiting;   /* or NULL */
    const struct tm *when;
    uint64_t top; /* in text: only the greatest; 0: all */
    const struct demangle_options *readable; /* NULL: names as in the tables */
    struct symbolize_notes *notes;
    const char *program; /* that was traced, or NULL */
    int kallsyms;        /* or below 0 */
    struct recording_account account;
};

/* Where symbols are, collected from symbols_make(). */
struct recording_places {
    const struct symbols *symbols;
    struct process_place *items; /* free() */
    bool failed;
};

/* symbolize_options.located, with the struct recording_places as context. */
void recording_locate(void *places, const struct symbol *symbol, const struct process_place *place);

/* 0 or -ENOMEM. The caller checks `out` for errors afterwards. */
int recording_write(FILE *out, const struct recording_source *source);

#endif
