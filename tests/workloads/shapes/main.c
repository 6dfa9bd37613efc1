/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* shapes [NAME]: runs that shape; without a name it prints the names of all shapes it was built with. */
#include "shape.h"

#include <stdio.h>
#include <string.h>

volatile struct shape shape;
volatile int shape_zero, shape_one = 1;
void *volatile shape_escape;

static const struct shape_row *const kinds[] = {
    frame_shapes, written_shapes, signal_shapes, thread_shapes, callback_shapes, stepped_shapes,
#ifdef WITH_CXX
    cxx_shapes,
#endif
};

int main(int argc, char **argv)
{
    TELL();
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
        for (const struct shape_row *row = kinds[kind]; row->name; row++)
            if (argc < 2) {
                puts(row->name);
            } else if (!strcmp(row->name, argv[1])) {
                row->run();
                UNTELL();
                return 0;
            }
    UNTELL();
    return argc < 2 ? 0 : 2;
}
