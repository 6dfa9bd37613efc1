/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * loads [-n N] [-c] [-s] [-N COMM] [-w] [-k] LIBRARY...
 *
 * After the word: loads one LIBRARY after the other and makes N calls in it (see library.c), and
 * with -c closes it before it loads the next, with -s waits for the word before that. Prints `loaded
 * LIBRARY ADDRESS-OF-ITS-FUNCTION` for each and `done CALLS=`.
 */
#include <dlfcn.h>
#include <unistd.h>

#include "../word.h"

int main(int argc, char **argv)
{
    unsigned long wanted = 1000;
    int option, closes = 0, steps = 0;
    uint64_t made = 0;

    while ((option = next_option(argc, argv, "n:cs")) != -1) {
        switch (option) {
        case 'n': wanted = number_of(optarg); break;
        case 'c': closes = 1; break;
        case 's': steps = 1; break;
        default: return 2;
        }
    }
    begin(asked.comm);
    wait_if_asked();
    for (; optind < argc; optind++) {
        uint64_t (*call_inside)(uint64_t);
        void *library = dlopen(argv[optind], RTLD_NOW), *function;

        function = library ? dlsym(library, "call_inside") : NULL;
        if (!function) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        memcpy(&call_inside, &function, sizeof(call_inside));
        made += call_inside(wanted);
        printf("loaded %s %p\n", argv[optind], function);
        if (closes)
            dlclose(library);
        if (steps && optind + 1 < argc)
            wait_for_word();
    }
    say_done(made);
    return 0;
}
