/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* check: what this kernel and these rights allow, and which applets can run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "applets/applets.h"
#include "base/suggest.h"
#include "base/say.h"
#include "base/text.h"
#include "checks/checks.h"
#include "options/applet.h"


static struct settings {
    const char *format;
} settings;

#define AT(member) offsetof(struct settings, member)

static const struct option own_options[] = {
    OPTION_HEADING("Options"),
    {0, "format", "FORMAT", option_string, AT(format), 0, 0,
     "text or json", " (default: text)"},
    {0},
};

static const struct option *const options[] = {own_options, common_options, NULL};

static const struct manual_row lines[] = {
    {NULL, "One line per check, then one per applet:"},
    {"NAME: yes", "it works; details may follow"},
    {"NAME: no: WHY: WHAT TO DO", "what an applet that needs it would say"},
    {"APPLET: yes: without A (B)", "it runs, but without A, because of check B above"},
    {"APPLET: yes: by perf's rings", "it runs, collecting by perf's ring buffers, not BPF: see "
                                     "--collect"},
    {"APPLET: yes: by ptrace", "it runs, stopping the threads of -p or -- COMMAND: likewise"},
    {NULL, "check creates maps, programs and probes just as applets do, and removes them; it "
     "never judges by the kernel's version. At \"unwind tables\" it counts the functions of the C "
     "library that the shell runs with."},
    {0},
};

static const struct manual_row status[] = {
    {"0", "all named applets (default: all) can run, perhaps without some features"},
    {"1", "some cannot run"},
    {"2", "invalid command line"},
    {0},
};

static const struct manual_section sections[] = {{"Output", lines}, {"Exit status", status}, {0}};

static const struct manual_row examples[] = {
    {"check", "what works here, and how to fix the rest"},
    {"check profile", "can profile run? see also the exit status"},
    {"check stackcount stacksnoop", "what these two would lack"},
    {"check --format json offcputime", "for programs"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "In JSON, \"checks\" and \"applets\" are lists. A check's \"key\" never changes. What "
     "does not work has \"why\" and \"what_to_do\"; \"without\" lists what an applet lacks, with "
     "the check's key; \"by\" is bpf, rings or ptrace."},
    {0},
};

static void refuse_name(const char *name, struct text *error)
{
    struct suggestions suggestions = {.wanted = name};

    for (const struct applet *const *applet = applets; *applet; applet++)
        suggest(&suggestions, (*applet)->name);
    text_format(error, "there is no applet \"%s\"", name);
    suggestions_add(&suggestions, error);
    suggestions_free(&suggestions);
}

/* 0, or -EINVAL with one line in `error`. */
static int check_usage(const struct arguments *arguments, bool *as_json, struct text *error)
{
    unsigned format;

    (void)take_word("--format: ", "text, json", settings.format, &format, error);
    *as_json = format == 2;
    if (!error->length && arguments->command)
        text_add(error, "--: no command is run");
    for (size_t i = 0; i < arguments->count && !error->length; i++)
        if (!applet_find(arguments->words[i]))
            refuse_name(arguments->words[i], error);
    return applet_see_help(text_refusal(error), error);
}

/* The named ones, or all but this one. Returns their number, or -ENOMEM. */
static int list_applets(const struct arguments *arguments, struct judged **judged)
{
    size_t count = 0, room = arguments->count;

    for (const struct applet *const *applet = applets; *applet; applet++)
        room++;
    *judged = calloc(room, sizeof(**judged));
    if (!*judged)
        return -ENOMEM;
    for (size_t i = 0; i < arguments->count; i++)
        (*judged)[count++].applet = arguments->words[i];
    for (const struct applet *const *applet = applets; *applet && !arguments->count; applet++)
        if (*applet != &check_applet)
            (*judged)[count++].applet = (*applet)->name;
    return (int)count;
}

/* Can all of them run? False, too, if that cannot be written. */
static bool judge(const struct checks *checks, const struct arguments *arguments, bool as_json)
{
    struct judged *judged;
    int count = list_applets(arguments, &judged), result = count < 0 ? count : 0;
    bool all = true;

    for (int i = 0; i < count; i++) {
        checks_judge(checks, judged[i].applet, &judged[i].verdict);
        all = all && judged[i].verdict.yes;
    }
    if (!result)
        result = as_json ? checks_print_json(stdout, checks, judged, (size_t)count)
                         : checks_print_text(stdout, checks, judged, (size_t)count);
    free(judged);
    if (!result)
        result = output_flush(stdout);
    return !output_end("write", result) && all;
}

static int run(const struct arguments *arguments)
{
    struct text error = {0};
    struct checks checks;
    bool as_json;
    int result = check_usage(arguments, &as_json, &error);

    if (result)
        return applet_refuse(result, &error, false);
    checks_look(&checks);
    const bool all = judge(&checks, arguments, as_json);
    checks_free(&checks);
    return all ? 0 : EXIT_FAILURE;
}

const struct applet check_applet = {
    .name = "check",
    .summary = "tell what works on this kernel with your privileges",
    .usage = "[--format FORMAT] [APPLET...]",
    .about = "Tries everything applets need from this kernel, with the privileges it is run with, "
             "and tells what works, what does not and why, and what to do about it; then whether "
             "each APPLET (default: all) can run.",
    .sections = sections,
    .examples = examples,
    .notes = notes,
    .no_stacks = true,
    .options = options,
    .settings = &settings,
    .filter = true,
    .run = run,
};
