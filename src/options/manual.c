/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "options/manual.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "options/manual_texts.h"

#define WIDTH 79
#define TEXT_COLUMN 28
#define BRIEF_EXAMPLES 5 /* the first ones, which are the simplest */

/* Prints words from `column` on, each further line from `indent` on. */
static void print_wrapped(FILE *out, const char *text, int column, int indent)
{
    bool first = true;

    while (*text) {
        int length = (int)strcspn(text, " ");
        if (!first && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length;
        text += *text == ' ';
        first = false;
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const char *term, const char *text)
{
    int length = (int)strlen(term);

    if (length + 4 > TEXT_COLUMN)
        fprintf(out, "  %s\n%*s", term, TEXT_COLUMN, "");
    else
        fprintf(out, "  %-*s", TEXT_COLUMN - 2, term);
    print_wrapped(out, text, TEXT_COLUMN, TEXT_COLUMN);
}

/* `most` rows of it. */
static void print_rows(FILE *out, const struct manual_section *section, int most)
{
    fprintf(out, "\n%s:\n", section->title);
    for (const struct manual_row *row = section->rows; row->text && most--; row++) {
        if (row->term) {
            print_row(out, row->term, row->text);
        } else {
            fprintf(out, row == section->rows ? "  " : "\n  ");
            print_wrapped(out, row->text, 2, 2);
        }
    }
}

static void print_section(FILE *out, const struct manual_section *section)
{
    print_rows(out, section, -1);
}

/* The text may go into details after what -h shows of it. */
static size_t brief_length(const char *text)
{
    size_t length = strcspn(text, ":;(");

    return length - (length && text[length - 1] == ' ');
}

static void print_option(FILE *out, const struct option *row, const struct option *const *tables, bool brief)
{
    struct text term = {0}, what = {0};
    const char *text = manual_option_text(row);

    manual_option_names(row, tables, &term);
    if (row->argument)
        text_format(&term, " %s", row->argument);
    text_format(&what, "%.*s", (int)(brief ? brief_length(text) : strlen(text)), text);
    if (!term.failed && !what.failed)
        print_row(out, term.data, what.data);
    text_free(&term);
    text_free(&what);
}

static void print_options(FILE *out, const struct option *const *tables, bool brief)
{
    for (const struct option *const *table = tables; *table; table++)
        for (const struct option *row = *table; row->parse; row++) {
            if (!manual_lists(row, tables) || (brief && row->help[0] != OFTEN[0]))
                continue;
            if (row->parse == option_heading)
                fprintf(out, "\n%s:\n", row->help);
            else
                print_option(out, row, tables, brief);
        }
}

static void print_examples(FILE *out, const struct manual_row *examples)
{
    fprintf(out, "\nExamples:\n");
    for (; examples->text; examples++) {
        fprintf(out, "  %s\n      ", examples->term);
        print_wrapped(out, examples->text, 6, 6);
    }
}

static void print_usage(FILE *out, const struct applet *applet)
{
    const int column = 8 + (int)strlen(applet->name);

    fprintf(out, "Usage: %s ", applet->name);
    print_wrapped(out, applet->usage, column, column);
    fputc('\n', out);
}

void manual_brief(FILE *out, const struct applet *applet)
{
    print_usage(out, applet);
    fprintf(out, "%c%s.\n", toupper(applet->summary[0]), applet->summary + 1);
    print_rows(out, &(struct manual_section){"Examples", applet->examples}, BRIEF_EXAMPLES);
    fprintf(out, "\nOptions (%s --help lists all):\n", applet->name);
    print_options(out, applet->options, true);
}

void manual_help(FILE *out, const struct applet *applet)
{
    print_usage(out, applet);
    print_wrapped(out, applet->about, 0, 0);
    for (const struct manual_section *section = applet->sections; section->title; section++)
        print_section(out, section);
    print_options(out, applet->options, false);
    print_examples(out, applet->examples);
}

void manual_list(FILE *out, const struct applet *const *all)
{
    for (const struct applet *const *applet = all; *applet; applet++)
        fprintf(out, "%-14s %s\n", (*applet)->name, (*applet)->summary);
}

void manual_main_help(FILE *out, const struct option *const *options,
                      const struct applet *const *all)
{
    fprintf(out, "Usage: stackbox %s\n\n", manual_main_synopsis);
    print_wrapped(out, manual_main_about, 0, 0);
    print_section(out, &(struct manual_section){"Invocation", manual_main_usage});
    fprintf(out, "\nApplets:\n");
    for (const struct applet *const *applet = all; *applet; applet++)
        print_row(out, (*applet)->name, (*applet)->summary);
    fprintf(out, "\nOptions:\n");
    print_options(out, options, false);
    print_examples(out, manual_main_examples);
}
