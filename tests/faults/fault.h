/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Linked into a build of stackbox for tests (`make faulty`): makes one call of a run fail, as the
 * environment says.
 *
 *     FAULT=KIND:N:HOW        the N-th call of this kind fails; N+: and all after it
 *     FAULT=KIND@SITE:N:HOW   the N-th one from this call site
 *     FAULT_COUNTS=FILE       gets at exit `count KIND N` for each kind, and `site KIND SITE N` for
 *                             each call site; the stack identifies a site
 *     FAULT_FRAMES=N          how many frames of the stack identify a site (16)
 *     FAULT_LOG=FILE          `KIND ADDRESS...` for a call that failed: its stack, for addr2line
 *
 * HOW is the name of an errno, or `short`: reads and writes of files, pipes and sockets transfer
 * half of the requested bytes. Our own code's calls for memory and threads fail through the
 * linker's --wrap. System calls fail wherever the C library makes them, stdio included: a seccomp
 * filter turns them into SIGSYS, whose handler returns the error or makes the call itself. The
 * filter depends on where the C library is mapped, so it has no effect in a program that the
 * process executes. A forked child continues its parent's counts, in shared memory.
 *
 * It does not use ptrace: LeakSanitizer needs that for itself.
 */
#ifndef STACKBOX_FAULTS_FAULT_H
#define STACKBOX_FAULTS_FAULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#if !defined(__x86_64__) || !defined(__GLIBC__)
#error "written for x86-64 and glibc, which LeakSanitizer needs, too"
#endif

enum kind {
    KIND_MALLOC,
    KIND_MMAP,
    KIND_THREAD,
    KIND_FORK,
    KIND_BPF,
    KIND_PERF,
    KIND_READ,
    KIND_WRITE,
    KIND_OPEN,
    KIND_DESCRIPTOR,
    KIND_IOCTL,
    KIND_FILE,
    KIND_PROCESS, /* credentials, limits, CPU affinity and the like */
    KIND_OTHER,
    KINDS,
};

extern const char *const kind_names[KINDS];

#define ALWAYS_SHORT (-1)
#define MOST_FRAMES 16

/* Which calls fail, and how. */
struct fault {
    enum kind kind; /* KINDS: no call fails */
    uint32_t site;  /* 0: any */
    uint32_t first;
    bool on;    /* all later calls fail as well */
    int how;    /* an errno, or ALWAYS_SHORT */
    int log;    /* below 0: none */
    int frames; /* how many frames identify a call site */
};
extern struct fault fault;

/* Starts counting calls, in this process and its children. False: mmap(2) failed. */
bool counting_begins(void);
/* Stops counting in this process; the counts stay for write_counts(). */
void counting_ends(void);
void write_counts(FILE *file);

/*
 * Counts a call; `frame` is the frame pointer where the walk for its call site begins. Returns 0:
 * make the call; an errno: fail with it; ALWAYS_SHORT: transfer half of the bytes.
 */
int count_call(enum kind kind, const void *frame);

/* Installs the filter, which traps the C library's system calls from here on. */
void trap_calls(void);

/* Makes a system call outside the C library, which the filter allows. Returns -errno on failure. */
long inject_call(long number, long a, long b, long c, long d, long e, long f);

_Noreturn void die(const char *why);

#endif
