/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is typed, of bytes as a terminal sends them. Pure. */
#ifndef STACKBOX_VIEW_KEYS_H
#define STACKBOX_VIEW_KEYS_H

enum key {
    KEY_NONE, /* no key, not yet one, or one that means nothing */
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
    KEY_SIZE, /* no key: the answer to a question, with rows and columns in `numbers` */
};

/* {0} before the first byte. */
struct keys {
    enum {
        KEYS_PLAIN,
        KEYS_ESCAPE,   /* behind ESC */
        KEYS_SEQUENCE, /* behind ESC [, up to a letter */
        KEYS_SHORT,    /* behind ESC O: the letter */
    } state;
    unsigned count; /* of the numbers, but for the first */
    unsigned numbers[2];
};

enum key keys_take(struct keys *keys, unsigned char byte);

#endif
