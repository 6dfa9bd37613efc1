/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A process stopped by ptrace(2): its registers, its memory, its mapped files with their unwind
 * tables and functions, and walks of its stack. x86-64. Lack of memory ends the tool, status 2.
 */
#ifndef STACKBOX_TRACEE_H
#define STACKBOX_TRACEE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf/elf_symbols.h"
#include "elf/frame_rows.h"
#include "machine/machine.h"
#include "processes/proc_maps.h"
#include "unwind/walk.h"

#define TRACEE_DEPTH 127
#define TRACEE_PAGES 16

static inline void *tracee_room(void *old, size_t count, size_t size)
{
    void *room = reallocarray(old, count, size);

    if (!room) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return room;
}

struct traced_function {
    char *name;
    uint64_t offset, size;
};
/* A mapped file, or the vDSO. Objects are cached and never freed. */
struct traced_object {
    struct traced_object *next;
    uint64_t device, inode;
    char *path;
    struct table table;
    bool has_table;
    struct elf elf;
    struct traced_function *functions;
    size_t function_count;
};

struct traced_mapping {
    uint64_t start, end, offset;
    bool executable;
    struct traced_object *object; /* NULL: no file */
};

struct tracee {
    pid_t pid;
    struct user_regs_struct registers;
    struct traced_mapping *mappings;
    size_t mapping_count;
    struct {
        uint64_t address; /* 1: the slot is empty */
        unsigned char bytes[4096];
    } pages[TRACEE_PAGES];
};

/* ---- memory */

static inline bool tracee_bytes(struct tracee *tracee, uint64_t address, void *to, size_t size)
{
    for (size_t done = 0, part; done < size; done += part) {
        const uint64_t at = address + done, page = at & ~4095ull;
        const size_t index = page / 4096 % TRACEE_PAGES;
        unsigned char *bytes = tracee->pages[index].bytes;
        struct iovec ours = {bytes, 4096}, theirs = {(void *)(uintptr_t)page, 4096};

        if (tracee->pages[index].address != page) {
            tracee->pages[index].address = 1;
            if (process_vm_readv(tracee->pid, &ours, 1, &theirs, 1, 0) != 4096)
                return false;
            tracee->pages[index].address = page;
        }
        part = 4096 - (at - page) < size - done ? 4096 - (at - page) : size - done;
        memcpy((char *)to + done, bytes + (at - page), part);
    }
    return true;
}

static inline bool tracee_word(void *context, uint64_t address, uint64_t *word)
{
    return tracee_bytes(context, address, word, sizeof(*word));
}

/* Drops the cached pages and reads the registers of a stopped thread; false: it is gone. */
static inline bool tracee_stopped(struct tracee *tracee, pid_t pid)
{
    tracee->pid = pid;
    for (size_t i = 0; i < TRACEE_PAGES; i++)
        tracee->pages[i].address = 1;
    return !ptrace(PTRACE_GETREGS, pid, NULL, &tracee->registers);
}

/* ---- objects */

static inline int tracee_add_function(void *context, const struct elf_symbol *symbol)
{
    struct traced_object *object = context;
    uint64_t offset;

    if (!elf_offset_of(&object->elf, symbol->address, &offset))
        return 0;
    if (!(object->function_count & (object->function_count - 1)))
        object->functions = tracee_room(object->functions, 2 * object->function_count + 1,
                                        sizeof(*object->functions));
    object->functions[object->function_count++] =
        (struct traced_function){strdup(symbol->name), offset, symbol->size};
    return 0;
}

static inline void tracee_read_object(struct traced_object *object, int fd, uint64_t base)
{
    struct frame_rows frames = {0};

    if (fd < 0 || elf_open_watched(&object->elf, fd, base, NULL))
        return;
    object->has_table = !frame_rows_read(&frames, &object->elf) &&
                        !table_make(&object->table, &frames) && !table_check(&object->table);
    frame_rows_free(&frames);
    elf_each_function(&object->elf, tracee_add_function, object);
}

static inline struct traced_object *tracee_object(const struct tracee *tracee,
                                                  const struct maps_entry *entry)
{
    static struct traced_object *objects;
    const bool is_vdso = !strcmp(entry->path, "[vdso]");
    char path[64];

    if (!entry->inode && !is_vdso)
        return NULL;
    for (struct traced_object *object = objects; object; object = object->next)
        if (object->device == entry->device && object->inode == entry->inode &&
            !strcmp(object->path, entry->path))
            return object;
    struct traced_object *object = tracee_room(NULL, 1, sizeof(*object));
    *object = (struct traced_object){
        .next = objects,
        .device = entry->device,
        .inode = entry->inode,
        .path = strdup(entry->path),
    };
    objects = object;
    snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)tracee->pid,
             (unsigned long long)entry->start, (unsigned long long)entry->end);
    int fd = open(is_vdso ? "/proc/self/mem" : path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) /* the kernel denies map_files to unprivileged users */
        fd = open(entry->path, O_RDONLY | O_CLOEXEC);
    tracee_read_object(object, fd, is_vdso ? getauxval(AT_SYSINFO_EHDR) : 0);
    return object;
}

