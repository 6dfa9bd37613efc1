/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * exchange [-n N] FILE OTHER
 *
 * What the owner of a file can do while others look at it. Waits until it was closed N times after
 * being read, then exchanges the names of the two files. `ready` before it waits, `exchanged`
 * afterwards.
 *
 *   -n N   1
 */
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#include "word.h"

#define EXCHANGE 2 /* RENAME_EXCHANGE of linux/fs.h */

static void say(const char *word)
{
    printf("%s\n", word);
    fflush(stdout);
}

static unsigned wait_for_closes(int watch)
{
    char events[4096] __attribute__((aligned(8)));
    unsigned closes = 0;
    ssize_t got = read(watch, events, sizeof(events));

    for (ssize_t at = 0; at < got; closes++)
        at += (ssize_t)(sizeof(struct inotify_event) +
                        ((struct inotify_event *)(void *)(events + at))->len);
    return closes;
}

int main(int argc, char **argv)
{
    long closes = 1;
    int option, watch;

    while ((option = getopt(argc, argv, "n:")) != -1)
        if (option == 'n')
            closes = atol(optarg);
        else
            return 2;
    if (argc - optind != 2)
        return 2;
    watch = inotify_init1(IN_CLOEXEC);
    if (watch < 0 || inotify_add_watch(watch, argv[optind], IN_CLOSE_NOWRITE) < 0)
        die(argv[optind]);
    say("ready");
    while (closes > 0)
        closes -= wait_for_closes(watch);
    if (syscall(SYS_renameat2, AT_FDCWD, argv[optind], AT_FDCWD, argv[optind + 1], EXCHANGE))
        die(argv[optind + 1]);
    say("exchanged");
    return 0;
}
