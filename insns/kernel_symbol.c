/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kernel_symbol(context):
 *     if (symbol.length == 0)
 *         snprintf(symbol.text, sizeof(symbol.text), "%pS", symbol.address)
 *     else
 *         kallsyms_lookup_name(symbol.text, symbol.length, &symbol.address)    0 if there is none
 *     return 0
 *
 * The kernel finds both by binary search: names since 6.2, and in 6.1.y.
 *
 * r6 = symbol.
 */
#include "insns/programs.h"

#include "insns/layout.h"

#define AT(member) offsetof(struct kernel_symbol, member)

void emit_kernel_symbol(struct program *program, int symbol, int format)
{
    program_name_map(program, symbol, "symbol");
    program_name_map(program, format, "format");
    EMIT(program,
        LOAD_MAP_VALUE(R6, symbol, 0),
        ADDRESS(R1, R6, AT(text)),
        ADDRESS(R4, R6, AT(address)),
        LDX(W, R2, R6, AT(length)),
        JNE_IMM(R2, 0, "find"),
        MOV_IMM(R2, KERNEL_SYMBOL_BYTES),
        LOAD_MAP_VALUE(R3, format, 0),
        MOV_IMM(R5, sizeof(uint64_t)),
        CALL(BPF_FUNC_snprintf),
        JA("done"),
    LABEL("find"),
        AND_IMM(R2, KERNEL_NAME_MASK),              /* as the verifier knows then */
        MOV_IMM(R3, 0),
        CALL(BPF_FUNC_kallsyms_lookup_name),
    LABEL("done"),
        RETURN(0));
}
