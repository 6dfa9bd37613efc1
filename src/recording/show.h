/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Makes reports from recordings. The sandbox reads the files, symbolizes the frames, and returns
 * the finished reports.
 */
#ifndef STACKBOX_RECORDING_SHOW_H
#define STACKBOX_RECORDING_SHOW_H

#include <stdint.h>

#include "demangle/demangle.h"
#include "report/report.h"

#define SHOWN_FORMATS 6

struct show_options {
    const int *fds; /* of the recordings, open */
    char *const *paths;
    size_t count;
    enum report_format formats[SHOWN_FORMATS]; /* without duplicates */
    size_t format_count;
    const char *symfs; /* look for files below it instead of at their recorded paths; or NULL */
    bool compared;     /* -d and -s of the run do not count: the other run may lack them */
    bool missing;      /* list the build ids of files that were not found */
    bool debug;        /* and describe what was recorded, and the machine */
    /* In addition to the run's own options: */
    bool delimited, offset, verbose, annotations, inverted, raw_names;
    struct demangle_options names;
    enum grouping by;
    uint64_t top;       /* 0: as in the run */
    uint64_t functions; /* likewise */
};

struct shown {
    struct text reports[SHOWN_FORMATS]; /* of each format; any bytes */
    struct text lines;   /* messages */
    struct text missing; /* build ids, one per line */
    struct text kind;    /* what is counted: "samples", "us of waits" */
    uint64_t began;      /* the run's beginning: ns since the epoch */
    uint64_t failed;     /* the recording that could not be read */
    bool unread;         /* functions of a local file have no names: it could not be read */
};

/*
 * 0, or a negative errno, of recording shown->failed: as from recording_take(); -EINVAL to tell
 * threads apart that the run did not; -ECHILD if the sandbox or --symfs failed, with the
 * reason in shown->lines. shown_free after either.
 */
int recordings_show(const struct show_options *asked, struct shown *shown);
/* Is this descriptor of a recording? Consumes nothing, but waits for the first byte of a pipe. */
bool recording_is_at(int fd);
/* Appends what such an errno means: "is truncated or corrupt". */
void recordings_explain(int result, struct text *why);
void shown_free(struct shown *shown);

#endif
