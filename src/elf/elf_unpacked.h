/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Symbols that stand compressed in a file: sections with SHF_COMPRESSED, and .gnu_debugdata, in which
 * distributions leave a stripped file the functions that .dynsym does not have.
 */
#ifndef STACKBOX_ELF_ELF_UNPACKED_H
#define STACKBOX_ELF_ELF_UNPACKED_H

#include "elf/elf.h"

/*
 * Where `elf` has somewhere to put it (elf->unpacked), unpacks .symtab and the section of its names,
 * one of which is compressed: they are then elf->unpacked->symbols and names, to be read through `elf`.
 * False: they cannot be, as elf->unpacked->refusal says.
 */
bool elf_unpack_symbols(const struct elf *elf, const struct elf_section *symbols,
                        const struct elf_section *names);

/*
 * Opens what .gnu_debugdata holds, unpacked once, as an ELF file of its own: elf_close is needed
 * after true. It is one of the same kind and addresses as `elf`. False: there is none, or none that
 * can be used, which elf->unpacked->refusal says.
 */
bool elf_unpack_image(const struct elf *elf, struct elf *image);

/* Empties it. Whatever was opened of it is not to be read any more. */
void elf_unpacked_free(struct elf_unpacked *unpacked);

#endif
