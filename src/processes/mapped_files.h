/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The files that processes have mapped, each once, however many processes share it. A file is
 * opened as soon as it is seen, and its descriptor is kept as long as a mapping of it is
 * remembered: so files that are deleted or replaced later keep their names.
 *
 * The soft limit of descriptors is raised to the hard one. This table uses half of them, but leaves
 * at least 256 to others, and never more than MAPPED_FILES_KEPT. Further files are known by name
 * only, and counted as not kept.
 */
#ifndef STACKBOX_PROCESSES_MAPPED_FILES_H
#define STACKBOX_PROCESSES_MAPPED_FILES_H

#include <sys/stat.h>

#include "elf/elf.h"

#define MAPPED_FILES_KEPT 8192

enum mapped_kind {
    MAPPED_NOTHING,
    MAPPED_FILE,      /* of a file system, or a memfd that holds an ELF file */
    MAPPED_VDSO,      /* of our word size: our AT_SYSINFO_EHDR shows the same image */
    MAPPED_ANONYMOUS, /* what a JIT may write: no file, memfd, shared memory, heap, stack */
    MAPPED_OTHER,     /* the kernel's: [vsyscall], [uprobes], a vDSO of the other word size */
};

struct file_identity;

/* Belongs to its table. Readers may use the fields above "The table's own". */
struct mapped_file {
    enum mapped_kind kind;
    const char *path;  /* as its process sees it, without " (deleted)"; "[heap]" and the like */
    const char *label; /* the last part of the path; "[anon]" for unnamed memory */
    /*
     * Prefix that leads to a path as the process sees it: "" if its root is ours, otherwise
     * "/proc/self/fd/N", which stays open as long as the file. NULL: unknown.
     */
    const char *root;
    const struct file_identity *identity; /* of a recorded file, to look for; NULL: not recorded */
    int fd;            /* the table's; below 0: the negative errno of opening it */
    bool is_served;    /* by a FUSE server, which may not answer: `fd` is O_PATH, for the reader */
    struct stat about; /* fstat(), when it was opened */

    /* The table's own. */
    struct mapped_file *next;
    struct mapped_root *of_root;
    struct elf_segment *segments;
    size_t segment_count, references;
    uint64_t device, inode, generation;
    uint64_t looked_at; /* number of the check that last found it unchanged */
    bool has_segments, is_changed;
    int unread; /* a negative errno: why its segments could not be read */
};

/* What is known about a mapping of a file. Times are CLOCK_MONOTONIC, in ns. */
struct mapped_sight {
    uint64_t start, end;
    uint64_t device, inode, generation; /* generation 0: unknown */
    const char *path;                   /* as the kernel writes it */
    uint32_t pid;                       /* or a thread that shows the memory in /proc */
    uint32_t parent;                    /* 0: unknown */
    uint64_t time;                      /* of the mapping; 0: unknown */
};

struct mapped_files;

/* The last part of a path; "[anon]" for unnamed memory. */
const char *mapped_label(const char *path);

/* 0 or -ENOMEM. */
int mapped_files_open(struct mapped_files **made);
void mapped_files_close(struct mapped_files *files);

/*
 * The file of a mapping, which is opened if it is new, or could not be opened the last time. The
 * caller gets a reference. NULL: out of memory.
 */
struct mapped_file *mapped_files_see(struct mapped_files *files, const struct mapped_sight *sight);
/* Is the file of this device and inode open and unchanged? Then its path is not needed. */
bool mapped_files_knows(const struct mapped_files *files, uint64_t device, uint64_t inode);
/*
 * Between two calls of this, a file is checked only once for writes: one look at many processes
 * need not check it for each.
 */
void mapped_files_look_again(struct mapped_files *files);
/* A memfd that was gone before it was opened: it may have held a program, or a JIT's code. */
bool mapped_file_is_unseen(const struct mapped_file *file);
void mapped_file_hold(struct mapped_file *file);
/* Is the caller the only holder? */
bool mapped_file_is_last(const struct mapped_file *file);
void mapped_file_drop(struct mapped_files *files, struct mapped_file *file);

/*
 * True if the file was written to since it was mapped or opened, so its present contents would give
 * wrong names. Once true, it stays so.
 */
bool mapped_file_changed(struct mapped_file *file);

/*
 * The address that the ELF file gives to an offset; the offset itself if none of its segments holds
 * it, if they cannot be read (file->unread), or if the file was changed. 0 or -ENOMEM.
 */
int mapped_file_address(struct mapped_file *file, uint64_t offset, uint64_t *address);

/* The file is not read again, for this reason: a negative errno. */
void mapped_file_give_up(struct mapped_file *file, int why);

/* How many files are open; how many were not kept for lack of descriptors. */
size_t mapped_files_count(const struct mapped_files *files);
uint64_t mapped_files_not_kept(const struct mapped_files *files);

/*
 * The root directory of a living process, for use as the prefix `root` above. The caller drops it
 * with mapped_root_drop. NULL: it cannot be seen, or memory ran out.
 */
struct mapped_root *mapped_files_root(struct mapped_files *files, uint32_t pid);
const char *mapped_root_path(const struct mapped_root *root);
void mapped_root_drop(struct mapped_files *files, struct mapped_root *root);

/* A file's time in ns. */
uint64_t mapped_file_time(const struct timespec *time);

#endif
