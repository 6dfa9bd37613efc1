/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A checked view of an ELF file, of either class and byte order. It reads from an open descriptor,
 * never by path and never by mmap: a file that shrinks meanwhile gives an error, not a signal. No
 * number in the file is trusted.
 */
#ifndef STACKBOX_ELF_ELF_H
#define STACKBOX_ELF_ELF_H

#include <elf.h>

#include "base/text.h"
#include "insns/machine.h"

/* A loaded part of the file, or one that PT_NOTE or PT_DYNAMIC names. */
struct elf_segment {
    uint64_t offset, file_size, address, memory_size;
    uint32_t flags; /* PF_X ... */
};

struct elf_section {
    uint32_t name; /* where its name begins in their table; use elf_section() */
    uint32_t type, link, info;
    uint64_t flags, address, offset, size, entry_size;
};

/* Compressed symbols, unpacked by elf_unpacked.c when first needed. {0}: not yet. */
struct elf_unpacked {
    enum { UNPACKED_NOTHING, UNPACKED_SYMBOLS, UNPACKED_IMAGE } kind;
    bool symbols_tried, image_tried;
    struct text parts[2]; /* .symtab and its names, or the image in .gnu_debugdata */
    struct elf_section symbols, names; /* as they would be in the file if not compressed */
    const char *refusal; /* why symbols were not unpacked: "its ... is damaged"; or NULL */
};

/* Offsets from here on are in elf_unpacked.parts[0]; no file is that large. */
#define ELF_UNPACKED ((uint64_t)1 << 63)
/* Offsets from here on are in parts[1]. */
#define ELF_UNPACKED_MORE (ELF_UNPACKED | (uint64_t)1 << 40)

struct elf {
    int fd;        /* the caller's */
    uint64_t base; /* where in fd the image begins, or ELF_UNPACKED */
    bool is_64, swapped;
    uint16_t type, machine;
    uint64_t entry; /* where the kernel enters a program; 0: nowhere */
    const struct machine *row; /* of the machine */
    bool has_thumb; /* it has or may have code of ARM's or MIPS's second kind */
    struct elf_segment *segments; /* PT_LOAD only, in the file's order */
    size_t segment_count;
    struct elf_segment *notes; /* PT_NOTE */
    size_t note_count;
    struct elf_segment dynamic; /* PT_DYNAMIC; all 0: none */
    struct elf_segment frames;  /* PT_GNU_EH_FRAME */
    struct elf_section *sections; /* none if the table is missing or cut off */
    size_t section_count;
    size_t section_names; /* index of the section that holds their names; 0: none */
    uint64_t *budget; /* bytes that may still be read: see elf_read() */
    int *trouble; /* the caller's, or NULL: see elf_open_watched() */
    struct elf_unpacked *unpacked; /* the caller's, set after opening; NULL: nothing is unpacked */
};

/*
 * 0, or a negative errno: -ENOEXEC for a file that is not ELF or contradicts itself. elf_close is
 * needed after 0 and does no harm after an error; it leaves the descriptor open.
 */
int elf_open(struct elf *elf, int fd);
/*
 * The same for an image that begins at `base` of the descriptor, such as the vDSO in
 * /proc/self/mem. Later functions answer as if the file had nothing when it could not be read or
 * memory ran out: *trouble, unless it is NULL, then becomes that error, the first one, and only if
 * it was 0. Errors that are the file's own fault do not count.
 */
int elf_open_watched(struct elf *elf, int fd, uint64_t base, int *trouble);
/* The same for the image that was unpacked. */
int elf_open_unpacked(struct elf *elf, struct elf_unpacked *unpacked, int *trouble);
void elf_close(struct elf *elf);
/* ELFCLASS32 or ELFCLASS64 of an open file if its programs run here; 0: they do not. */
int elf_own_class(int fd);
/* Stores the error in *trouble if it counts there. Returns it. */
int elf_note_trouble(const struct elf *elf, int error);
/* Grants elf_read() a full budget for another search of the file. */
void elf_renew_budget(const struct elf *elf);
/* Charges the budget for work that costs as much as reading this many bytes. 0 or -ETIME. */
int elf_spend(const struct elf *elf, uint64_t bytes);

/*
 * Every read of the file goes through here: all of the bytes, or a negative errno. -ETIME, from
 * then on always, once more was read than any tool's file needs (reading_budget).
 */
