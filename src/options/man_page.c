/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <string.h>

#include "base/util.h"
#include "options/manual.h"
#include "options/manual_texts.h"

/* Escapes text for roff: what it would take as a request, or print as another character. */
static void print_roff(FILE *out, const char *text)
{
    static const struct {
        char byte;
        const char *roff;
    } special[] = {{'\\', "\\e"},  {'-', "\\-"},    {'\'', "\\(aq"}, {'"', "\\(dq"},
                   {'^', "\\(ha"}, {'~', "\\(ti"}, {'`', "\\(ga"}};

    if (*text == '.')
        fputs("\\&", out);
    for (; *text; text++) {
        size_t i = 0;
        while (i < COUNT_OF(special) && special[i].byte != *text)
            i++;
        if (i < COUNT_OF(special))
            fputs(special[i].roff, out);
        else
            fputc(*text, out);
    }
}

static void roff_row(FILE *out, const char *term, const char *text)
{
    fputs(".TP\n.B ", out);
    print_roff(out, term);
    fputc('\n', out);
    print_roff(out, text);
    fputc('\n', out);
}

static void print_capitals(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, out);
}

static void roff_heading(FILE *out, const char *title)
{
    fputs(".SH ", out);
    print_capitals(out, title);
    fputc('\n', out);
}

static void roff_rows(FILE *out, const struct manual_row *rows)
{
    for (const struct manual_row *row = rows; row->text; row++) {
        if (row->term) {
            roff_row(out, row->term, row->text);
        } else {
            if (row != rows)
                fputs(".PP\n", out);
            print_roff(out, row->text);
            fputc('\n', out);
        }
    }
}

static void roff_section(FILE *out, const struct manual_section *section)
{
    roff_heading(out, section->title);
    roff_rows(out, section->rows);
}

static void roff_option(FILE *out, const struct option *option, const struct option *const *tables)
{
    struct text names = {0};

    manual_option_names(option, tables, &names);
    fputs(".TP\n\\fB", out);
    print_roff(out, names.failed ? "" : names.data);
    fputs("\\fR", out);
    if (option->argument) {
        fputs(" \\fI", out);
        print_roff(out, option->argument);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    print_roff(out, manual_option_text(option));
    fputc('\n', out);
    text_free(&names);
}

static void roff_options(FILE *out, const struct option *const *tables)
{
    roff_heading(out, "Options");
    for (const struct option *const *table = tables; *table; table++)
        for (const struct option *row = *table; row->parse; row++) {
            if (row->parse == option_heading) {
                fputs(".SS ", out);
                print_roff(out, row->help);
                fputc('\n', out);
            } else if (manual_lists(row, tables)) {
                roff_option(out, row, tables);
            }
        }
}

static void roff_head(FILE *out, const char *name, const char *summary, const char *usage,
                      const char *about)
{
    fputs(".TH ", out);
    print_capitals(out, name);
    fputs(" 1 " STACKBOX_DATE " \"stackbox " STACKBOX_VERSION "\" \"User Commands\"\n", out);
    fprintf(out, ".SH NAME\n%s \\- ", name);
    print_roff(out, summary);
    fprintf(out, "\n.SH SYNOPSIS\n.B %s\n", name);
    print_roff(out, usage);
    fputs("\n.SH DESCRIPTION\n", out);
    print_roff(out, about);
    fputc('\n', out);
}

/* References to all other pages. */
static void roff_others(FILE *out, const char *name, const struct applet *const *all)
{
    fprintf(out, ".SH SEE ALSO\n");
    if (strcmp(name, "stackbox"))
        fputs(".BR stackbox (1),\n", out);
    for (const struct applet *const *applet = all; *applet; applet++)
        if (strcmp((*applet)->name, name))
            fprintf(out, ".BR %s (1),\n", (*applet)->name);
    fputs(".BR perf (1),\n.BR addr2line (1),\n.BR capabilities (7)\n", out);
}

/* An applet's own rows, and those of all that print stacks. */
static void roff_output(FILE *out, const struct applet *applet)
{
    if (!applet->output && applet->no_stacks)
        return;
    roff_heading(out, "Output");
    if (applet->output)
        roff_rows(out, applet->output);
    if (!applet->no_stacks)
        roff_rows(out, manual_output);
}

/* The section of this title, up to one without a title; or NULL. */
static const struct manual_section *find_section(const struct manual_section *sections,
                                                 const char *title)
{
    for (; sections->title; sections++)
        if (!strcmp(sections->title, title))
            return sections;
    return NULL;
}

void manual_man(FILE *out, const struct applet *applet, const struct applet *const *all)
{
    const struct manual_section *shared = applet->filter ? manual_filter : manual_tracing;

    roff_head(out, applet->name, applet->summary, applet->usage, applet->about);
    for (const struct manual_section *own = applet->sections; own->title; own++)
        if (!find_section(shared, own->title))
            roff_section(out, own);
    roff_options(out, applet->options);
    roff_output(out, applet);
    for (; shared->title; shared++) {
        const struct manual_section *own = find_section(applet->sections, shared->title);
        roff_section(out, own ? own : shared);
    }
    roff_section(out, &(struct manual_section){"Notes", applet->notes});
    roff_section(out, &(struct manual_section){"Examples", applet->examples});
    roff_others(out, applet->name, all);
}

void manual_main_man(FILE *out, const struct option *const *options,
                     const struct applet *const *all)
{
    roff_head(out, "stackbox", "stack-tracing applets in one static binary", manual_main_synopsis,
              manual_main_about);
    roff_section(out, &(struct manual_section){"Invocation", manual_main_usage});
    roff_heading(out, "Applets");
    for (const struct applet *const *applet = all; *applet; applet++)
        roff_row(out, (*applet)->name, (*applet)->summary);
    roff_options(out, options);
    roff_section(out, &(struct manual_section){"Exit status", manual_exit_status});
    roff_section(out, &(struct manual_section){"Notes", manual_main_notes});
    roff_section(out, &(struct manual_section){"Examples", manual_main_examples});
    roff_others(out, "stackbox", all);
}