static inline int tracee_add_mapping(void *context, const struct maps_entry *entry)
{
    struct tracee *tracee = context;
    const size_t count = tracee->mapping_count++;

    if (!(count & (count - 1)))
        tracee->mappings = tracee_room(tracee->mappings, 2 * count + 1, sizeof(*tracee->mappings));
    tracee->mappings[count] = (struct traced_mapping){
        .start = entry->start,
        .end = entry->end,
        .offset = entry->inode ? entry->offset : 0,
        .executable = entry->executable,
        .object = entry->executable ? tracee_object(tracee, entry) : NULL,
    };
    return 0;
}

static inline void tracee_read_mappings(struct tracee *tracee)
{
    uint32_t shown_by;

    tracee->mapping_count = 0;
    maps_each_of((uint32_t)tracee->pid, &shown_by, tracee_add_mapping, tracee);
}

static inline const struct traced_mapping *tracee_mapping(const struct tracee *tracee, uint64_t address)
{
    for (size_t i = 0; i < tracee->mapping_count; i++)
        if (address - tracee->mappings[i].start < tracee->mappings[i].end - tracee->mappings[i].start)
            return &tracee->mappings[i];
    return NULL;
}

/* ---- functions */

static inline bool tracee_covers(const struct traced_function *function, uint64_t offset)
{
    return offset - function->offset < (function->size ? function->size : 1);
}

/* Is pc in a function of that name? Compilers put a dot after the name of a clone. */
static inline bool tracee_is_in(const struct tracee *tracee, uint64_t pc, const char *name)
{
    const struct traced_mapping *mapping = tracee_mapping(tracee, pc);
    const size_t length = strlen(name);

    if (!mapping || !mapping->object)
        return false;
    for (size_t i = 0; i < mapping->object->function_count; i++) {
        const struct traced_function *function = &mapping->object->functions[i];

        if (tracee_covers(function, pc - mapping->start + mapping->offset) &&
            !strncmp(function->name, name, length) &&
            (!function->name[length] || function->name[length] == '.'))
            return true;
    }
    return false;
}

/* "name+0x12", "libc.so.6+0x1234" */
static inline const char *tracee_describe(const struct tracee *tracee, uint64_t pc, char *text, size_t size)
{
    const struct traced_mapping *mapping = tracee_mapping(tracee, pc);

    if (!mapping || !mapping->object) {
        snprintf(text, size, "%s 0x%llx", mapping ? "memory" : "nothing", (unsigned long long)pc);
        return text;
    }
    const uint64_t offset = pc - mapping->start + mapping->offset;
    const char *file = strrchr(mapping->object->path, '/');
    int length = snprintf(text, size, "%s+0x%llx", file ? file + 1 : mapping->object->path,
                          (unsigned long long)offset);
    for (size_t i = 0; i < mapping->object->function_count; i++) {
        const struct traced_function *function = &mapping->object->functions[i];

        if (tracee_covers(function, offset)) {
            snprintf(text + length, size - (size_t)length, " %s+0x%llx", function->name,
                     (unsigned long long)(offset - function->offset));
            break;
        }
    }
    return text;
}

/* ---- stacks */

static inline void tracee_find(void *context, uint64_t pc, struct walk_object *found)
{
    struct tracee *tracee = context;
    const struct traced_mapping *mapping = tracee_mapping(tracee, pc);

    if (!mapping) { /* it may be newer than our list */
        tracee_read_mappings(tracee);
        mapping = tracee_mapping(tracee, pc);
    }
    if (!mapping || !mapping->executable) {
        *found = (struct walk_object){.end = UNWIND_END_UNMAPPED};
        return;
    }
    const struct traced_object *object = mapping->object;
    *found = (struct walk_object){
        .table = object && object->has_table ? &object->table : NULL,
        .end = UNWIND_END_NO_TABLE,
        .frame_pointers = !object,
        .bias = mapping->start - mapping->offset,
    };
}

struct walked {
    uint64_t frames[TRACEE_DEPTH];
    size_t count;
    enum unwind_end end;
};

/* Field 28 of /proc/PID/stat, startstack. 0: the kernel does not show it. */
static inline uint64_t tracee_first_stack(const struct tracee *tracee)
{
    char path[32], line[1024];
    unsigned long long first = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)tracee->pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    const char *at = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
    for (int word = 2; at && word < 28; word++)
        at = strchr(at + 1, ' ');
    if (at)
        sscanf(at, "%llu", &first);
    fclose(file);
    return first;
}

static inline void tracee_walk(struct tracee *tracee, struct walked *walked)
{
    const struct user_regs_struct *are = &tracee->registers;
    const struct walk_registers registers = {
        .pc = are->rip,
        .by_dwarf = {
         are->rax, are->rdx, are->rcx, are->rbx, are->rsi, are->rdi, are->rbp, are->rsp, are->r8, are->r9,
         are->r10, are->r11, are->r12, are->r13, are->r14, are->r15}};
    const struct walk_options config = {
        .machine = &machine_x86_64,
        .context = tracee,
        .find = tracee_find,
        .read = tracee_word,
        .first_stack = tracee_first_stack(tracee),
        .depth = TRACEE_DEPTH,
    };

    walked->count = walk_stack(&config, &registers, walked->frames, &walked->end);
}

static inline const char *tracee_end(enum unwind_end end)
{
    static const char *const names[] = {"root", "depth", "deferred", "no table", "unsupported", "unmapped",
                                        "unreadable", "senseless", "return probe", "no registers"};

    return end < sizeof(names) / sizeof(names[0]) ? names[end] : "no end";
}

#endif
