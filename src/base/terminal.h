/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The terminal on our stdout, as a place to draw on: what it can do, what is typed there, and
 * restoring it whenever we do not draw. We may be stopped (SIGTSTP) or end in any way at any time:
 * a child process, which does nothing else, restores it when we are gone.
 *
 *     terminal_open     once
 *     terminal_enter    before drawing, each time
 *     terminal_leave    before writing anything else there
 *     terminal_close
 */
#ifndef STACKBOX_BASE_TERMINAL_H
#define STACKBOX_BASE_TERMINAL_H

#include <stdbool.h>

#include "base/text.h"

struct terminal_size {
    unsigned rows, columns; /* 0: unknown */
};

/* False: the descriptor is not a terminal. */
bool terminal_size(int fd, struct terminal_size *size);

/* Is it a terminal that can place text (not TERM=dumb)? */
bool terminal_places_text(int fd);
/* Does it take text now? If output is paused (Ctrl-S), writing would block. */
bool terminal_takes_text(int fd);

/* How many columns a line may have there; 0: any number. */
unsigned terminal_width(int fd);

/* 0, or a negative errno: -ENOTTY if stdout is not a terminal that can place text. */
int terminal_open(void);
/* May be called without terminal_open, and twice. */
void terminal_close(void);

/* A descriptor to read keys from; below 0: none. */
int terminal_keys(void);

/*
 * Takes the terminal over, if we do not have it yet: its contents are then unknown, and *anew
 * becomes true. False: we are in the background at the moment, or output is paused (Ctrl-S).
 */
bool terminal_enter(bool *anew);

void terminal_draw(const struct text *bytes);
/* The size comes as an answer (KEY_SIZE) among the keys. */
void terminal_ask_size(void);

#endif
