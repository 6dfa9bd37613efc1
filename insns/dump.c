/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/program.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/util.h"

struct dump {
    struct text *text;
    const struct bpf_insn *insns;
    size_t count;
    const struct program *program;
};

/* The fields besides the opcode: those that an instruction does not use are 0. */
enum { DST = 1, SRC = 2, OFF = 4, IMM = 8 };

static bool uses_only(const struct bpf_insn *insn, int fields)
{
    return (fields & DST || !insn->dst_reg) && (fields & SRC || !insn->src_reg) &&
           (fields & OFF || !insn->off) && (fields & IMM || !insn->imm) &&
           insn->dst_reg <= R10 && insn->src_reg <= R10;
}

static bool is_32(const struct bpf_insn *insn)
{
    int class = BPF_CLASS(insn->code);

    return class == BPF_ALU || class == BPF_JMP32;
}

static bool is_wide(const struct dump *dump, size_t index)
{
    const struct bpf_insn *insn = &dump->insns[index], *next = insn + 1;

    if (insn->code != (BPF_LD | BPF_IMM | BPF_DW) || index + 1 == dump->count ||
        !uses_only(insn, DST | SRC | IMM) || next->code || !uses_only(next, IMM))
        return false;
    switch (insn->src_reg) {
    case BPF_PSEUDO_MAP_FD:
        return !next->imm;
    case 0:
    case BPF_PSEUDO_MAP_VALUE:
        return true;
    }
    return false;
}

/* Does it jump or call within the program, and how far from the next instruction? */
static bool jumps(const struct bpf_insn *insn, int64_t *distance)
{
    switch (insn->code) {
    case BPF_JMP | BPF_CALL:
        *distance = insn->imm;
        return insn->src_reg == BPF_PSEUDO_CALL && uses_only(insn, SRC | IMM);
    case BPF_JMP | BPF_JA:
        *distance = insn->off;
        return uses_only(insn, OFF);
    }
    int class = BPF_CLASS(insn->code), operation = BPF_OP(insn->code);
    if ((class != BPF_JMP && class != BPF_JMP32) || operation == BPF_JA ||
        operation == BPF_CALL || operation == BPF_EXIT || operation > BPF_JSLE)
        return false;
    *distance = insn->off;
    return uses_only(insn, DST | OFF | (BPF_SRC(insn->code) == BPF_X ? SRC : IMM));
}

/* ---- Labels ---- */

static bool is_before(const void *label, const void *slot)
{
    return ((const struct program_label *)label)->slot < *(const size_t *)slot;
}

/* The first label at or after `slot`: they are in the order of their slots. */
static size_t first_label(const struct program *program, size_t slot)
{
    return search_first(program->labels, program->label_count, sizeof(*program->labels), &slot,
                        is_before);
}

static void add_labels_here(const struct dump *dump, size_t index)
{
    const struct program *program = dump->program;

    for (size_t i = first_label(program, index);
         i < program->label_count && program->labels[i].slot == index; i++)
        text_format(dump->text, "%s:\n", program->labels[i].name);
}

static void add_target(const struct dump *dump, size_t index, int64_t distance)
{
    const struct program *program = dump->program;
    const size_t target = (size_t)((int64_t)index + 1 + distance);
    const size_t label = first_label(program, target);

    if (label < program->label_count && program->labels[label].slot == target)
        text_add(dump->text, program->labels[label].name);
    else
        text_format(dump->text, "pc%+lld", (long long)distance);
}

/* ---- Operands ---- */

static void add_memory(struct text *text, const char *type, int base, int offset)
{
    text_format(text, "*(%s *)(r%d %c %d)", type, base, offset < 0 ? '-' : '+', abs(offset));
}

