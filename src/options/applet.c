/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "options/applet.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/say.h"
#include "base/text.h"

const struct option common_options[] = {
    {'h', NULL, NULL, option_ask, 0, ASKED_BRIEF, 0, NULL},
    {0, "help", NULL, option_ask, 0, ASKED_HELP, 0, "print this help; -h is a short one"},
    {0, "man", NULL, option_ask, 0, ASKED_MAN, 0, "print the man page, for man -l - or a file"},
    {0},
};

int applet_refuse(int result, struct text *error, bool has_command)
{
    bool is_usage = result != -ENOMEM && !error->failed;

    say("%s", is_usage && error->data ? error->data : "out of memory");
    text_free(error);
    return is_usage ? EXIT_USAGE : has_command ? EXIT_TRACER : EXIT_FAILURE;
}

int applet_see_help(int result, struct text *error)
{
    if (result && error->length)
        text_format(error, " (see %s -h)", say_as);
    return result;
}

/* The absolute path of the running binary, which may no longer be there. 0 or -1, errno set. */
static int find_self(const char *called, char self[PATH_MAX], struct stat *status)
{
    ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);

    if (length >= 0)
        self[length] = '\0';
    else if (!strchr(called, '/') || !realpath(called, self)) /* without /proc */
        return -1;
    return stat(self, status);
}

/* A link's text, for `directory`, that leads to `self`. */
static const char *link_target(const struct stat *directory, const char *self)
{
    const char *name = strrchr(self, '/') + 1;
    char parent[PATH_MAX];
    struct stat status;

    memcpy(parent, self, (size_t)(name - self));
    parent[name - self] = '\0';
    return !stat(parent, &status) && same_file(&status, directory) ? name : self;
}

/* 0, the exit status, or -1 if the other links could not be made, either. Errors are printed. */
static int make_link(const char *target, const char *path, const struct stat *self)
{
    struct stat there;

    if (!symlink(target, path))
        return 0;
    if (errno != EEXIST) {
        say("cannot create %s: %s", path, strerror(errno));
        return -1;
    }
    if (!stat(path, &there) && same_file(&there, self))
        return 0;
    return fail_saying("%s exists, is not stackbox, and was left alone", path);
}

/* 0, or -1 with errno set. */
static int stat_directory(const char *path, struct stat *status)
{
    if (stat(path, status))
        return -1;
    if (S_ISDIR(status->st_mode))
        return 0;
    errno = ENOTDIR;
    return -1;
}

int install_links(const char *directory, const char *called, const struct applet *const *all)
{
    char self[PATH_MAX];
    struct stat self_status, directory_status;
    struct text path = {0};
    int status = 0;

    if (stat_directory(directory, &directory_status))
        return fail_saying("cannot create links in \"%s\": %s", directory, strerror(errno));
    if (find_self(called, self, &self_status))
        return fail_saying("cannot find this binary (/proc is needed): %s", strerror(errno));
    const char *target = link_target(&directory_status, self);
    for (const struct applet *const *applet = all; *applet && status >= 0; applet++) {
        text_clear(&path);
        text_format(&path, "%s/%s", directory, (*applet)->name);
        int made = path.failed ? EXIT_FAILURE : make_link(target, path.data, &self_status);
        status = made < 0 ? made : status | made;
    }
    text_free(&path);
    return status ? EXIT_FAILURE : 0;
}
