/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The command line, by tables: a row parses its option, and --help and the man page print it. A
 * table ends with a row of zeros.
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

struct option {
    char letter;          /* -p; 0: none */
    const char *name;     /* --pid */
    /*
     * What it takes, as help shows it; NULL: nothing. "[N]": a whole number, if one comes right after
     * it; another word in brackets: one that may have a point in it.
     */
    const char *argument;
    /*
     * Puts `text` into `destination`. 0, or -EINVAL with the rest of a sentence in `error`; above 0
     * it ends the parsing without an error.
     */
    int (*parse)(const struct option *option, const char *text, void *destination,
                 struct text *error);
    size_t offset;            /* of the destination in the applet's settings */
    uint64_t least, greatest; /* of a number */
    const char *help;         /* NULL: taken by its whole name, but not listed */
};

/* What the help begins with of an option that -h lists too, up to where its text goes into details. */
#define OFTEN "\1"

/* A row that is no option: help and man page put it above those that follow. */
#define OPTION_HEADING(title) {.parse = option_heading, .help = (title)}

/* One more letter for the option of this name, which may be in another of the tables. */
#define OPTION_LETTER(another, of_name) \
    {.letter = (another), .name = (of_name), .parse = option_letter}

/* Parsers; the comment is the type of the destination. */
int option_flag(const struct option *, const char *, void *, struct text *);    /* bool */
int option_number(const struct option *, const char *, void *, struct text *);  /* uint64_t */
int option_signed(const struct option *, const char *, void *, struct text *);  /* int64_t */
int option_seconds(const struct option *, const char *, void *, struct text *); /* uint64_t, ns */
int option_numbers(const struct option *, const char *, void *, struct text *); /* number_list */
int option_string(const struct option *, const char *, void *, struct text *);  /* const char * */
int option_strings(const struct option *, const char *, void *, struct text *); /* string_list */
int option_brief(const struct option *, const char *, void *, struct text *); /* gives ASKED_BRIEF */
int option_help(const struct option *, const char *, void *, struct text *);  /* gives ASKED_HELP */
int option_man(const struct option *, const char *, void *, struct text *);   /* gives ASKED_MAN */
int option_ignore(const struct option *, const char *, void *, struct text *);
/* These two mark their rows, and are never called. */
int option_heading(const struct option *, const char *, void *, struct text *);
int option_letter(const struct option *, const char *, void *, struct text *);

enum {
    ASKED_BRIEF = 1,
    ASKED_HELP,
    ASKED_MAN,
};

struct arguments {
    char **words; /* what is no option, in order: the caller frees the array alone */
    size_t count;
    char **line;    /* all of it, as main() has it */
    char **command; /* what follows "--", up to a NULL; NULL without a "--" */
};

/*
 * Parses argv[1] and on by `tables` (up to a NULL) into `settings`. Options and words may be mixed;
 * letters may be joined (-KU, -p12), long names cut short where that is clear (--dur=5). What an
 * option takes may also be the next word, whatever that looks like. 0, then `arguments` is set;
 * what is ASKED; -EINVAL with one line in `error`, which names the option; -ENOMEM.
 */
int options_parse(const struct option *const *tables, int argc, char **argv, void *settings,
                  struct arguments *arguments, struct text *error);

#endif
