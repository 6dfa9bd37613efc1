/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/caller.h"

#include "insns/layout.h"

/* A call in the kernel's own code has pushed 8 bytes. */
static void emit_load_pushed(struct program *program, const struct machine *machine, int16_t place)
{
    EMIT(program,
        LDX(DW, R3, R6, machine_place(machine, machine->sp)),
        MOV_IMM(R2, 8),
        MOV_REG(R1, R8),
        ADD_IMM(R1, place),
        CALL(BPF_FUNC_probe_read_kernel));
}

void emit_load_caller(struct program *program, const struct machine *machine, uint32_t flags, int16_t place)
{
    if (flags & KEY_KERNEL_START && machine->kernel_tables)
        emit_load_pushed(program, machine, place);
    else if (machine->emit_load_caller && (flags & KEY_KERNEL_START || !machine->link_first))
        machine->emit_load_caller(program, place);
}
