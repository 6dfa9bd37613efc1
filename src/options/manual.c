/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts for man pages only: a separate file, so that builds without man pages do not have them. */
#include "options/applet.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

const struct manual_row manual_exit_status[] = {
    {"0", "success, even if there were no events"},
    {"1", "failure; stderr says what to do about it"},
    {"2", "invalid command line"},
    {0},
};

static const struct manual_row signals[] = {
    {"SIGINT, SIGTERM, SIGHUP", "stop tracing and print the report. Another one a second "
     "later or more exits at once, unless the same process sends the same signal again. A signal "
     "ignored at startup (nohup) stays ignored"},
    {"SIGUSR1", "print a report now and go on tracing; each event is in exactly one report; if "
     "the FILE of -o has neither %n nor %t, the number goes before its extension: out.00001.svg"},
    {"Enter", "stops tracing if there is no controlling terminal for Ctrl-C, as in an "
     "initramfs; the first line says so"},
    {0},
};

static const struct manual_row commands[] = {
    {NULL, "-- COMMAND runs a command and traces it and all its descendants, from its first "
     "instruction until it exits. Nothing else is counted, nor is the search for the command in "
     "PATH."},
    {NULL, "If the report goes to stdout, the command's stdout is redirected to stderr; its stdin "
     "is unchanged. -D stops tracing, not the command. A signal that stops tracing is passed on "
     "to the command, unless the terminal sent it to both."},
    {NULL, "The command runs as the user who starts stackbox; to run it as another, use su or -- "
     "setpriv --reuid=USER --clear-groups COMMAND."},
    {NULL, "The exit status is the command's own, or:"},
    {"128+N", "the command was killed by signal N"},
    {"125", "tracing failed (the command is not run, unless it had started or --best-effort was "
     "given), or a report could not be written"},
    {"126", "the command could not be executed"},
    {"127", "command not found"},
    {0},
};

static const struct manual_row files[] = {
    {"/usr/lib/debug", "debug files of stripped programs: .build-id/NN/REST.debug by build id, "
     "else by the name in .gnu_debuglink; searched below --symfs DIR, in the traced process's "
     "root, then in ours"},
    {"/tmp/perf-PID.map", "names of JIT-compiled functions; used only if the file belongs to the "
     "process's user or to root"},
    {"/proc/kallsyms", "names of kernel functions; without CAP_SYSLOG, or with "
     "kernel.kptr_restrict=2, it hides addresses, and kernel frames have no names"},
    {"/sys/kernel/tracing", "tracefs, used to find tracepoints; if it is not mounted, stackbox "
     "mounts it for itself alone"},
    {"/sys/kernel/btf/vmlinux", "the kernel's types, used for waits and commands when tracefs is "
                                "not accessible"},
    {0},
};

static const struct manual_row manual_output[] = {
    {"NAME (PID)", "a process, below its stack (after - in some applets), above its count; "
     "NAME (PID/TID) is a thread other than the first; (host PID), or [host PID] in events, is "
     "one outside this container, as the host numbers it; [outside] is any of those, where the "
     "kernel has no number for it"},
    {"file+0xADDR", "code without a symbol: ADDR, for addr2line -e, is where its function begins; "
                    "if that is not known, its own address, or [file] in formats other than text"},
    {"[anon], [heap], [vdso]", "code not mapped from a file, named as in /proc/PID/maps; [anon] is "
                               "often JIT-compiled code without /tmp/perf-PID.map"},
    {"[unknown]", "nothing is mapped at this address; [unknown] (7 frames) is seven in a row, "
                  "which -v lists"},
    {"[truncated]", "the stack goes on, but could not be unwound further; stderr says why"},
    {"[exec]", "within exec, where the program before has no stack any more, and the next one "
               "none yet"},
    {"[no stack], [no user stack], [no kernel stack]", "the event had none, or it is not known"},
    {"[stack storage full], [table full]",
     "there was no room for these events: raise --stack-storage-size"},
    {"--", "with -d, between kernel and user stack; - in folded output"},
    {"_[k]", "with -a, follows the names of kernel functions"},
    {"seen, counted, filtered out, lost",
     "--debug ends with an account of events: seen is the sum of the "
     "others; those missed by the kernel are not among them"},
    {"us, bytes", "times are in microseconds, sums in their unit, everything else is a count of "
                  "events"},
    {0},
};

/* Sections that all tracing applets share. */
const struct manual_section manual_tracing[] = {
    {"Signals", signals},
    {"Exit status", manual_exit_status},
    {"Commands", commands},
    {"Files", files},
    {0},
};

static const struct manual_row filter_status[] = {
    {"0", "success"},
    {"1", "failure, or nothing in the input; stderr says which"},
    {"2", "invalid command line"},
    {"3", "flamegraph --fail-above: a share grew by more"},
    {0},
};

