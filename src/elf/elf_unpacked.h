/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Compressed symbols in a file: sections with SHF_COMPRESSED, and .gnu_debugdata, in which
 * distributions keep the functions of a stripped file that .dynsym lacks.
 */
#ifndef STACKBOX_ELF_ELF_UNPACKED_H
#define STACKBOX_ELF_ELF_UNPACKED_H

#include "elf/elf.h"

/*
 * If `elf` has somewhere to put it (elf->unpacked), unpacks .symtab and its string table, one of
 * which is compressed: they are then elf->unpacked->symbols and names, to be read through `elf`.
 * False: this failed, as elf->unpacked->refusal says.
 */
bool elf_unpack_symbols(const struct elf *elf, const struct elf_section *symbols,
                        const struct elf_section *names);

/*
 * Opens .gnu_debugdata's content, unpacked once, as an ELF file of its own, of the same kind and
 * addresses as `elf`; elf_close is needed after true. False: there is none, or none that can be
 * used, which elf->unpacked->refusal says.
 */
bool elf_unpack_image(const struct elf *elf, struct elf *image);

/* Empties it. Whatever was opened from it may no longer be read. */
void elf_unpacked_free(struct elf_unpacked *unpacked);

#endif
