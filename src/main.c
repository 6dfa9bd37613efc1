/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Picks an applet, by the name it was called by or by the first word, and runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "applets/applets.h"
#include "base/say.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/limits.h"
#include "options/applet.h"
#include "options/options.h"
#include "sandbox/sandbox.h"

static struct {
    bool version;
    const char *directory;
} settings;

#define AT(member) offsetof(__typeof__(settings), member)

static const struct option own_options[] = {
    {0, "install", "DIR", option_string, AT(directory), 0, 0,
     "create a link for each applet in DIR; existing files are kept"},
    {0, "version", NULL, option_flag, AT(version), 0, 0, "print the version"},
    {0},
};

static const struct option *const main_options[] = {own_options, common_options, NULL};

/*
 * A map or probe must not get the number of a closed standard stream: fills it with a descriptor
 * that can do nothing. Writes to it fail, as on a closed one, and a command finds it closed.
 */
static void hold_standard_streams(void)
{
    int fd;

    do
        fd = open("/", O_PATH | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    close_fd(fd);
}

/*
 * stdio writes a report once it is complete, in one piece if it fits in here: if we are killed
 * before, no part of it is written. Only the used part of this takes memory.
 */
static char output[1 << 20];

/* The applet that a link is named after, possibly with a prefix: profile, stackbox-profile. */
static const struct applet *find_linked(const char *link)
{
    const char *dash = strrchr(link, '-');
    const struct applet *applet = applet_find(link);

    return applet || !dash ? applet : applet_find(dash + 1);
}

static int finish_output(void)
{
    return output_end("write", output_flush(stdout));
}

/* Reports what options_parse() refused, perhaps before it reached the command. */
static int refuse_usage(int result, char **argv, struct text *error)
{
    bool has_command = false;

    for (char **word = argv; *word && !has_command; word++)
        has_command = !strcmp(*word, "--");
    return applet_refuse(applet_see_help(result, error), error, has_command);
}

static int run_applet(const struct applet *applet, int argc, char **argv)
{
    struct arguments arguments;
    struct text error = {0};

    say_as = applet->name;
    if (applet->begin)
        applet->begin(applet->settings);
    int result = options_parse(applet->options, argc, argv, applet->settings, &arguments, &error);
    if (result < 0)
        return refuse_usage(result, argv, &error);
    if (result == ASKED_BRIEF)
        manual_brief(stdout, applet);
    if (result == ASKED_HELP)
        manual_help(stdout, applet);
    if (result == ASKED_MAN)
        manual_man(stdout, applet, applets);
    if (result)
        return finish_output();
    if (applet->filter) {
        /* Writing reports errors, and a reader that left is none. */
        (void)signal(SIGPIPE, SIG_IGN);
        (void)signal(SIGXFSZ, SIG_IGN);
    }
    int status = applet->run(&arguments);
    free(arguments.words);
    return status;
}

/* "; near: stackcount" */
static int refuse_applet(const char *name)
{
    struct suggestions near = {.wanted = name};
    struct text names = {0};

    for (const struct applet *const *applet = applets; *applet; applet++)
        suggest(&near, (*applet)->name);
    if (answer_to_applet(name))
        text_format(&names, "; %s", answer_to_applet(name));
    else
        suggestions_add(&near, &names);
    say("there is no applet \"%s\"%s (stackbox alone lists them)", name,
        text_string(&names));
    suggestions_free(&near);
    text_free(&names);
    return EXIT_USAGE;
}

/* "stackbox help [APPLET]" */
static int run_help(const char *name)
{
    const struct applet *applet = name ? applet_find(name) : NULL;

    if (name && !applet)
        return refuse_applet(name);
    if (applet)
        manual_help(stdout, applet);
    else
        manual_main_help(stdout, main_options, applets);
    return finish_output();
}

/* stackbox's own options, if the first word is one. */
static int run_options(int argc, char **argv)
{
    struct arguments arguments;
    struct text error = {0};
    int result = options_parse(main_options, argc, argv, &settings, &arguments, &error);

    if (result < 0)
        return refuse_usage(result, argv, &error);
    if (result == ASKED_BRIEF || result == ASKED_HELP)
        manual_main_help(stdout, main_options, applets);
    if (result == ASKED_MAN)
        manual_main_man(stdout, main_options, applets);
    if (result)
        return finish_output();
    const char *more = arguments.count ? arguments.words[0] : arguments.command ? "--" : NULL;
    free(arguments.words);
    if (more) {
        say("unexpected argument \"%s\": an applet comes first (see stackbox -h)", more);
        return EXIT_USAGE;
    }
    if (settings.directory)
        return install_links(settings.directory, argv[0], applets);
    if (settings.version)
        fputs("stackbox " STACKBOX_VERSION "\n", stdout);
    return finish_output();
}

static int run_main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    const struct applet *applet = word ? applet_find(word) : NULL;

    if (applet)
        return run_applet(applet, argc - 1, argv + 1);
    if (!word) {
        manual_list(stdout, applets);
        return finish_output();
    }
    if (word[0] == '-')
        return run_options(argc, argv);
    return strcmp(word, "help") ? refuse_applet(word) : run_help(argv[2]);
}

/*
 * If we are a machine's init, the kernel panics when we end, and its last message is about that: so
 * this tells the user in advance. A container's first process ends like any other.
 */
static void say_last_word(void)
{
    struct stat namespace;

    if (getpid() != 1 || (!stat("/proc/self/ns/pid", &namespace) &&
                          namespace.st_ino != INITIAL_PID_NAMESPACE))
        return;
    (void)fflush(stdout);
    say("this ran as process 1, so the kernel panics when it exits: start it from an init");
    (void)tcdrain(STDERR_FILENO); /* a serial line is slow, and the kernel does not wait for it */
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    (void)now_ns();
    (void)setvbuf(stdout, output, _IOFBF, sizeof(output));
    sandbox_bound(kernel_free_memory);
    const struct applet *applet = argc ? find_linked(base_name(argv[0])) : NULL;
    int status = applet ? run_applet(applet, argc, argv) : run_main(argc, argv);
    say_last_word();
    return status;
}
