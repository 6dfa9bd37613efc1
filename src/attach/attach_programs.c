/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which program a place gets; and loading it, once for all places that share it, or once for each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach.h"
#include "attach/attach_work.h"
#include "base/util.h"
#include "insns/layout.h"
#include "kernel/bpf.h"
#include "kernel/bpf_abi.h"

enum attach_program attach_program_of(const struct place *place)
{
    static const enum attach_program by_start[] = {
        [START_NONE] = ATTACH_USER,
        [START_PUSH] = ATTACH_PUSH_START,
        [START_MARK] = ATTACH_MARK_START,
        [START_OTHER] = ATTACH_OTHER_START,
        [START_OF_RETURN] = ATTACH_NESTED,
    };

    if (place->kind != PLACE_USER)
        return place->kind == PLACE_TRACEPOINT ? ATTACH_TRACEPOINT
               : place->start == START_LINK    ? ATTACH_KERNEL_START : ATTACH_KERNEL;
    return place->at_return ? ATTACH_USER : by_start[place->start];
}

const struct attach_variant attach_variants[ATTACH_PROGRAMS] = {
    [ATTACH_KERNEL] = {"of the kernel's functions", false, 0},
    [ATTACH_KERNEL_START] = {"of starts of the kernel's functions", false, KEY_KERNEL_START},
    [ATTACH_TRACEPOINT] = {"of tracepoints", false, KEY_TRACEPOINT},
    [ATTACH_USER] = {"of user programs' events", false, KEY_USER_PROBE},
    [ATTACH_PUSH_START] = {"of functions that begin with a push", true, KEY_USER_PROBE},
    [ATTACH_MARK_START] = {"of functions that begin with endbr64", true, KEY_USER_PROBE | KEY_MARK},
    [ATTACH_OTHER_START] = {"of functions that begin otherwise", true,
                            KEY_USER_PROBE | KEY_NO_CALLER},
    [ATTACH_NESTED] = {"of functions whose returns are traced", false, 0},
};

static uint32_t link_type(enum attach_program which)
{
    return which <= ATTACH_KERNEL_START ? BPF_ABI_TRACE_KPROBE_MULTI : BPF_ABI_TRACE_UPROBE_MULTI;
}

static struct bpf_load how_to_load(const struct work *work, enum attach_program which, enum program_kind kind)
{
    return (struct bpf_load){
        .type = kind == PROGRAM_TRACEPOINT ? BPF_PROG_TYPE_TRACEPOINT : BPF_PROG_TYPE_KPROBE,
        .attach_type = kind == PROGRAM_MULTI ? link_type(which) : 0,
        .name = work->request->program_name,
        .insns = work->request->programs[which].insns,
        .count = work->request->programs[which].count,
        .functions = work->request->programs[which].functions,
        .function_count = work->request->programs[which].function_count,
    };
}

/*
 * The verifier's log is that of the last load: a way that was refused leaves nothing for the next.
 */
static int load_logged(struct work *work, const struct bpf_load *load)
{
    text_free(&work->attachment->log);
    return bpf_load_program(load, &work->attachment->log);
}

/*
 * Loads a program in which the place's number is `number`, or, for a link's program, which ignores
 * `number`, is fetched at each hit.
 */
static int load_numbered(struct work *work, struct bpf_load load, enum attach_program which,
                         enum program_kind kind, size_t number)
{
    size_t at = work->request->number_at[which];
    struct bpf_insn *insns = calloc(load.count, sizeof(*insns));

    if (!insns)
        return -ENOMEM;
    memcpy(insns, load.insns, load.count * sizeof(*insns));
    insns[at] = kind == PROGRAM_MULTI ? INSN_CODE(CALL(BPF_FUNC_get_attach_cookie))
                                      : INSN_CODE(MOV_IMM(R0, (int32_t)number));
    load.insns = insns;
    int program = load_logged(work, &load);
    free(insns);
    return program;
}

int attach_load(struct work *work, enum attach_program which, enum program_kind kind)
{
    const struct bpf_load load = how_to_load(work, which, kind);
    int *program = &work->attachment->programs[which][kind];

    if (*program < 0)
        *program = work->request->numbered ? load_numbered(work, load, which, kind, 0)
                                           : load_logged(work, &load);
    return *program;
}

int attach_load_own(struct work *work, const struct place *place, enum program_kind kind)
{
    enum attach_program which = attach_program_of(place);
    struct attachment *attachment = work->attachment;

    if (array_reserve(&attachment->own_programs, &attachment->own_room, attachment->own_count + 1,
                      sizeof(int)))
        return -ENOMEM;
    int program = load_numbered(work, how_to_load(work, which, kind), which, kind, (size_t)(place - work->all));
    if (program >= 0)
        attachment->own_programs[attachment->own_count++] = program;
    return program;
}
