/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The disassembler behind --debug: linked code as readable text, one line per instruction. */
#ifndef STACKBOX_INSNS_DUMP_H
#define STACKBOX_INSNS_DUMP_H

#include <linux/bpf.h>
#include <stddef.h>

#include "base/text.h"
#include "insns/program.h"

/*
 * Appends `count` slots of linked code, one line per instruction, which begins with its index.
 * Labels are on lines of their own. They and the maps have their names if `program`, from which the
 * code was linked, is given; if it is NULL, labels are L1, L2 ... and maps `map fd 7`. Any bytes
 * are accepted: what is not an instruction of insn.h, or has a value in a field that its
 * instruction leaves 0, is `unknown` and its bytes. A jump that leads to no instruction is shown as
 * `goto pc+5`, counted from the next one.
 */
void dump_insns(struct text *text, const struct bpf_insn *insns, size_t count,
                const struct program *program);

#endif