/* The last operand of ALU and jump instructions. `mask`: in hexadecimal. */
static void add_operand(struct text *text, const struct bpf_insn *insn, bool mask)
{
    if (BPF_SRC(insn->code) == BPF_X)
        text_format(text, "%c%d", is_32(insn) ? 'w' : 'r', insn->src_reg);
    else if (mask && insn->imm > 9)
        text_format(text, "0x%x", (unsigned)insn->imm);
    else
        text_format(text, "%d", insn->imm);
}

static void add_map(const struct dump *dump, int fd)
{
    const char *name = program_map_name(dump->program, fd);

    if (name)
        text_format(dump->text, "map %s", name);
    else
        text_format(dump->text, "map fd %d", fd);
}

/*
 * ---- Instructions: each returns true after adding its text, or false if it does not know it ----
 */

static bool dump_wide(const struct dump *dump, size_t index)
{
    const struct bpf_insn *insn = &dump->insns[index];

    if (!is_wide(dump, index))
        return false;
    uint32_t low = (uint32_t)insn[0].imm, high = (uint32_t)insn[1].imm;
    text_format(dump->text, "r%d = ", insn->dst_reg);
    if (!insn->src_reg) {
        text_format(dump->text, "0x%llx ll", (unsigned long long)high << 32 | low);
        return true;
    }
    add_map(dump, insn->imm);
    if (insn->src_reg == BPF_PSEUDO_MAP_VALUE)
        text_format(dump->text, " value + %u", high);
    return true;
}

static bool dump_byte_order(struct text *text, const struct bpf_insn *insn)
{
    const char *order = BPF_SRC(insn->code) == BPF_TO_BE ? "be" : "le";

    if (BPF_CLASS(insn->code) == BPF_ALU64 || !uses_only(insn, DST | IMM) ||
        (insn->imm != 16 && insn->imm != 32 && insn->imm != 64))
        return false;
    text_format(text, "r%d = %s%d r%d", insn->dst_reg, order, insn->imm, insn->dst_reg);
    return true;
}

static bool dump_alu(struct text *text, const struct bpf_insn *insn)
{
    static const char *const signs[] = {"+",  "-", "*", "/", "|", "&",  "<<",
                                        ">>", "",  "%", "^", "",  "s>>"};
    int operation = BPF_OP(insn->code);
    bool is_register = BPF_SRC(insn->code) == BPF_X;
    char letter = is_32(insn) ? 'w' : 'r';

    if (operation == BPF_END)
        return dump_byte_order(text, insn);
    if (operation == BPF_NEG) {
        if (is_register || !uses_only(insn, DST))
            return false;
        text_format(text, "%c%d = -%c%d", letter, insn->dst_reg, letter, insn->dst_reg);
        return true;
    }
    if (operation > BPF_ARSH || !uses_only(insn, DST | (is_register ? SRC : IMM)))
        return false;
    text_format(text, "%c%d %s= ", letter, insn->dst_reg, signs[operation >> 4]);
    add_operand(text, insn, operation == BPF_AND || operation == BPF_OR || operation == BPF_XOR);
    return true;
}

static bool dump_call(const struct dump *dump, size_t index)
{
    const struct bpf_insn *insn = &dump->insns[index];
    int64_t distance;

    if (jumps(insn, &distance)) {
        text_add(dump->text, "call local ");
        add_target(dump, index, distance);
        return true;
    }
    if (!uses_only(insn, IMM))
        return false;
    const char *name = helper_name((uint32_t)insn->imm);
    if (name)
        text_format(dump->text, "call %s", name);
    else
        text_format(dump->text, "call helper#%d", insn->imm);
    return true;
}

