/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/older.h"

void insns_make_older(struct bpf_insn *insns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg)
            continue;
        if (insns[i].imm == BPF_FUNC_probe_read_user || insns[i].imm == BPF_FUNC_probe_read_kernel)
            insns[i].imm = BPF_FUNC_probe_read;
        else if (insns[i].imm == BPF_FUNC_probe_read_kernel_str)
            insns[i].imm = BPF_FUNC_probe_read_str;
    }
}
