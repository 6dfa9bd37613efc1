/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/user_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "elf/elf_symbols.h"
#include "elf/elf_unpacked.h"
#include "find/library_names.h"
#include "machine/machine.h"

#define BLANKS " \t\r\n"

/* "#!/usr/bin/env python3" -> "python3" */
static void explain_script(const char *path, char *line, struct text *error)
{
    char *rest = NULL;
    const char *program = strtok_r(line, BLANKS, &rest);
    const char *next = strtok_r(NULL, BLANKS, &rest);

    if (program && next && !strcmp(base_name(program), "env") && *next != '-')
        program = next;
    text_format(error, "\"%s\" is a script: it has no functions of its own%s%s", path,
                program ? "; trace its interpreter, " : "", program ? program : "");
}

static void explain_open(const struct user_file *file, int result, struct text *error)
{
    const char *path = file->library.path.data;
    char head[128];
    ssize_t got = pread(file->library.fd, head, sizeof(head) - 1, 0);

    head[got > 0 ? got : 0] = '\0';
    head[strcspn(head, "\n")] = '\0';
    if (result != -ENOEXEC)
        text_format(error, "cannot read \"%s\": %s", path, strerror(-result));
    else if (!strncmp(head, "#!", 2))
        explain_script(path, head + 2, error);
    else
        text_format(error, "\"%s\" is not a program or library: it is no%s ELF file", path,
                    strncmp(head, ELFMAG, SELFMAG) ? "" : " sound");
}

static int check_kind(const struct user_file *file, struct text *error)
{
    const char *path = file->library.path.data;

    if (!machine_is_ours(file->elf.machine))
        text_format(error, "\"%s\" is for another kind of machine (ELF machine %u): it does not "
                    "run here", path, file->elf.machine);
    else if (file->elf.type != ET_EXEC && file->elf.type != ET_DYN)
        text_format(error, "\"%s\" is not a program or library, but an object file or a core dump",
                    path);
    else
        return 0;
    return -ENOEXEC;
}

int user_file_read(struct user_file *file, struct text *error)
{
    int result = elf_open_watched(&file->elf, file->library.fd, 0, &file->trouble);

    file->elf.unpacked = &file->unpacked;
    if (result && result != -ENOMEM)
        explain_open(file, result, error);
    if (!result)
        result = check_kind(file, error);
    if (result)
        user_file_forget(file);
    return result;
}

int user_file_open(struct user_file *file, const struct library_where *where, const char *typed,
                   struct text *error)
{
    *file = (struct user_file){.library.fd = -1};
    int result = library_find(where, typed, &file->library, error);
    if (result)
        return result;
    result = user_file_read(file, error);
    if (result)
        library_close(&file->library);
    return result;
}

void user_file_forget(struct user_file *file)
{
    elf_close(&file->elf);
    elf_unpacked_free(&file->unpacked);
}

void user_file_close(struct user_file *file)
{
    user_file_forget(file);
    library_close(&file->library);
}

/* How the function begins; kernels since 6.13 look at these bytes, too. */
static int look_at_start(const struct user_file *file, const struct place *place,
                         enum place_start *start)
{
    const struct machine *machine = file->elf.row;
    unsigned char bytes[4] = {0};
    int result = elf_read(&file->elf, place->file_offset, bytes, sizeof(bytes));

    *start = START_OTHER;
    if (machine->push && bytes[0] == machine->push)
        *start = START_PUSH;
    else if (machine->mark && machine_little32(bytes) == machine->mark)
        *start = START_MARK;
    return result == -ENOEXEC ? 0 : result; /* a file may end here */
}

int user_file_add(const struct user_file *file, const struct place *place, uint64_t address,
                  struct places *places)
{
    struct place added = *place;
    struct text name = {0};
    int result = 0;

    added.kind = PLACE_USER;
    added.address = address;
    added.file = file->library.file.data;
    added.path = file->library.path.data;
    if (!elf_code_at(&file->elf, address) ||
        !elf_offset_of(&file->elf, address, &added.file_offset))
        return -EFAULT;
    if (added.start)
        result = look_at_start(file, &added, &added.start);
    if (result)
        return result;
    text_format(&name, "%s:%s", base_name(added.path), place->name);
    added.name = name.data;
    result = name.failed ? -ENOMEM : places_add(places, &added);
    text_free(&name);
    return result;
}

/* The addresses of the places to look at. */
static size_t sort_addresses(const struct place *places, size_t count, uint64_t *addresses)
{
    size_t listed = 0;

    for (size_t i = 0; i < count; i++)
        if (!places[i].start)
            addresses[listed++] = places[i].address;
    return sort_numbers(addresses, listed);
}

static int judge(const struct user_file *file, struct place *place, const struct elf_found *found,
                 struct text *error)
{
    enum place_start start;
    int result = look_at_start(file, place, &start);

    if (result)
        return result;
    /* If no function is known, only one begins in these two ways. */
    if (found->found ? found->start == place->address : start != START_OTHER)
        place->start = start;
    /* A return probe there would replace something else by the kernel's own address. */
    if (place->at_return && found->found && found->start != place->address) {
        text_format(error, "\"%s\" is within %s: a return is traced from the start of a function",
                    place->name, found->name.data);
        return -ERANGE;
    }
    return 0;
}

int user_file_find_starts(const struct user_file *file, struct places *places, size_t first,
                          struct text *error)
{
    size_t count = places->count - first;
    struct place *items = places->items + first;
    uint64_t *addresses = calloc(count + 1, sizeof(*addresses));
    struct elf_found *found = calloc(count + 1, sizeof(*found));
    int result = addresses && found ? 0 : -ENOMEM;
    size_t distinct = result || !count ? 0 : sort_addresses(items, count, addresses);

    if (distinct)
        result = elf_find(&file->elf, addresses, distinct, found);
    for (size_t i = 0; i < count && !result; i++) {
        if (items[i].start)
            continue;
        const size_t at = first_not_below(addresses, distinct, items[i].address);
        result = judge(file, &items[i], &found[at], error);
    }
    if (found)
        elf_found_free(found, distinct);
    free(found);
    free(addresses);
    return result;
}