static bool dump_jump(const struct dump *dump, size_t index)
{
    static const char *const signs[] = {"",    "==", ">", ">=", "&", "!=", "s>",
                                        "s>=", "",   "",  "<",  "<=", "s<", "s<="};
    const struct bpf_insn *insn = &dump->insns[index];
    int operation = BPF_OP(insn->code);
    int64_t distance;

    if (insn->code == (BPF_JMP | BPF_CALL))
        return dump_call(dump, index);
    if (insn->code == (BPF_JMP | BPF_EXIT)) {
        text_add(dump->text, "exit");
        return uses_only(insn, 0);
    }
    if (!jumps(insn, &distance))
        return false;
    if (operation == BPF_JA) {
        text_add(dump->text, "goto ");
    } else {
        text_format(dump->text, "if %c%d %s ", is_32(insn) ? 'w' : 'r', insn->dst_reg,
                    signs[operation >> 4]);
        add_operand(dump->text, insn, operation == BPF_JSET);
        text_add(dump->text, " goto ");
    }
    add_target(dump, index, distance);
    return true;
}

/* By BPF_SIZE(code) >> 3. */
static const char *const types[] = {"u32", "u16", "u8", "u64"};

static bool dump_load(struct text *text, const struct bpf_insn *insn)
{
    if (BPF_MODE(insn->code) != BPF_MEM || !uses_only(insn, DST | SRC | OFF))
        return false;
    text_format(text, "r%d = ", insn->dst_reg);
    add_memory(text, types[BPF_SIZE(insn->code) >> 3], insn->src_reg, insn->off);
    return true;
}

/* The only one before 5.12 */
static bool dump_atomic(struct text *text, const struct bpf_insn *insn)
{
    bool narrow = BPF_SIZE(insn->code) == BPF_W;

    if (insn->imm != BPF_ADD || !uses_only(insn, DST | SRC | OFF))
        return false;
    text_add(text, "lock ");
    add_memory(text, narrow ? "u32" : "u64", insn->dst_reg, insn->off);
    text_format(text, " += %c%d", narrow ? 'w' : 'r', insn->src_reg);
    return true;
}

static bool dump_store(struct text *text, const struct bpf_insn *insn)
{
    int size = BPF_SIZE(insn->code);
    bool is_register = BPF_CLASS(insn->code) == BPF_STX;

    if (is_register && BPF_MODE(insn->code) == BPF_ATOMIC)
        return (size == BPF_W || size == BPF_DW) && dump_atomic(text, insn);
    if (BPF_MODE(insn->code) != BPF_MEM ||
        !uses_only(insn, DST | OFF | (is_register ? SRC : IMM)))
        return false;
    add_memory(text, types[size >> 3], insn->dst_reg, insn->off);
    if (is_register)
        text_format(text, " = r%d", insn->src_reg);
    else
        text_format(text, " = %d", insn->imm);
    return true;
}

static bool dump_known(const struct dump *dump, size_t index)
{
    const struct bpf_insn *insn = &dump->insns[index];

    switch (BPF_CLASS(insn->code)) {
    case BPF_LD: return dump_wide(dump, index);
    case BPF_LDX: return dump_load(dump->text, insn);
    case BPF_ST:
    case BPF_STX: return dump_store(dump->text, insn);
    case BPF_ALU:
    case BPF_ALU64: return dump_alu(dump->text, insn);
    default: return dump_jump(dump, index);
    }
}

static void dump_unknown(struct text *text, const struct bpf_insn *insn)
{
    const unsigned char *bytes = (const unsigned char *)insn;

    text_format(text, "unknown 0x%02x:", insn->code);
    for (size_t i = 0; i < sizeof(*insn); i++)
        text_format(text, " %02x", bytes[i]);
}

void dump_insns(struct text *text, const struct bpf_insn *insns, size_t count,
                const struct program *program)
{
    struct dump dump = {.text = text, .insns = insns, .count = count, .program = program};

    for (size_t i = 0; i < count; i++) {
        add_labels_here(&dump, i);
        text_format(text, "%6zu: ", i);
        size_t before = text->length;
        if (!dump_known(&dump, i)) {
            text->length = before; /* what a family wrote before it gave up */
            dump_unknown(text, &insns[i]);
        }
        text_add(text, "\n");
        if (is_wide(&dump, i))
            i++;
    }
}