static const struct manual_section manual_filter[] = {
    {"Exit status", filter_status},
    {0},
};

static const struct manual_row manual_main_notes[] = {
    {NULL, "Requires Linux 4.4 or later and root; with just CAP_BPF and CAP_PERFMON, or on kernels "
     "before 5.10, some things are missing: stackbox check says which, and so do the applets. "
     "Nothing stays in the kernel when it exits."},
    {NULL, "In names of programs and functions, control characters, terminal escapes and invalid "
     "UTF-8 are printed as \\xNN."},
    {0},
};

const struct manual_row manual_main_usage[] = {
    {"stackbox", "list the applets"},
    {"stackbox APPLET ...", "run an applet; so does a link named after it"},
    {"stackbox help APPLET", "the same as APPLET --help; APPLET --man prints its man page"},
    {0},
};

const struct manual_row manual_main_examples[] = {
    {"stackbox check", "what works here with your privileges, and how to fix the rest"},
    {"stackbox profile 5", "sample all CPUs for five seconds"},
    {"stackbox --install /usr/local/bin", "create links: then profile 5 is enough"},
    {"stackbox stackcount --man | man -l -", "read a man page without installing it"},
    {0},
};

const char manual_main_synopsis[] = "APPLET [options] [arguments]";

static const char manual_main_about[] =
    "Stack-tracing applets for Linux in one static binary that needs nothing else: no compiler, "
    "kernel headers, BTF, interpreter or libraries.";

/* "-t, -L, --tid": a row that is listed has a name and a help text. */
static void manual_option_names(const struct option *option, const struct option *const *tables,
                                struct text *names)
{
    if (option->letter)
        text_format(names, "-%c, ", option->letter);
    EACH_OPTION(row, tables)
        if (row->letter && row->parse == option_mark && !strcmp(row->name, option->name))
            text_format(names, "-%c, ", row->letter);
    text_format(names, "--%s", option->name);
}

/* An applet's own row comes before the common one and replaces it. */
static bool manual_lists(const struct option *option, const struct option *const *tables)
{
    if (!option->help || !option->name)
        return option->help;
    EACH_OPTION(row, tables)
        if (row->name && row->parse != option_mark && !strcmp(row->name, option->name))
            return row == option;
    return false;
}

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

static void print_option(FILE *out, const struct option *row, const struct option *const *tables,
                         bool brief)
{
    struct text term = {0}, what = {0};

    manual_option_names(row, tables, &term);
    if (row->argument)
        text_format(&term, " %s", row->argument);
    text_add(&what, row->help);
    if (row->details && !brief)
        text_add(&what, row->details);
    if (!term.failed && !what.failed)
        print_row(out, term.data, what.data);
    text_free(&term);
    text_free(&what);
}

static void print_options(FILE *out, const struct option *const *tables, bool brief)
{
    EACH_OPTION(row, tables) {
        if (!manual_lists(row, tables) || (brief && !row->details))
            continue;
        if (row->parse == option_mark)
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
        print_rows(out, section, -1);
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
    print_rows(out, &(struct manual_section){"Invocation", manual_main_usage}, -1);
    fprintf(out, "\nApplets:\n");
    for (const struct applet *const *applet = all; *applet; applet++)
        print_row(out, (*applet)->name, (*applet)->summary);
    fprintf(out, "\nOptions:\n");
    print_options(out, options, false);
    print_examples(out, manual_main_examples);
}

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

/* A line that is `before`, which is roff already, and the text. */
static void roff_line(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    print_roff(out, text);
    fputc('\n', out);
}

static void roff_row(FILE *out, const char *term, const char *text)
{
    roff_line(out, ".TP\n.B ", term);
    roff_line(out, "", text);
}

static void print_capitals(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), out);
}

static void roff_heading(FILE *out, const char *title)
{
    fputs(".SH ", out);
    print_capitals(out, title);
    fputc('\n', out);
}

static void roff_rows(FILE *out, const struct manual_row *rows)
{
    for (const struct manual_row *row = rows; row->text; row++)
        if (row->term)
            roff_row(out, row->term, row->text);
        else
            roff_line(out, row != rows ? ".PP\n" : "", row->text);
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
    print_roff(out, option->help);
    roff_line(out, "", option->details ? option->details : "");
    text_free(&names);
}

static void roff_options(FILE *out, const struct option *const *tables)
{
    roff_heading(out, "Options");
    EACH_OPTION(row, tables) {
        if (!manual_lists(row, tables))
            continue;
        if (row->parse == option_mark)
            roff_line(out, ".SS ", row->help);
        else
            roff_option(out, row, tables);
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
    roff_line(out, "", usage);
    roff_line(out, ".SH DESCRIPTION\n", about);
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
