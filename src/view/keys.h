/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Keys, decoded from the bytes that a terminal sends. Pure. */
#ifndef STACKBOX_VIEW_KEYS_H
#define STACKBOX_VIEW_KEYS_H

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

#endif
