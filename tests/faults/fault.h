/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Linked into a build of stackbox for tests (`make faulty`): makes one call of a run fail, as the
 * environment says.
 *
 *     FAULT=KIND:N:HOW        the N-th call of this kind fails; N+: and all after it
 *     FAULT=KIND@SITE:N:HOW   the N-th one from this call site
 *     FAULT_COUNTS=FILE       at the end `count KIND N` goes there for each kind, and `site KIND SITE
 *                             N` for each site that such calls came from, identified by the stack
 *     FAULT_FRAMES=N          how many frames of the stack identify a site (16)
 *     FAULT_LOG=FILE          `KIND ADDRESS...` for a call that failed: its stack, for addr2line
 *
 * HOW is the name of an error, or `short`: only half of what was asked for is read from or written
 * to files and pipes. Memory and threads fail where our own code asks the C library for them, by
 * the linker's --wrap. System calls fail wherever in the C library they are made, including stdio:
 * a seccomp filter turns them into signals, whose handler returns the error or makes the call
 * itself. The filter depends on where the C library is mapped, so it has no effect in a program
 * that is executed. A forked child continues its parent's counts, in shared memory.
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
    KIND_PROCESS, /* its rights, limits, CPUs and the like */
    KIND_OTHER,
    KINDS,
};

extern const char *const kind_names[KINDS];

#define ALWAYS_SHORT (-1)
#define MOST_FRAMES 16

/* What is to fail. */
struct fault {
    enum kind kind; /* KINDS: nothing does */
    uint32_t site;  /* 0: any */
    uint32_t first;
    bool on;    /* all later ones fail as well */
    int how;    /* an errno, or ALWAYS_SHORT */
    int log;    /* below 0: none */
    int frames; /* this many identify a call site */
};
extern struct fault fault;

/* Starts counting calls, in this process and its children. False without the memory. */
bool counting_begins(void);
/* Stops counting. */
void counting_ends(void);
void write_counts(FILE *file);

/*
 * Counts a call of a kind; `frame` is that of its caller. 0: it is to be made; otherwise the errno
 * it fails with.
 */
int count_call(enum kind kind, const void *frame);

/* From here on system calls go through the filter. */
void trap_calls(void);

/* A call from here, and not from the C library: the filter lets it through. */
long inject_call(long number, long a, long b, long c, long d, long e, long f);

_Noreturn void die(const char *why);

#endif
