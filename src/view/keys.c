/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "view/keys.h"

#define ESC 0x1b
#define CTRL(letter) ((letter) & 0x1f)
#define MOST_NUMBER 9999

static enum key plain_key(unsigned char byte)
{
    switch (byte) {
    case 'q':
    case 'Q':
    case CTRL('C'): /* if the terminal makes no signal of it */
        return KEY_QUIT;
    case 'p':
    case 'P':
        return KEY_PAUSE;
    case 'k':
        return KEY_UP;
    case 'j':
        return KEY_DOWN;
    case 'b':
        return KEY_PAGE_UP;
    case ' ':
        return KEY_PAGE_DOWN;
    case 'g':
        return KEY_HOME;
    case 'G':
        return KEY_END;
    case CTRL('L'):
        return KEY_REDRAW;
    default:
        return KEY_NONE;
    }
}

/* ESC [ A, ESC O A, and with Ctrl or Shift ESC [ 1 ; 5 A */
static enum key letter_key(unsigned char letter)
{
    switch (letter) {
    case 'A':
        return KEY_UP;
    case 'B':
        return KEY_DOWN;
    case 'C':
        return KEY_RIGHT;
    case 'D':
        return KEY_LEFT;
    case 'H':
        return KEY_HOME;
    case 'F':
        return KEY_END;
    default:
        return KEY_NONE;
    }
}

/* ESC [ 5 ~ */
static enum key number_key(unsigned number)
{
    switch (number) {
    case 1:
    case 7:
        return KEY_HOME;
    case 4:
    case 8:
        return KEY_END;
    case 5:
        return KEY_PAGE_UP;
    case 6:
        return KEY_PAGE_DOWN;
    default:
        return KEY_NONE;
    }
}

static enum key take_in_sequence(struct keys *keys, unsigned char byte)
{
    if (byte >= '0' && byte <= '9') {
        unsigned *number = &keys->numbers[keys->count > 0];
        *number = *number * 10 + (byte - '0');
        *number = *number < MOST_NUMBER ? *number : MOST_NUMBER;
        return KEY_NONE;
    }
    if (byte == ';')
        keys->count++;
    if (byte < 0x40)
        return KEY_NONE;
    keys->state = KEYS_PLAIN;
    if (byte == 'R' && keys->count == 1)
        return KEY_SIZE;
    return byte == '~' ? number_key(keys->numbers[0]) : letter_key(byte);
}

enum key keys_take(struct keys *keys, unsigned char byte)
{
    if (byte == ESC) {
        *keys = (struct keys){.state = KEYS_ESCAPE};
        return KEY_NONE;
    }
    switch (keys->state) {
    case KEYS_SEQUENCE:
        return take_in_sequence(keys, byte);
    case KEYS_SHORT:
        keys->state = KEYS_PLAIN;
        return letter_key(byte);
    case KEYS_ESCAPE:
        keys->state = byte == '[' ? KEYS_SEQUENCE : byte == 'O' ? KEYS_SHORT : KEYS_PLAIN;
        return keys->state ? KEY_NONE : plain_key(byte);
    default:
        return plain_key(byte);
    }
}
