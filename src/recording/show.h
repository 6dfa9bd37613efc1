/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From recordings to reports, all of it in the process apart: a stranger's file is read there, its frames are named
 * there, and what comes back is what is to be written.
 */
#ifndef STACKBOX_RECORDING_SHOW_H
#define STACKBOX_RECORDING_SHOW_H

#include <stdint.h>

#include "demangle/demangle.h"
#include "report/formats.h"
#include "report/who.h"

#define SHOWN_FORMATS 6

struct show_wishes {
    const int *fds; /* of the recordings, open */
    size_t count;
    enum report_format formats[SHOWN_FORMATS]; /* each once */
    size_t format_count;
    const char *symfs; /* look for files and debug files below it, and not where the recording had them; or NULL */
    bool missing;      /* tell what was not found */
    bool debug;        /* and what was recorded, of which machine */
    /* Besides what the run was asked for: */
    bool delimited, offset, verbose, annotations, raw_names;
    struct demangle_wishes names;
    enum who by;
    uint64_t top;       /* 0: as the run was asked */
    uint64_t functions; /* likewise */
};

struct shown {
    struct text reports[SHOWN_FORMATS]; /* of each format; any bytes */
    struct text lines;   /* what is to be said */
    struct text missing; /* build ids, a line each */
    uint64_t began;      /* when the run did: ns since the epoch */
    uint64_t failed;     /* which recording could not be read */
    bool unread;         /* functions of a file that is here have no names: it could not be read */
};

/*
 * 0, or a negative errno, of recording shown->failed: as recording_take() has them; -EINVAL where threads are to be
 * told apart that were not; -ECHILD where the process apart came to nothing, and shown->lines tells why. shown_free
 * after either.
 */
int recordings_show(const struct show_wishes *wishes, struct shown *shown);
/* Is what this descriptor is of a recording? Nothing is read off it: of a pipe it is not known. */
bool recording_is_at(int fd);
/* Appends what such an errno means: "is truncated or corrupt". */
void recordings_explain(int result, struct text *why);
void shown_free(struct shown *shown);

#endif
