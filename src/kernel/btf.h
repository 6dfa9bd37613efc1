/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's types (BTF, 5.4), only as far as needed to find members of structs. Every user may
 * read them. The reader trusts nothing in the file: it checks everything.
 */
#ifndef STACKBOX_KERNEL_BTF_H
#define STACKBOX_KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BTF_STRIDE 64

struct btf {
    char *data;
    size_t size;
    bool mapped; /* `data` maps the kernel's own pages */
    const char *types, *strings; /* in data */
    uint32_t types_size, strings_size;
    uint32_t *places; /* in `types`, of types 1, 1 + BTF_STRIDE ...; 0 is void */
    uint32_t count;   /* of types, void included */
};

/* The running kernel's. 0, or a negative errno: -ENOENT if it has none. btf_free after 0. */
int btf_open_kernel(struct btf *btf);
/* From an open file; -ENOEXEC if it is not BTF or contradicts itself. */
int btf_read(struct btf *btf, int fd);
void btf_free(struct btf *btf);

struct btf_member {
    uint32_t offset, size; /* bytes; of an array only the offset is known */
};

/* A struct, or one named only by a typedef. */
struct btf_struct {
    const char *name;
    uint32_t id; /* 0: there is none */
    bool has_tag;
};
/* Finds several in one pass over all types: of each the first struct, or else a typedef. */
void btf_find_structs(const struct btf *btf, struct btf_struct *structs, size_t count);
/*
 * Finds a member by name in one of them, looking into unnamed structs and unions, too. 0; -ENOENT:
 * there is no such struct or member; -EINVAL: the member is not made of whole bytes, or has no size.
 */
int btf_find_member_of(const struct btf *btf, uint32_t id, const char *member,
                       struct btf_member *found);

/*
 * Counts the parameters of the function type behind a typedef. 0; -ENOENT: there is no such
 * typedef; -EINVAL: it does not name a function type.
 */
int btf_count_parameters(const struct btf *btf, const char *name, uint32_t *count);

/*
 * The type ids of our own programs' BTF, as far as the kernel needs it: the verifier checks a
 * function once, rather than at each call, only if BTF declares it as global.
 */
enum own_btf_type {
    OWN_BTF_INT = 1,
    OWN_BTF_PROTOTYPE, /* int (int) */
    OWN_BTF_PROGRAM,   /* a function, static */
    OWN_BTF_FUNCTION,  /* a function, global */
};

/* A descriptor, which may be closed once programs are loaded; or a negative errno. */
int own_btf_load(void);

#endif
