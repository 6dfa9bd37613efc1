/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The command that a run traces: started early and held, so that it can be followed, released when
 * everything is attached, and waited for in the end. It speaks to the user.
 */
#ifndef STACKBOX_RUN_COMMAND_H
#define STACKBOX_RUN_COMMAND_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/text.h"
#include "run/run.h"

/* The path that a command's name leads to; the caller frees it. NULL: none. */
char *path_walk_find(const char *name);

struct command {
    char **words; /* up to a NULL; NULL: none */
    pid_t pid;    /* 0: not started */
    int failure;  /* a pipe on which the child reports why it could not execute, */
    int error;    /* and that errno; 0: none so far */
    bool is_traced;              /* we must be able to trace it */
    bool has_limits;             /* these are ours from before we raised them: */
    struct rlimit files, memory; /* soft and hard */
};

/* Would execvp(3) find it? */
bool command_exists(const char *name);
/* Appends "did you mean -- sleep 1?", with these words. */
void command_suggest(char *const *words, size_t count, struct text *error);

/* Saves what the command inherits. Called before any limit is raised; words may be NULL. */
void command_init(struct command *command, char **words);

/*
 * Starts it, held until run_start(), with `run` waiting for its end; its stdout is stderr unless
 * stdout is free. 0 or a negative errno. Called after run_open(), in a single-threaded process.
 */
int command_hold(struct command *command, struct run *run, bool stdout_is_free);

/* Could it not be executed? Known once it has ended. */
bool command_is_not_run(struct command *command);

/*
 * Waits for its end. A command that was never released ends unexecuted. Returns our exit status;
 * `status` is what it would be without a command.
 */
int command_finish(struct command *command, struct run *run, int status);

#endif
