/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unwind/cold_objects.h"

#include <errno.h>

/* Records what kind of object a program met, if the walk began there. */
static void tell_kind(const struct cold_objects *in, const struct unwind_state *walk, uint64_t pc, uint32_t kind)
{
    if (pc == walk->pc - !walk->exact)
        objects_tell_kind(in->objects, &walk->key, kind);
}

bool cold_objects_find(void *context, const struct unwind_state *walk, uint64_t pc, struct walk_object *object)
{
    struct cold_objects *in = context;
    uint64_t offset = pc;

    if (!in->is_settled)
        (void)processes_settle(in->processes);
    in->is_settled = true;
    const struct mapped_file *file = processes_code_at(in->processes, walk->pid, walk->time, &offset);

    *object = (struct walk_object){.end = UNWIND_END_UNMAPPED, .bias = pc - offset};
    if (!file)
        return true;
    if (file->kind == MAPPED_ANONYMOUS) {
        object->frame_pointers = true;
        tell_kind(in, walk, pc, UNWIND_KEEPS_RECORDS);
        return true;
    }
    const int found = objects_find(in->objects, file, &in->table);
    if (!found) {
        object->table = &in->table;
        return true;
    }
    object->end = found < 0 ? UNWIND_END_COLD : (enum unwind_end)found;
    if (found > 0 && found != UNWIND_END_COLD)
        tell_kind(in, walk, pc, (uint32_t)found + 1);
    return found > 0;
}
