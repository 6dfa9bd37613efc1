/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program being written: instructions and labels in order. EMIT adds to it, program_link turns it
 * into what the kernel takes. Start with {0}; free with program_free.
 */
#ifndef STACKBOX_INSNS_PROGRAM_H
#define STACKBOX_INSNS_PROGRAM_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "insns/insn.h"

/* Instructions that every kernel takes; with CAP_BPF more since Linux 5.2, which we do not need. */
#define PROGRAM_LIMIT 4095

struct program_label {
    const char *name;
    size_t slot; /* the index, in the linked code, of the instruction it names */
};

struct program_map {
    int fd;
    const char *name;
};

struct program {
    bool failed; /* memory ran out, so instructions are missing: linking reports it */
    union insn *insns;
    size_t count, room;
    struct program_map *maps;
    size_t map_count, map_room;
    /* Made by program_link: */
    struct program_label *labels; /* in the order of their slots */
    size_t label_count, label_room;
    uint32_t *functions; /* where each begins: the program itself and its functions */
    size_t function_count, function_room;
    struct bpf_insn *code;
    size_t code_room;
};

/*
 * What the kernel takes. It belongs to the program, and is valid until that is linked again or
 * freed.
 */
struct linked {
    const struct bpf_insn *insns;
    size_t count;
    const uint32_t *functions; /* where they begin; NULL: only the program itself */
    size_t function_count;
};

/*
 * Adds instructions: EMIT(program, MOV_IMM(R0, 0), EXIT()). Linking reports errors. The do block
 * lets the compiler put the arrays of several EMITs at the same place on the stack.
 */
#define EMIT(program, ...)                                                               \
    do                                                                                   \
        program_emit(program, (const union insn[]){__VA_ARGS__},                         \
                     sizeof((const union insn[]){__VA_ARGS__}) / sizeof(union insn));    \
    while (0)

void program_emit(struct program *program, const union insn *insns, size_t count);

/* The dump shows the map open as `fd` under this name, which must outlive the program. */
void program_name_map(struct program *program, int fd, const char *name);
/* The name given to `fd`, or NULL. */
const char *program_map_name(const struct program *program, int fd);

/*
 * Resolves the labels and fills `linked`. 0, or a negative errno with one sentence appended to
 * `why`, whose indices are those of the linked code: -EINVAL for an empty program, a label that is
 * undefined, defined twice or has nothing after it, or a last instruction that is neither exit nor
 * goto; -E2BIG for one longer than PROGRAM_LIMIT, -ENOMEM. May be called again after more EMITs.
 */
int program_link(struct program *program, struct linked *linked, struct text *why);

void program_free(struct program *program);

/*
 * The disassembler behind --debug: appends `count` slots of linked code, one line per instruction,
 * which begins with its index. Labels, on lines of their own, and maps have the names that they
 * have in `program`, from which the code was linked; a map without one is `map fd 7`, and a jump to
 * no label `goto pc+5`, counted from the next instruction. Any bytes are accepted: what is not an
 * instruction of insn.h, or has a value in a field that its instruction leaves 0, is `unknown` and
 * its bytes.
 */
void dump_insns(struct text *text, const struct bpf_insn *insns, size_t count,
                const struct program *program);

/* The name of BPF_FUNC_... number `id`, or NULL: nothing in insns/ calls it. */
const char *helper_name(uint32_t id);

/*
 * Translates a program for kernels before 5.5, which have no separate helpers to read the kernel's
 * and the user's memory: replaces both by the old one, which works on machines where an address can
 * only be one of them.
 */
void insns_make_older(struct bpf_insn *insns, size_t count);

#endif
