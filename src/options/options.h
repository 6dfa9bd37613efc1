/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The command line, by tables: a row parses its option, and --help and the man page print it. A row
 * of zeros ends a table.
 */
#ifndef STACKBOX_OPTIONS_OPTIONS_H
#define STACKBOX_OPTIONS_OPTIONS_H

#include <stdint.h>

#include "base/text.h"

#define MOST_NUMBERS 256

/* Pids, tids: a filter compares with each in turn. */
struct number_list {
    uint32_t numbers[MOST_NUMBERS];
    size_t count;
};

#define MOST_STRINGS 16

struct string_list {
    const char *strings[MOST_STRINGS];
    size_t count;
};

struct option;
/*
 * Stores `text` in `destination`. 0, or -EINVAL with the rest of a sentence in `error`; a result
 * above 0 ends parsing without an error.
 */
typedef int option_parser(const struct option *option, const char *text, void *destination,
                          struct text *error);

struct option {
    char letter;          /* -p; 0: none */
    const char *name;     /* --pid */
    /*
     * The argument's name in help; NULL: none. "[N]": an optional whole number, right after the
     * option; another word in brackets: one that may have a decimal point.
     */
    const char *argument;
    option_parser *parse;
    uint16_t offset; /* of the destination in the applet's settings */
    uint32_t least;  /* for a number */
    uint64_t greatest;
    const char *help;         /* NULL: accepted by its whole name, but not listed */
    const char *details;      /* --help adds them to it; NULL: -h does not list this row */
};

/* A heading, not an option: help and man page print it above the rows that follow. */
#define OPTION_HEADING(title) {.parse = option_mark, .help = (title)}

/* One more letter for the option of this name, which may be in another table. */
#define OPTION_LETTER(another, of_name) \
    {.letter = (another), .name = (of_name), .parse = option_mark}

/* Parsers; the comment is the type of the destination. */
option_parser option_flag; /* bool */
option_parser option_number; /* uint64_t or int64_t */
option_parser option_seconds; /* uint64_t, ns */
option_parser option_microseconds; /* uint64_t, us */
option_parser option_numbers; /* number_list: "12,13" is added to it */
option_parser option_string;  /* const char * */
option_parser option_strings; /* string_list */
option_parser option_ask; /* returns `least`: one of ASKED_BRIEF, ASKED_HELP, ASKED_MAN */
option_parser option_ignore;
option_parser option_refuse; /* for the reason in `details` */
option_parser option_mark; /* of headings, and letters of options elsewhere: never called */

/* Takes each of "a,b". As a parser. */
int each_word(const struct option *option, const char *text, void *destination,
              struct text *error, option_parser *take);

/* Each row of tables, up to a NULL. */
#define EACH_OPTION(row, tables)                                                          \
    for (const struct option *const *row##_in = (tables); *row##_in; row##_in++)          \
        for (const struct option *row = *row##_in; row->parse; row++)

/*
 * *number = the place of `typed` in a list such as "one, two, three", from 1 on; 0 for NULL. 0, or
 * -EINVAL with a sentence in `error` that starts with `begin`.
 */
int take_word(const char *begin, const char *words, const char *typed, unsigned *number,
              struct text *error);

enum {
    ASKED_BRIEF = 1,
    ASKED_HELP,
    ASKED_MAN,
};

struct arguments {
    char **words; /* words that are not options, in order: the caller frees the array only */
    size_t count;
    char **line;    /* the whole line, as main() got it */
    /* the option that took the last word as its optional argument: it may be a separate word */
    const struct option *unsure;
    char **command; /* what follows "--", up to a NULL; NULL without "--" */
};

/*
 * Parses argv[1] onwards by `tables` (up to a NULL) into `settings`. Options and words may be
 * mixed; letters may be joined (-KU, -p12), long names shortened where that is unambiguous
 * (--dur=5). An option's argument may also be the next word, whatever it looks like. 0, with
 * `arguments` set; one of ASKED; -EINVAL with one line in `error` that names the option; -ENOMEM.
 */
int options_parse(const struct option *const *tables, int argc, char **argv, void *settings,
                  struct arguments *arguments, struct text *error);

/*
 * Half a sentence of advice about an unknown applet or option ("--sort", "-G"), as typed; or NULL.
 */
const char *answer_to_applet(const char *word);

#endif
