/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * places [-r] [-p PID] PATTERN...: what would be traced, one pattern per line, followed, for places
 * in files, by the numbers that the kernel gets:
 *
 *     /usr/lib/x86_64-linux-gnu/libc.so.6:malloc
 *     /usr/lib/x86_64-linux-gnu/libc.so.6 malloc address 0x98860 offset 0x98860 semaphore 0x0 start 2
 *
 * places -l NAME...: which file each name means, "libc.so.6 /usr/lib/x86_64-linux-gnu/libc.so.6".
 *
 * Exit: 1, with the message on stderr, if there are none.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "find/find.h"
#include "find/library.h"

static void show(const struct place *place)
{
    if (place->file)
        printf("%s %s address 0x%llx offset 0x%llx semaphore 0x%llx start %d%s\n", place->file,
               place_own_name(place), (unsigned long long)place->address,
               (unsigned long long)place->file_offset, (unsigned long long)place->semaphore,
               place->start, place->at_return ? " return" : "");
}

/* If one file is not found, the others are still listed. */
static int tell_libraries(char *const *names)
{
    static const struct library_where ours = {.root = ""};
    struct library library;
    struct text error = {0};
    int result = 0;

    for (; *names; names++) {
        text_clear(&error);
        if (!library_find(&ours, *names, &library, &error)) {
            printf("%s %s\n", *names, library.path.data);
            library_close(&library);
        } else {
            fprintf(stderr, "places: %s\n", error.data ? error.data : "");
            result = 1;
        }
    }
    text_free(&error);
    return result;
}

int main(int argc, char **argv)
{
    struct find find = {.tracefs = -1, .kallsyms = -1};
    struct text error = {0}, lines = {0};
    bool is_regex = false;
    int option;

    while ((option = getopt(argc, argv, "lrp:")) > 0) {
        if (option == 'l')
            return tell_libraries(argv + optind);
        if (option == 'p')
            find.pid = (uint32_t)strtoul(optarg, NULL, 10);
        is_regex = is_regex || option == 'r';
    }
    find.kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    int result = find_parse(&find, argv + optind, (size_t)(argc - optind), is_regex, &error);
    if (!result)
        result = find_places(&find, &error);
    if (!result)
        result = list_places(&find.places, NULL, &lines);
    if (result) {
        fprintf(stderr, "places: %s\n", error.data ? error.data : strerror(-result));
    } else {
        fputs(lines.data ? lines.data : "", stdout);
        for (size_t i = 0; i < find.places.count; i++)
            show(&find.places.items[i]);
    }
    text_free(&error);
    text_free(&lines);
    if (find.kallsyms >= 0)
        close(find.kallsyms);
    find_close(&find);
    return result ? 1 : 0;
}
