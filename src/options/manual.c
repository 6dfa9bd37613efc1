/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "options/manual.h"

#include <string.h>

#include "base/text.h"
#include "options/manual_texts.h"

#define WIDTH 79
#define TEXT_COLUMN 28

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

static void print_section(FILE *out, const struct manual_section *section)
{
    fprintf(out, "\n%s:\n", section->title);
    for (const struct manual_row *row = section->rows; row->text; row++) {
        if (row->term) {
            print_row(out, row->term, row->text);
        } else {
            fprintf(out, row == section->rows ? "  " : "\n  ");
            print_wrapped(out, row->text, 2, 2);
        }
    }
}

static void print_options(FILE *out, const struct option *const *tables)
{
    struct text term = {0};

    for (const struct option *const *table = tables; *table; table++)
        for (const struct option *row = *table; row->parse; row++) {
            if (!manual_lists(row, tables))
                continue;
            if (row->parse == option_heading) {
                fprintf(out, "\n%s:\n", row->help);
                continue;
            }
            text_clear(&term);
            manual_option_names(row, tables, &term);
            if (row->argument)
                text_format(&term, " %s", row->argument);
            if (!term.failed)
                print_row(out, term.data, row->help);
        }
    text_free(&term);
}

static void print_examples(FILE *out, const struct manual_row *examples)
{
    fprintf(out, "\nExamples:\n");
    for (; examples->text; examples++) {
        fprintf(out, "  %s\n      ", examples->term);
        print_wrapped(out, examples->text, 6, 6);
    }
}

void manual_help(FILE *out, const struct applet *applet)
{
    fprintf(out, "Usage: %s ", applet->name);
    print_wrapped(out, applet->usage, 8 + (int)strlen(applet->name), 8 + (int)strlen(applet->name));
    fputc('\n', out);
    print_wrapped(out, applet->about, 0, 0);
    for (const struct manual_section *section = applet->sections; section->title; section++)
        print_section(out, section);
    print_options(out, applet->options);
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
    print_options(out, options);
    print_examples(out, manual_main_examples);
}
