/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/own_btf.h"

#include <stdint.h>

#include "kernel/bpf_call.h"

#define INFO(kind, count) ((uint32_t)(kind) << 24 | (count))
#define KIND_INT 1
#define KIND_FUNC 12
#define KIND_FUNC_PROTO 13
#define LINKAGE_STATIC 0
#define LINKAGE_GLOBAL 1
#define SIGNED (1u << 24)

#define NAMES "\0int\0a\0p\0f"
enum {
    NO_NAME = 0,
    NAME_INT = 1,
    NAME_ARGUMENT = 5,
    NAME_PROGRAM = 7,
    NAME_FUNCTION = 9,
};

#define WORDS_OF_TYPES 15

/* By number: {name, info, size or type, what the kind adds}. */
static const struct {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t header_length, types, types_size, strings, strings_size;
    uint32_t words[WORDS_OF_TYPES];
    char names[sizeof(NAMES)];
} types = {
    .magic = 0xeb9f,
    .version = 1,
    .header_length = 24,
    .types_size = WORDS_OF_TYPES * sizeof(uint32_t),
    .strings = WORDS_OF_TYPES * sizeof(uint32_t),
    .strings_size = sizeof(NAMES),
    .words = {
        NAME_INT, INFO(KIND_INT, 0), sizeof(int), SIGNED | 8 * sizeof(int),
        NO_NAME, INFO(KIND_FUNC_PROTO, 1), OWN_BTF_INT, NAME_ARGUMENT, OWN_BTF_INT,
        NAME_PROGRAM, INFO(KIND_FUNC, LINKAGE_STATIC), OWN_BTF_PROTOTYPE,
        NAME_FUNCTION, INFO(KIND_FUNC, LINKAGE_GLOBAL), OWN_BTF_PROTOTYPE,
    },
    .names = NAMES,
};

int own_btf_load(void)
{
    struct bpf_abi_btf_load load = {
        .btf = pointer(&types),
        .size = (uint32_t)(offsetof(__typeof__(types), names) + sizeof(types.names)),
    };

    return bpf_call(BPF_ABI_BTF_LOAD, &load, sizeof(load));
}
