/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The terminal that is our stdout, as a place to draw on: what it can, what is typed there, and that it
 * is as it was before whenever we do not draw. We may be stopped (SIGTSTP) at any time, or end in any way:
 * a process beside us, which does nothing else, puts it right when we are gone.
 *
 *     terminal_open     once
 *     terminal_enter    before anything is drawn, each time
 *     terminal_leave    before anything else is written there
 *     terminal_close
 */
#ifndef STACKBOX_VIEW_TERMINAL_H
#define STACKBOX_VIEW_TERMINAL_H

#include <stdbool.h>

#include "base/text.h"

struct terminal_size {
    unsigned rows, columns; /* 0: it does not tell */
};

/* False: the descriptor is none of a terminal. */
bool terminal_size(int fd, struct terminal_size *size);

/* How many columns a line may have there; 0: as many as it likes. */
unsigned terminal_width(int fd);

/*
 * 0, or a negative errno: -ENOTTY where stdout is no terminal, or one that cannot put text where it is told
 * to (TERM=dumb).
 */
int terminal_open(void);
/* May be called without the other, and twice. */
void terminal_close(void);

/* A descriptor to read keys from, below 0: there is none. */
int terminal_keys(void);

/*
 * Makes it ours, if it is not: then what stands there is not known, and *anew becomes true. False: it is
 * somebody else's at the moment, who has us in the background, or it was told to wait (Ctrl-S).
 */
bool terminal_enter(bool *anew);
void terminal_leave(void);

void terminal_draw(const struct text *bytes);
/* Its size comes as an answer (KEY_SIZE) among the keys. */
void terminal_ask_size(void);

#endif
