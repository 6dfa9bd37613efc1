/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's types (BTF, 5.4), as far as it takes to know where a struct has a member. Everybody may
 * read them. What they are read from is hostile: all that is in it is checked.
 */
#ifndef STACKBOX_KERNEL_BTF_H
#define STACKBOX_KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf {
    char *data;
    size_t size;
    bool mapped; /* the data are the kernel's own pages */
    const char *types, *strings; /* in data */
    uint32_t types_size, strings_size;
    uint32_t *places; /* in `types`, of each type; 0 is void */
    uint32_t count;   /* of them, void too */
};

/* Of the running kernel. 0, or a negative errno: -ENOENT where it has none. btf_free after 0. */
int btf_open_kernel(struct btf *btf);
/* From an open file; -ENOEXEC where it is none, or contradicts itself. */
int btf_read(struct btf *btf, int fd);
void btf_free(struct btf *btf);

struct btf_member {
    uint32_t offset, size; /* bytes */
};

/* A struct, or one that has a name by a typedef alone. */
struct btf_struct {
    const char *name;
    uint32_t id; /* 0: there is none */
};
/* Finds several with one look at all types. */
void btf_find_structs(const struct btf *btf, struct btf_struct *structs, size_t count);
/* As btf_find_member. */
int btf_find_member_of(const struct btf *btf, uint32_t id, const char *member, struct btf_member *found);

/*
 * A member of a struct by its name, or of one that has a name by a typedef alone; also within structs and
 * unions without a name in it. 0; -ENOENT:
 * there is no such struct or member; -EINVAL: it is not made of whole bytes, or has no size.
 */
int btf_find_member(const struct btf *btf, const char *structure, const char *member,
                    struct btf_member *found);

/*
 * How many parameters the functions have that a typedef points to. 0; -ENOENT: there is no such
 * typedef; -EINVAL: it is of something else.
 */
int btf_count_parameters(const struct btf *btf, const char *name, uint32_t *count);

#endif
