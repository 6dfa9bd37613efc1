/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the parts of judge.c share: the draw, its environment, the run and the answer. */
#ifndef STACKBOX_WORKLOADS_JUDGE_H
#define STACKBOX_WORKLOADS_JUDGE_H

#include <stdarg.h>
#include <stddef.h>

#include "life.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

enum applet { STACKCOUNT, STACKSNOOP, PROFILE, OFFCPUTIME, WAKEUPTIME, OFFWAKETIME, WALLTIME, APPLETS };
enum whose { COMMAND, ONE_PID, TWO_PIDS, FOLLOWED, ONE_TID, ALL_OF_THEM };
enum by { BY_DEFAULT, BY_PROCESS, BY_THREAD, BY_NAME };
enum event { ALPHA, ALPHA_RETURN, DEEP_ENTRY, DEEP_RETURN, TRACEPOINT, KERNEL_FUNCTION, KERNEL_RETURN };
enum stacks { BOTH_STACKS, USER_STACKS, KERNEL_STACKS };
enum unwinding { BY_TABLES, BY_FRAMES, NO_UNWINDING };
enum output { TO_STDOUT, TO_FOLDED, TO_RECORDING, TO_BOTH };
enum ending { BY_INT, BY_TERM, BY_TERM_TWICE };

/* --shrink can take away everything but the seed and what has no trait (see `traits`). */
struct draw {
    uint64_t seed;
    const char *only;
    uint32_t without;   /* a bit per trait */
    enum applet applet;
    enum whose whose;
    enum by by;
    enum event event;
    enum stacks stacks;
    enum unwinding unwinding;
    enum output output;
    enum ending ending;
    const char *interval, *collect, *attach;
    int early;          /* ms from the go-ahead to stackbox's end; 0: the life's end */
    int silent;         /* without --debug */
    int one_cpu, pid_namespace, time_namespace, tracefs;
    unsigned memory;    /* MB, 0: no limit */
};

/* Paths of programs and files, and the judge's own options. */
struct place {
    const char *stackbox, *workloads, *loads;
    char directory[256], log[300], life[300], out[300], err[300], more[300];
    int kprobes, switches_cpus, alone, stalls, deaf, verbose;
    unsigned limit; /* seconds */
};

/* A copy of the log's parts, taken at `at`. */
struct snapshot {
    uint64_t at;
    uint32_t parts;
    struct part *part;
};

struct run {
    int status;      /* of stackbox; a signal counts as 128 + its number */
    int hangs;
    uint64_t began, traced, told, ended; /* stackbox: start, "Tracing", signal to end, end */
    struct snapshot before, at_begin, at_end, after, whole;
    int32_t pids[2], tid;
    uint32_t processes[2], target_part;
    unsigned targets;
};

/* A line of a report, or an event. */
struct row {
    char name[64];
    int32_t pid, tid;
    uint64_t count;
    const char *stack; /* of the frames; with --format=json, the event from "event": on */
};

struct answer {
    struct row *rows;
    size_t count;
    char *text;
    uint64_t lost, missed, seen;
    int has_account;
};

/* The seed's first failure; later ones are ignored. */
static char failure[512];

static inline __attribute__((format(printf, 1, 2))) void fails(const char *format, ...)
{
    va_list values;

    if (failure[0])
        return;
    va_start(values, format);
    vsnprintf(failure, sizeof(failure), format, values);
    va_end(values);
}

static inline char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "re");
    size_t room = 1 << 16, used = 0, got;
    char *text = malloc(room + 1);

    while (file && text && (got = fread(text + used, 1, room - used, file)) > 0) {
        used += got;
        if (used == room)
            text = realloc(text, (room *= 2) + 1);
    }
    if (file)
        fclose(file);
    if (!text) {
        perror("judge");
        exit(2);
    }
    text[used] = 0;
    if (size)
        *size = used;
    return text;
}

#endif
