/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "options/manual.h"

#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define WIDTH 79
#define TEXT_COLUMN 28

static const struct manual_row exit_status[] = {
    {"0", "it is done, also when there was no event"},
    {"1", "it could not be done; what to do about it was said on stderr"},
    {"2", "the command line is wrong"},
    {0},
};

static const struct manual_row signals[] = {
    {"SIGINT, SIGTERM, SIGHUP", "end the tracing and print the report; a second one stops at once; "
     "one that was ignored at the start (nohup) stays ignored"},
    {"SIGUSR1", "a report now, and tracing goes on; each event is in one report; a file of -o without %n "
     "and %t in its name has the number before its ending then, such as out.00001.svg"},
    {"Enter", "ends the tracing where there is no controlling terminal, as in an initramfs, since "
     "Ctrl-C cannot arrive there; the first line printed says so"},
    {0},
};

static const struct manual_row commands[] = {
    {NULL, "After -- COMMAND that command is run and traced, with all that comes of it: from its "
     "first instruction, and until it ends itself. Nobody else is counted. What it does before it "
     "executes the command, such as looking for it, is not either."},
    {NULL, "While the report goes to stdout, the command's stdout is stderr. stdin is its own. -D "
     "ends the tracing, not the command. A signal that ends the tracing is passed on to the "
     "command, unless a terminal gave it to both."},
    {NULL, "It runs as who runs this; -- setpriv --reuid=USER --clear-groups COMMAND, or su, runs it "
     "as another user."},
    {NULL, "The exit status is then the command's own, or:"},
    {"128+N", "signal N ended it"},
    {"125", "tracing failed, and then the command was not run unless it had begun or --best-effort "
     "was said; or a report could not be written"},
    {"126", "the command cannot be executed"},
    {"127", "there is no such command"},
    {0},
};

static const struct manual_row files[] = {
    {"/usr/lib/debug", "debug files of programs that have no symbols of their own: .build-id/NN/REST.debug "
     "by build id, else by the name in .gnu_debuglink; in the root of the traced process and in ours, and "
     "below --symfs DIR first"},
    {"/tmp/perf-PID.map", "names that a just-in-time compiler gave to its functions; taken where the file "
     "belongs to the user of the process or to root"},
    {"/proc/kallsyms", "functions of the kernel; without CAP_SYSLOG, or where kernel.kptr_restrict is 2, it "
     "shows no addresses, and kernel frames have no names"},
    {"/sys/kernel/tracing", "tracefs, by which tracepoints are found; where it is not mounted it is mounted "
     "for this process alone"},
    {"/sys/kernel/btf/vmlinux", "the kernel's types, for waits and commands where tracefs is closed"},
    {0},
};

/* What all applets that trace share. */
static const struct manual_section tracing_sections[] = {
    {"Signals", signals},
    {"Exit status", exit_status},
    {"Commands", commands},
    {"Files", files},
    {0},
};

static const struct manual_row filter_status[] = {
    {"0", "it is done"},
    {"1", "it could not be done, or there was nothing in what was read; which was said on stderr"},
    {"2", "the command line is wrong"},
    {0},
};

static const struct manual_section filter_sections[] = {
    {"Exit status", filter_status},
    {0},
};

/* ---- Help ---- */

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

/* "-t, -L, --tid": a name and its help are what a row that is listed has. */
static void option_names(const struct option *option, const struct option *const *tables,
                         struct text *names)
{
    if (option->letter)
        text_format(names, "-%c, ", option->letter);
    for (; *tables; tables++)
        for (const struct option *row = *tables; row->parse; row++)
            if (row->parse == option_letter && !strcmp(row->name, option->name))
                text_format(names, "-%c, ", row->letter);
    text_format(names, "--%s", option->name);
}

/* An applet's own row stands before the one that all have, and in its stead. */
static bool is_listed(const struct option *option, const struct option *const *tables)
{
    if (!option->help || !option->name)
        return option->help;
    for (; *tables; tables++)
        for (const struct option *row = *tables; row->parse; row++)
            if (row->name && row->parse != option_letter && !strcmp(row->name, option->name))
                return row == option;
    return false;
}

