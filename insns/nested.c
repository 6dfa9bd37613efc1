/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * nested(context):
 *     if (current->utask->depth < MAX_URETPROBE_DEPTH)
 *         return 0
 *     account = the current bank's                        r9: see fragments.c
 *     if (there is none || the event was not asked for)
 *         return 0
 *     account.nested += 1
 *     return 0
 *
 * The kernel runs the programs at a function's entry, and then decides by the same depth whether to
 * trace the return.
 *
 * r6 = context, r7 = pid << 32 | tid, r9 = account.
 */
#include "insns/programs.h"

#include "insns/fragments.h"

/* Places on the stack, from r10. */
enum {
    INDEX = -4,
    FOREIGN = -8,
    SCRATCH = -16,
    COMM = -32,
};

enum { MAX_URETPROBE_DEPTH = 64 };

void emit_nested(struct program *program, const struct capture *capture)
{
    name_maps(program, capture);
    EMIT(program, MOV_REG(R6, R1));
    emit_load_nesting(program, &capture->nesting, SCRATCH, "filtered");
    EMIT(program, JLT_IMM(R0, MAX_URETPROBE_DEPTH, "filtered"));
    emit_load_account(program, capture, INDEX, "filtered");
    emit_event_filter(program, &capture->filter,
                      &(struct filter_places){FOREIGN, SCRATCH, NULL, COMM}, false);
    EMIT(program, ACCOUNT(nested));
    emit_return(program, "filtered", 0);
}
