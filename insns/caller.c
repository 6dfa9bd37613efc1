/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/caller.h"

void emit_load_caller(struct program *program, const struct machine *machine, int16_t place)
{
    if (machine->emit_load_caller)
        machine->emit_load_caller(program, place);
}
