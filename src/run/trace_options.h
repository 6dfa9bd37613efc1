/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The options that every tracing applet has. */
#ifndef STACKBOX_RUN_TRACE_OPTIONS_H
#define STACKBOX_RUN_TRACE_OPTIONS_H

#include <stdbool.h>

#include "demangle/demangle.h"
#include "insns/capture.h"
#include "options/options.h"
#include "report/report.h"
#include "report/report_files.h"
#include "tally/tally.h"

/* How user stacks are walked: --unwind. */
enum unwind_way {
    UNWIND_WAY_BEST, /* by tables, if possible */
    UNWIND_WAY_TABLES,
    UNWIND_WAY_FRAME_POINTERS,
    UNWIND_WAY_NONE,
};

/* The options that say whose events count: which processes, threads by name, users. */

/* Names of threads, as the kernel has them: filled up with zeros. */
struct comm_list {
    char names[MOST_STRINGS][COMM_BYTES];
    size_t count;
};

/* Is it the name of a user? */
bool whose_user_exists(const char *name);

/* How events are collected. */
enum collect_way {
    COLLECT_BEST,
    COLLECT_BPF,   /* counted by programs in the kernel */
    COLLECT_WALK,  /* likewise, by programs that walk the stacks themselves */
    COLLECT_RINGS, /* as single records in perf's rings */
    COLLECT_PTRACE, /* from threads that are interrupted by ptrace(2) */
};

struct trace_options {
    struct number_list pids, tids, uids;
    struct comm_list comms;
    int64_t cpu; /* -1: all */
    bool user_only, kernel_only, delimited, offset, verbose, annotations, inverted, folded,
        timestamp, debug;
    bool dump_program;
    bool raw_names;
    struct demangle_options names;
    uint64_t interval, duration; /* ns; 0: none */
    uint64_t depth;              /* 0: the kernel's limit */
    enum unwind_way unwind;
    uint64_t storage;            /* distinct stacks; 0: by free memory */
    uint64_t top;                /* 0: all */
    struct string_list outputs;  /* of -o */
    struct retention keep;            /* of these files */
    const char *format;          /* a format's name, or NULL */
    bool flat;
    uint64_t functions;          /* of --flat; 0: all */
    bool tree;
    uint64_t narrow;             /* of --tree, as in report_options */
    bool live;
    uint64_t live_every;         /* ns */
    struct report_files files;   /* the result of these */
    const char *cgroup;          /* its directory, or NULL */
    const char *symfs;           /* a directory, or NULL */
    enum grouping by;
    bool best_effort, include_self;
    bool follow;                 /* what the processes of -p fork, too */
    enum collect_way collect;
    uint64_t nice;               /* how much the priority is lowered; 0: not at all */
    bool graph;                  /* -g of perf: ignored, as stacks are always taken */
    char **command, **line;      /* the arguments' own: set by trace_options_check */
};

/* Initial settings: a macro takes no space in the binary, as a variable would. */
#define TRACE_OPTIONS_DEFAULTS {.cpu = -1, .narrow = TREE_PERCENT, .live_every = LIVE_NS}
#define LIVE_NS 2000000000
void trace_options_begin(void *settings);

/* Offsets are into a struct trace_options, the first member of an applet's settings. */
extern const struct option trace_options[];

/* The only process that -p names; 0 if it names none or several. */
uint32_t trace_options_process(const struct trace_options *options);

/* The same for probes: 0, too, if what it forks is to be traced, whose pids are unknown. */
uint32_t trace_options_probed(const struct trace_options *options);

/* Was neither a process nor a command chosen? */
bool trace_options_of_all(const struct trace_options *options);

/* How function names are made readable; NULL: they are shown as in the symbol tables. */
const struct demangle_options *trace_options_names(const struct trace_options *options);

/* What they say about what is collected. */
struct capture trace_options_capture(const struct trace_options *options);

/* Refuses options that do not go together. 0, or -EINVAL with one line in `error`. */
int trace_options_check(struct trace_options *options, const struct arguments *arguments,
                        struct text *error);

/* Decides where reports go. 0, or -EINVAL with one line in `error`. */
int trace_options_choose_files(struct trace_options *options, struct text *error);

/* The parser of --by, and of its older spellings --by-name and -P, whose `least` says who. */
option_parser trace_option_by;

/*
 * For an applet whose only word is a duration, which -D may give instead. 0, or -EINVAL with one
 * line in `error`.
 */
int trace_options_take_duration(struct trace_options *options, const struct arguments *arguments,
                                struct text *error);

#endif
