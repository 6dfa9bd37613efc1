/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A text of lines on a screen: which part of it is seen, and the bytes that bring a terminal from what
 * it shows to that. Pure: what there is of a terminal is told and done elsewhere.
 */
#ifndef STACKBOX_VIEW_SCREEN_H
#define STACKBOX_VIEW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "view/keys.h"

#define SCREEN_ROWS 24 /* where nobody knows */
#define SCREEN_COLUMNS 80
#define SCREEN_MOST_ROWS 256 /* of more the first are used */

struct screen {
    const char *text; /* the caller's; all lines end in \n */
    size_t lines;     /* of it */
    size_t top, left; /* what is seen first: a line, a column */
    unsigned rows, columns;
    bool paused, ended; /* as keys asked */
    uint64_t shown[SCREEN_MOST_ROWS]; /* what stands in each row, as a hash; 0: nobody knows */
};

void screen_init(struct screen *screen);
/* Nothing that stands there is known any more. */
void screen_forget(struct screen *screen);
/* 0: not known. True: it is another size than before. */
bool screen_resize(struct screen *screen, unsigned rows, unsigned columns);
void screen_set_text(struct screen *screen, const char *text);
void screen_press(struct screen *screen, enum key key);

/*
 * Appends what makes the terminal show it: rows that have changed, and in the last one the status with
 * what is seen behind it. No byte of a text moves the cursor: all goes through escape_bytes().
 */
void screen_draw(struct screen *screen, const char *status, struct text *out);

#endif
