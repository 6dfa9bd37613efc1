/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * many [-n TIMES] [-N COMM] [-w] [-k]
 * many -A                 prints the address of many_000, and that is all
 *
 * Has a thousand functions, many_000 to many_999, and calls each TIMES times (1). Prints `done
 * CALLS=`.
 */
#include <unistd.h>

#include "word.h"

#define TEN(of, prefix) of(prefix##0) of(prefix##1) of(prefix##2) of(prefix##3) of(prefix##4) \
                        of(prefix##5) of(prefix##6) of(prefix##7) of(prefix##8) of(prefix##9)
#define HUNDRED(of, prefix) \
    TEN(of, prefix##0) TEN(of, prefix##1) TEN(of, prefix##2) TEN(of, prefix##3) TEN(of, prefix##4) \
    TEN(of, prefix##5) TEN(of, prefix##6) TEN(of, prefix##7) TEN(of, prefix##8) TEN(of, prefix##9)
#define THOUSAND(of) \
    HUNDRED(of, many_0) HUNDRED(of, many_1) HUNDRED(of, many_2) HUNDRED(of, many_3) \
    HUNDRED(of, many_4) HUNDRED(of, many_5) HUNDRED(of, many_6) HUNDRED(of, many_7) \
    HUNDRED(of, many_8) HUNDRED(of, many_9)

static uint64_t made;

#define DEFINE(name) \
    void name(void); \
    APART void name(void) \
    { \
        FRAME; \
        made++; \
        NO_TAIL_CALL; \
    }
THOUSAND(DEFINE)

#define POINT(name) name,
static void (*const functions[])(void) = { THOUSAND(POINT) };

int main(int argc, char **argv)
{
    unsigned long times = 1;
    int option;

    while ((option = next_option(argc, argv, "n:A")) != -1) {
        switch (option) {
        case 'n': times = number_of(optarg); break;
        case 'A': printf("at many_000 %lu\n", (unsigned long)(uintptr_t)functions[0]); return 0;
        default: return 2;
        }
    }
    begin(asked.comm);
    wait_if_asked();
    for (unsigned long i = 0; i < times; i++) {
        for (size_t j = 0; j < sizeof(functions) / sizeof(*functions); j++)
            functions[j]();
    }
    say_done(made);
    return 0;
}