static void print_options(FILE *out, const struct option *const *tables)
{
    struct text term = {0};

    for (const struct option *const *table = tables; *table; table++)
        for (const struct option *row = *table; row->parse; row++) {
            if (!is_listed(row, tables))
                continue;
            if (row->parse == option_heading) {
                fprintf(out, "\n%s:\n", row->help);
                continue;
            }
            text_clear(&term);
            option_names(row, tables, &term);
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

void manual_list(FILE *out)
{
    for (const struct applet *const *applet = applets; *applet; applet++)
        fprintf(out, "%-14s %s\n", (*applet)->name, (*applet)->summary);
}

static const struct manual_row main_usage[] = {
    {"stackbox", "list the applets"},
    {"stackbox APPLET ...", "run an applet; so does a link to stackbox that has the applet's name"},
    {"stackbox help APPLET", "its help, as APPLET -h prints it; APPLET --man is its man page"},
    {0},
};

static const struct manual_row main_examples[] = {
    {"stackbox check", "what works on this machine with these rights, and what to do about the rest"},
    {"stackbox profile 5", "what this machine does, for five seconds"},
    {"stackbox --install /usr/local/bin", "links: then profile 5 is enough"},
    {"stackbox stackcount --man | man -l -", "the man page of an applet, where nobody installed it"},
    {0},
};

static const struct manual_row main_notes[] = {
    {NULL, "It takes Linux 5.10 or newer, and root, or CAP_BPF and CAP_PERFMON with less: stackbox check "
     "says what is missing, and so does each applet that is refused something. Nothing of it stays in the "
     "kernel when it ends."},
    {NULL, "Names of programs and functions are text: control characters, escapes of terminals, and what "
     "is not valid UTF-8 stand as \\xNN."},
    {0},
};

static const char main_synopsis[] = "APPLET [options] [arguments]";

static const char main_about[] =
    "Stack-tracing applets for Linux in one static binary, which needs nothing where it runs: no "
    "compiler, no kernel headers, no BTF, no interpreter, no library. It assembles its own BPF "
    "programs and reads the symbols of the kernel itself.";

void manual_main_help(FILE *out, const struct option *const *options)
{
    fprintf(out, "Usage: stackbox %s\n\n", main_synopsis);
    print_wrapped(out, main_about, 0, 0);
    print_section(out, &(struct manual_section){"Ways to call it", main_usage});
    fprintf(out, "\nApplets:\n");
    for (const struct applet *const *applet = applets; *applet; applet++)
        print_row(out, (*applet)->name, (*applet)->summary);
    fprintf(out, "\nOptions:\n");
    print_options(out, options);
    print_examples(out, main_examples);
}

/* ---- Man pages ---- */

/* Text as roff takes it: what it would take as a request, or print as another character. */
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

static void roff_section(FILE *out, const struct manual_section *section)
{
    roff_heading(out, section->title);
    for (const struct manual_row *row = section->rows; row->text; row++) {
        if (row->term) {
            roff_row(out, row->term, row->text);
        } else {
            if (row != section->rows)
                fputs(".PP\n", out);
            print_roff(out, row->text);
            fputc('\n', out);
        }
    }
}

static void roff_option(FILE *out, const struct option *option, const struct option *const *tables)
{
    struct text names = {0};

    option_names(option, tables, &names);
    fputs(".TP\n\\fB", out);
    print_roff(out, names.failed ? "" : names.data);
    fputs("\\fR", out);
    if (option->argument) {
        fputs(" \\fI", out);
        print_roff(out, option->argument);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    print_roff(out, option->help);
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
            } else if (is_listed(row, tables)) {
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

/* The pages of all others. */
static void roff_others(FILE *out, const char *name)
{
    fprintf(out, ".SH SEE ALSO\n");
    if (strcmp(name, "stackbox"))
        fputs(".BR stackbox (1),\n", out);
    for (const struct applet *const *applet = applets; *applet; applet++)
        if (strcmp((*applet)->name, name))
            fprintf(out, ".BR %s (1),\n", (*applet)->name);
    fputs(".BR perf (1),\n.BR addr2line (1),\n.BR capabilities (7)\n", out);
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

void manual_man(FILE *out, const struct applet *applet)
{
    const struct manual_section *shared = applet->filter ? filter_sections : tracing_sections;

    roff_head(out, applet->name, applet->summary, applet->usage, applet->about);
    for (const struct manual_section *own = applet->sections; own->title; own++)
        if (!find_section(shared, own->title))
            roff_section(out, own);
    roff_options(out, applet->options);
    for (; shared->title; shared++) {
        const struct manual_section *own = find_section(applet->sections, shared->title);
        roff_section(out, own ? own : shared);
    }
    roff_section(out, &(struct manual_section){"Notes", applet->notes});
    roff_section(out, &(struct manual_section){"Examples", applet->examples});
    roff_others(out, applet->name);
}

void manual_main_man(FILE *out, const struct option *const *options)
{
    roff_head(out, "stackbox", "stack-tracing applets in one static binary", main_synopsis,
              main_about);
    roff_section(out, &(struct manual_section){"Ways to call it", main_usage});
    roff_heading(out, "Applets");
    for (const struct applet *const *applet = applets; *applet; applet++)
        roff_row(out, (*applet)->name, (*applet)->summary);
    roff_options(out, options);
    roff_section(out, &(struct manual_section){"Exit status", exit_status});
    roff_section(out, &(struct manual_section){"Notes", main_notes});
    roff_section(out, &(struct manual_section){"Examples", main_examples});
    roff_others(out, "stackbox");
}
