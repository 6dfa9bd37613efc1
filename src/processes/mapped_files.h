/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The files that processes have mapped, each once, however many processes share it. A file is
 * opened as soon as it is seen, and its descriptor is kept for as long as a mapping of it is
 * remembered: what is deleted or replaced later keeps its names.
 *
 * The soft limit of descriptors is raised to the hard one; half of them are used here (of a few
 * hundred fewer, of fewer none), MAPPED_FILES_KEPT at most. What is beyond is known by its name, and
 * counted as not kept.
 */
#ifndef STACKBOX_PROCESSES_MAPPED_FILES_H
#define STACKBOX_PROCESSES_MAPPED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "elf/elf.h"

#define MAPPED_FILES_KEPT 8192

enum mapped_kind {
    MAPPED_NOTHING,
    MAPPED_FILE,      /* of a file system, or a memfd that holds an ELF file */
    MAPPED_VDSO,      /* of our own kind: AT_SYSINFO_EHDR of ours shows the same image */
    MAPPED_ANONYMOUS, /* what a JIT may have written: no file, memfd, shared memory, heap, stack */
    MAPPED_OTHER,     /* the kernel's: [vsyscall], [uprobes], the vDSO of another kind */
};

struct file_identity;

/* Belongs to its table. What is not said to be written by it alone is the reader's to look at. */
struct mapped_file {
    enum mapped_kind kind;
    const char *path;  /* as its process sees it, without " (deleted)"; "[heap]" and the like */
    const char *label; /* the last part of the path; "[anon]" for memory without a name */
    /*
     * Put before a path, it leads to where the process sees that: "" for the root that is ours,
     * else "/proc/self/fd/N", which stays open as long as the file. NULL: not known.
     */
    const char *root;
    const struct file_identity *identity; /* of one that was recorded, to be looked for; NULL: it is here */
    int fd;            /* kept by the table; below 0: a negative errno, why it is not open */
    struct stat about; /* what fstat() said when it was opened */

    /* The table's own. */
    struct mapped_file *next;
    struct mapped_root *of_root;
    struct elf_segment *segments;
    size_t segment_count, references;
    uint64_t device, inode, generation;
    uint64_t looked_at; /* the look in which it was last found as it was */
    bool has_segments, is_changed;
    int unread; /* a negative errno: why its segments could not be read */
};

/* What is known of a file when it is seen mapped. Times are of CLOCK_MONOTONIC, in ns. */
struct mapped_sight {
    uint64_t start, end;
    uint64_t device, inode, generation; /* generation 0: not known */
    const char *path;                   /* as the kernel writes it */
    uint32_t pid;                       /* or a thread that shows the memory in /proc */
    uint32_t parent;                    /* 0: not known */
    uint64_t time;                      /* of the mapping; 0: not known */
};

struct mapped_files;

/* The last part of a path; what has no name gets one. */
const char *mapped_label(const char *path);

/* 0 or -ENOMEM. */
int mapped_files_open(struct mapped_files **made);
void mapped_files_close(struct mapped_files *files);

/*
 * The file of a mapping, opened if it is new, or was not to be opened the last time. NULL: memory
 * ran out. One reference is the caller's.
 */
struct mapped_file *mapped_files_see(struct mapped_files *files, const struct mapped_sight *sight);
/* Is the file of these numbers open, as it is now? Whoever sees it need not say its path. */
bool mapped_files_knows(const struct mapped_files *files, uint64_t device, uint64_t inode);
/*
 * Whether a file was written to is looked at once, however often it is seen, until this is called:
 * one look at many processes need not ask for each anew.
 */
void mapped_files_look_again(struct mapped_files *files);
void mapped_file_hold(struct mapped_file *file);
/* Does nobody but the caller hold it? */
bool mapped_file_is_last(const struct mapped_file *file);
void mapped_file_drop(struct mapped_files *files, struct mapped_file *file);

/*
 * True when the file was written to since it was mapped or opened: what it says now would give
 * wrong names. It stays true once it was.
 */
bool mapped_file_changed(struct mapped_file *file);

/*
 * As the ELF file numbers it; the offset itself where none of the file's segments holds it, and where
 * they cannot be read, as `unread` then says. 0 or -ENOMEM.
 */
int mapped_file_address(struct mapped_file *file, uint64_t offset, uint64_t *address);

/* How many files are open; how many were not kept for want of descriptors. */
size_t mapped_files_count(const struct mapped_files *files);
uint64_t mapped_files_not_kept(const struct mapped_files *files);

/*
 * The root directory of a living process, to be put before a path as `root` above says. The caller
 * gives it back with mapped_root_drop. NULL: there is none to be seen, or no memory.
 */
struct mapped_root *mapped_files_root(struct mapped_files *files, uint32_t pid);
const char *mapped_root_path(const struct mapped_root *root);
void mapped_root_drop(struct mapped_files *files, struct mapped_root *root);

#endif
