/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Picks an applet, by the name that it was called by or by the first word, and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "applet.h"
#include "manual.h"
#include "util.h"

const struct applet *const applets[] = {
    &stackcount_applet,
    NULL,
};

const struct option common_options[] = {
    {'h', 0, "help", NULL, option_help, 0, 0, 0, "this help"},
    {0, 0, "man", NULL, option_man, 0, 0, 0, "the man page, for man -l - or a file"},
    {0},
};

/* No map or probe may ever get the number of an output that was closed. */
static void open_standard_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static const struct applet *find_applet(const char *name)
{
    for (const struct applet *const *applet = applets; *applet; applet++)
        if (!strcmp((*applet)->name, name))
            return *applet;
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* What was printed must have arrived: 0, or 1 after saying why not. A reader that left is no error. */
static int finish_output(int status)
{
    if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
        say("cannot write: %s", strerror(errno));
        return EXIT_FAILURE;
    }
    return status;
}

static int run_applet(const struct applet *applet, int argc, char **argv)
{
    struct arguments arguments;
    struct text error = {0};

    say_as = applet->name;
    int result = options_parse(applet->options, argc, argv, applet->settings, &arguments, &error);
    if (result < 0) {
        say("%s (see %s -h)", error.data ? error.data : strerror(-result), applet->name);
        text_free(&error);
        return EXIT_USAGE;
    }
    if (result == ASKED_HELP)
        manual_help(stdout, applet);
    if (result == ASKED_MAN)
        manual_man(stdout, applet);
    if (result)
        return finish_output(0);
    int status = applet->run(&arguments);
    free(arguments.words);
    return status;
}

/* A link that is there already and leads to us is as good as new; anything else is left alone. */
static int make_link(const char *self, const char *directory, const char *name)
{
    struct text path = {0};
    char there[4096];
    int status = EXIT_FAILURE;

    text_format(&path, "%s/%s", directory, name);
    if (path.failed)
        return status;
    if (!symlink(self, path.data)) {
        status = 0;
    } else if (errno != EEXIST) {
        say("cannot make %s: %s", path.data, strerror(errno));
    } else {
        ssize_t length = readlink(path.data, there, sizeof(there) - 1);
        there[length < 0 ? 0 : length] = '\0';
        if (!strcmp(there, self))
            status = 0;
        else
            say("%s is there already, and is left as it is", path.data);
    }
    text_free(&path);
    return status;
}

static int install(const char *directory)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    int status = 0;

    if (length < 0) {
        say("cannot tell where this binary is (/proc is needed): %s", strerror(errno));
        return EXIT_FAILURE;
    }
    self[length] = '\0';
    for (const struct applet *const *applet = applets; *applet; applet++)
        status |= make_link(self, directory, (*applet)->name);
    return status;
}

static int run_main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;

    if (!word) {
        manual_list(stdout);
        return finish_output(0);
    }
    const struct applet *applet = find_applet(word);
    if (applet)
        return run_applet(applet, argc - 1, argv + 1);
    if (!strcmp(word, "-h") || !strcmp(word, "--help"))
        manual_main_help(stdout);
    else if (!strcmp(word, "--man"))
        manual_main_man(stdout);
    else if (!strcmp(word, "--version"))
        puts("stackbox " STACKBOX_VERSION);
    else if (!strcmp(word, "--install") && argc == 3)
        return install(argv[2]);
    else if (!strcmp(word, "--install")) {
        say("--install: takes a directory");
        return EXIT_USAGE;
    } else {
        say("there is no applet \"%s\"; stackbox alone lists them", word);
        return EXIT_USAGE;
    }
    return finish_output(0);
}

int main(int argc, char **argv)
{
    open_standard_streams();
    const struct applet *applet = argc ? find_applet(base_name(argv[0])) : NULL;
    return applet ? run_applet(applet, argc, argv) : run_main(argc, argv);
}
