/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Lines of text on a screen: which part is visible, and the bytes that update the terminal from
 * what it shows. Pure: the terminal itself is handled elsewhere.
 */
#ifndef STACKBOX_BASE_SCREEN_H
#define STACKBOX_BASE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* ---- Keys, decoded from the bytes that a terminal sends ---- */

enum key {
    KEY_NONE, /* no key, an unfinished one, or one without a meaning */
    KEY_UP,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_QUIT,
    KEY_PAUSE,
    KEY_REDRAW,
    KEY_SIZE, /* not a key: the answer to a query, with rows and columns in `numbers` */
};

/* {0} before the first byte. */
struct keys {
    enum {
        KEYS_PLAIN,
        KEYS_ESCAPE,   /* after ESC */
        KEYS_SEQUENCE, /* after ESC [, up to a letter */
        KEYS_SHORT,    /* after ESC O: the letter */
    } state;
    unsigned count; /* of the numbers, except the first */
    unsigned numbers[2];
};

enum key keys_take(struct keys *keys, unsigned char byte);

/* ---- Columns and rows ---- */

/*
 * How many bytes of a text (UTF-8, without control characters) fit into that many columns: whole
 * characters. What may be two columns wide counts as two, so that a line is never too long.
 */
size_t columns_fit(const char *text, size_t length, size_t columns);

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
 * Appends what updates the terminal: the rows that have changed, and in the last row the status,
 * followed by which part is visible. Text passes through escape_bytes(), so that no byte of it
 * moves the cursor.
 */
void screen_draw(struct screen *screen, const char *status, struct text *out);

#endif