int elf_read(const struct elf *elf, uint64_t offset, void *to, size_t size);
/* Before allocating for a part: can its last byte be read? 0, or as elf_read(). */
int elf_has(const struct elf *elf, uint64_t offset, uint64_t size);

/*
 * Numbers in the file's byte order, at any alignment; a word is as large as the file's class says.
 */
uint64_t elf_get(const struct elf *elf, const void *bytes, size_t size);
static inline uint32_t elf_get32(const struct elf *elf, const void *bytes)
{
    return (uint32_t)elf_get(elf, bytes, 4);
}
static inline uint64_t elf_get64(const struct elf *elf, const void *bytes)
{
    return elf_get(elf, bytes, 8);
}
static inline size_t elf_word_size(const struct elf *elf)
{
    return elf->is_64 ? 8 : 4;
}
static inline uint64_t elf_get_word(const struct elf *elf, const void *bytes)
{
    return elf_get(elf, bytes, elf_word_size(elf));
}

/*
 * A field of a struct of <elf.h> from its bytes in the file, whatever the class: ELF_FIELD(elf,
 * bytes, Shdr, sh_size) is sh_size of an Elf32_Shdr or of an Elf64_Shdr.
 */
#define ELF_FIELD(elf, bytes, kind, field)                                                     \
    elf_field(elf, bytes, ELF_PLACE(Elf32_##kind, field) << 16 | ELF_PLACE(Elf64_##kind, field))
#define ELF_PLACE(type, field) (uint32_t)(offsetof(type, field) << 4 | sizeof(((type *)0)->field))
uint64_t elf_field(const struct elf *elf, const void *bytes, uint32_t places);
#define ELF_SIZE(elf, kind) ((elf)->is_64 ? sizeof(Elf64_##kind) : sizeof(Elf32_##kind))

/*
 * The virtual address of an offset in the file, by the segment that holds it, as the distance
 * between the two may differ between segments; if several hold it, by one of code. False: no
 * segment holds it.
 */
bool elf_address_of(const struct elf *elf, uint64_t offset, uint64_t *address);
/* The offset of an address. False: nothing from the file is loaded there. */
bool elf_offset_of(const struct elf *elf, uint64_t address, uint64_t *offset);
/* The loaded segment of code that holds an address; NULL: none. */
const struct elf_segment *elf_code_at(const struct elf *elf, uint64_t address);
/* The offset of `size` bytes of code from an address on. False: the file does not have them all. */
bool elf_code_offset(const struct elf *elf, uint64_t address, uint64_t size, uint64_t *offset);

/* Are these the first `size` bytes of a section's name? The NUL may be among them. */
bool elf_is_named(const struct elf *elf, const struct elf_section *section, const char *name,
                  size_t size);
/* The first section of that name; NULL: none. */
const struct elf_section *elf_section(const struct elf *elf, const char *name);
/* The first section of that SHT_ type; NULL: none. */
const struct elf_section *elf_section_of_type(const struct elf *elf, uint32_t type);

struct elf_note {
    const char *owner; /* "GNU", "stapsdt" */
    uint32_t type;
    const unsigned char *descriptor; /* numbers in it by elf_get... */
    size_t size;
};

/*
 * Calls `each` with every note of the section of that name, or, if the file has no such section,
 * with the notes of all PT_NOTE segments; what it points to is valid during the call. A result
 * other than 0 ends this: a negative one is returned, any other counts as success. 0 if there are
 * no notes; -ENOEXEC if they lead out of their section or are too long.
 */
typedef int elf_note_callback(void *context, const struct elf_note *note);
int elf_each_note(const struct elf *elf, const char *section, elf_note_callback *each,
                  void *context);

/* The longest that any tool makes; SHA-1 gives 20. */
#define ELF_LONGEST_BUILD_ID 64
/* 0 with *length of at least 1, -ENOENT if the file has none. */
int elf_build_id(const struct elf *elf, unsigned char id[ELF_LONGEST_BUILD_ID], size_t *length);

#define ELF_LONGEST_NEEDED 255

/* Called with each name; a result other than 0 ends this and is returned. */
typedef int elf_needed_callback(void *context, const char *name);

int elf_each_needed(const struct elf *elf, elf_needed_callback *each, void *context);

/*
 * The n-th entry of PT_DYNAMIC: its d_tag (DT_NULL past the last one) and d_val. 0 or as
 * elf_read().
 */
int elf_dynamic_entry(const struct elf *elf, uint64_t number, uint64_t *tag, uint64_t *value);

#endif
