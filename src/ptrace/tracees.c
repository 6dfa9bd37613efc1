/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "ptrace/tracees.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/util.h"
#include "kernel/limits.h"
#include "machine/machine.h"
#include "machine/system_calls.h"

#define MOST_OPEN 256 /* threads whose files stay open: reading an open file costs a third */

int tracees_open(struct tracees *tracees)
{
    const uint32_t limit = kernel_pid_limit() + 1;
    void *room = mmap(NULL, limit * sizeof(*tracees->slots), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    *tracees = (struct tracees){.limit = 0};
    if (room == MAP_FAILED)
        return -errno;
    tracees->slots = room;
    tracees->limit = limit;
    return 0;
}

void tracees_close(struct tracees *tracees)
{
    while (tracees->count)
        tracees_drop(tracees, tracees->items[0].tid);
    free(tracees->items);
    if (tracees->slots)
        munmap(tracees->slots, tracees->limit * sizeof(*tracees->slots));
    *tracees = (struct tracees){.limit = 0};
}

struct tracee *tracees_find(const struct tracees *tracees, uint32_t tid)
{
    const uint32_t slot = tid < tracees->limit ? tracees->slots[tid] : 0;

    return slot ? &tracees->items[slot - 1] : NULL;
}

static int open_file(const struct tracee *tracee, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", tracee->pid, tracee->tid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Returns how many bytes it read to `text`; a NUL follows them. */
static size_t read_open(int fd, char *text, size_t room)
{
    const ssize_t got = fd < 0 ? 0 : pread(fd, text, room - 1, 0);
    const size_t length = got < 0 ? 0 : (size_t)got;

    text[length] = '\0';
    return length;
}

static size_t read_text(const struct tracee *tracee, const char *name, char *text, size_t room)
{
    const int fd = open_file(tracee, name);
    const size_t length = read_open(fd, text, room);

    close_fd(fd);
    return length;
}

static size_t read_kept(struct tracee *tracee, enum tracee_file which, char *text, size_t room)
{
    static const char *const names[] = {"schedstat", "stat", "statm"};
    int *fd = &tracee->files[which];

    if (!tracee->keeps_files)
        return read_text(tracee, names[which], text, room);
    if (*fd < 0)
        *fd = open_file(tracee, names[which]);
    return read_open(*fd, text, room);
}

struct tracee *tracees_add(struct tracees *tracees, uint32_t tid, uint32_t pid)
{
    if (tid >= tracees->limit || ARRAY_RESERVE(tracees->items, tracees->room, tracees->count + 1))
        return NULL;
    struct tracee *tracee = &tracees->items[tracees->count++];
    *tracee = (struct tracee){.tid = tid, .pid = pid, .keeps_files = tracees->count <= MOST_OPEN,
                              .files = {-1, -1, -1}, .points.call = NO_CALL};
    tracees->slots[tid] = (uint32_t)tracees->count;
    return tracee;
}

void tracees_drop(struct tracees *tracees, uint32_t tid)
{
    struct tracee *tracee = tracees_find(tracees, tid);

    if (!tracee)
        return;
    for (size_t i = 0; i < TRACEE_FILES; i++)
        close_fd(tracee->files[i]);
    free(tracee->wait.frames);
    free(tracee->points.returns);
    tracees->slots[tid] = 0;
    const struct tracee *last = &tracees->items[--tracees->count];
    if (last == tracee)
        return;
    *tracee = *last;
    tracees->slots[tracee->tid] = (uint32_t)(tracee - tracees->items) + 1;
}

/* The number after `name` in the content of a status file. */
static uint32_t number_of(const char *status, const char *name)
{
    const char *at = strstr(status, name);

    return at ? (uint32_t)strtoul(at + strlen(name), NULL, 10) : 0;
}

uint32_t tracee_process(uint32_t tid, uint32_t *parent)
{
    const struct tracee self = {.tid = tid, .pid = tid};
    char text[512]; /* the lines wanted are among the first */

    /* /proc/TID is there for threads, too, and so is its task/TID. */
    (void)read_text(&self, "status", text, sizeof(text));
    *parent = number_of(text, "\nPPid:");
    return number_of(text, "\nTgid:");
}

/* Words of `stat`, see enum stat_word. */
static const char *read_stat(struct tracee *tracee, char *text, size_t room)
{
    (void)read_kept(tracee, TRACEE_STAT, text, room);
    return strrchr(text, ')');
}

uint64_t tracee_cpu(struct tracee *tracee)
{
    char text[512];

    (void)read_kept(tracee, TRACEE_SCHEDSTAT, text, 64);
    const uint64_t by_scheduler = strtoull(text, NULL, 10);
    tracee->delay = line_number(text, 1);
    tracee->slices = line_number(text, 2);
    if (by_scheduler)
        return by_scheduler;
    const char *fields = read_stat(tracee, text, sizeof(text));
    return tick_ns() * (line_number(fields, STAT_USER_TIME) +
                        line_number(fields, STAT_SYSTEM_TIME));
}

char tracee_state(struct tracee *tracee, unsigned *cpu)
{
    char text[512];
    const char *fields = read_stat(tracee, text, sizeof(text)), *name = strchr(text, '(');
    const char *state = line_word(fields, STAT_STATE);

    if (!state || !name)
        return 0;
    const size_t length = (size_t)(fields - (name + 1));
    memset(tracee->comm, 0, sizeof(tracee->comm));
    memcpy(tracee->comm, name + 1, length < COMM_BYTES ? length : COMM_BYTES - 1);
    *cpu = (unsigned)line_number(fields, STAT_CPU);
    return *state;
}

/* "NUMBER 0xARGUMENT ... 0xSP 0xPC", "-1 0xSP 0xPC" or "running". */
int tracee_call(const struct tracee *tracee, struct tracee_call *call)
{
    char text[256], *at = text;
    const size_t length = read_text(tracee, "syscall", text, sizeof(text));

    *call = (struct tracee_call){.number = -1};
    if (!length || *text == 'r')
        return length ? -EAGAIN : -ENOENT;
    call->number = strtol(at, &at, 10);
    for (size_t i = 0; i < COUNT_OF(call->args); i++)
        call->args[i] = strtoull(at, &at, 16);
    const char *last = strrchr(text, ' '), *before = last ? memrchr(text, ' ', last - text) : NULL;
    call->sp = before ? strtoull(before, NULL, 16) : 0;
    call->pc = last ? strtoull(last, NULL, 16) : 0;
    return call->pc ? 0 : -ENOENT;
}

/* A 32-bit program's numbers mean other calls. */
static bool has_our_numbers(const struct tracee_call *call)
{
    return sizeof(long) == sizeof(uint32_t) || call->sp > UINT32_MAX;
}

void tracee_kernel_stack(const struct tracee *tracee, char *text, size_t room)
{
    struct tracee_call call;
    char name[128];
    size_t length = 0;

    if (read_text(tracee, "stack", text, room))
        return;
    if (read_text(tracee, "wchan", name, sizeof(name)) && strcmp(name, "0"))
        length = (size_t)snprintf(text, room, "[<0>] %s+0x0/0x0\n", name);
    const char *of_call = !tracee_call(tracee, &call) && has_our_numbers(&call)
        ? system_calls_find(call.number).name : NULL;
    if (of_call)
        snprintf(text + length, room - length, "[<0>] sys_%s+0x0/0x0\n", of_call);
}

/* The kernel restarts these calls, with what is left of their timeout. (clone: for a vfork(2).) */
static const char restarted[] =
    "restart_syscall\0" "waitid\0" "wait4\0" "rt_sigsuspend\0" "pause\0" "nanosleep\0"
    "clock_nanosleep\0" "clock_nanosleep_time64\0" "futex\0" "futex_time64\0" "poll\0" "ppoll\0"
    "ppoll_time64\0" "select\0" "pselect6\0" "pselect6_time64\0" "clone\0" "clone3\0" "vfork\0";

/*
 * These calls fail with EINTR if they have a timeout. Where the tracer restarts them, the timeout
 * begins anew, and ends late by what they had waited until then, at most a tick.
 */
static const char failing[] = "epoll_wait\0" "epoll_pwait\0" "accept\0" "accept4\0"
                              "rt_sigtimedwait\0" "semtimedop\0";

/*
 * Does a blocked read of this file, which has read nothing yet, go on? With devices that depends on
 * the driver; a serial line may be set to wait for more bytes.
 */
static bool is_restarted_file(const struct tracee *tracee, uint64_t fd, bool sockets)
{
    static const char *const kinds[] = {"pipe:", "anon_inode:[eventfd]", "/dev/pts/", "socket:"};
    char path[64], target[32] = "";

    snprintf(path, sizeof(path), "/proc/%u/fd/%u", tracee->pid, (unsigned)fd);
    if (readlink(path, target, sizeof(target) - 1) < 0)
        return false;
    for (size_t i = 0; i < COUNT_OF(kinds) - !sockets; i++)
        if (starts_with(target, kinds[i]))
            return true;
    return false;
}

bool tracee_call_restarts(const struct tracee *tracee, const struct tracee_call *call)
{
    /* Interrupts such a wait once only. */
    const bool all = machine_ours()->restarts_late &&
        tracee->slices && tracee->slices != tracee->wait.asked;
    const uint64_t *args = call->args;

    if (!has_our_numbers(call))
        return false;
    if (call->number == SYS_read || call->number == SYS_readv)
        return is_restarted_file(tracee, args[0], all);
    if (all && (call->number == SYS_recvfrom || call->number == SYS_recvmsg))
        return !(args[call->number == SYS_recvfrom ? 3 : 2] & MSG_WAITALL);
    const char *name = system_calls_find(call->number).name;
    return name && (name_list_has(restarted, name) || (all && name_list_has(failing, name)));
}

uint64_t tracee_shape(struct tracee *tracee)
{
    char text[128];

    (void)read_kept(tracee, TRACEE_STATM, text, sizeof(text));
    /* size resident shared text lib data dt: all in pages, data with the stack. */
    return line_number(text, 0) - line_number(text, 5);
}
