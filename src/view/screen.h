/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Lines of text on a screen: which part is visible, and the bytes that update the terminal from
 * what it shows. Pure: the terminal itself is handled elsewhere.
 */
#ifndef STACKBOX_VIEW_SCREEN_H
#define STACKBOX_VIEW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "view/keys.h"

#define SCREEN_ROWS 24 /* if the size is unknown */
#define SCREEN_COLUMNS 80
#define SCREEN_MOST_ROWS 256 /* rows beyond these stay unused */

struct screen {
    const char *text; /* the caller's; all lines end in \n */
    size_t lines;     /* of it */
    size_t top, left; /* the first visible line and column */
    unsigned rows, columns;
    bool paused, ended; /* as keys asked */
    uint64_t shown[SCREEN_MOST_ROWS]; /* a hash of what each row shows; 0: unknown */
};

void screen_init(struct screen *screen);
/* What the terminal shows is unknown from now on. */
void screen_forget(struct screen *screen);
/* 0: unknown. True: the size has changed. */
bool screen_resize(struct screen *screen, unsigned rows, unsigned columns);
void screen_set_text(struct screen *screen, const char *text);
void screen_press(struct screen *screen, enum key key);

/*
 * Appends what updates the terminal: rows that have changed, and in the last one the status,
 * followed by which part is visible. No byte of a text moves the cursor: everything goes through
 * escape_bytes().
 */
void screen_draw(struct screen *screen, const char *status, struct text *out);

#endif
