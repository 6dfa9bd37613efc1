/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "ptrace/tracer.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#define BY_BREAKPOINT 4 /* TRAP_HWBKPT */
#define MOST_PENDING 64  /* looked at: those of a fault come first */

enum breakpoint_stop breakpoints_stop(uint32_t tid)
{
    siginfo_t about;

    if (ptrace(PTRACE_GETSIGINFO, (pid_t)tid, NULL, &about) || about.si_signo != SIGTRAP)
        return BREAKPOINT_NONE;
    return about.si_code == BY_BREAKPOINT ? BREAKPOINT_HIT
           : about.si_code == TRAP_TRACE ? BREAKPOINT_STEPPED
           : about.si_code == SIGTRAP    ? BREAKPOINT_HANDLES : BREAKPOINT_NONE;
}

bool breakpoints_pending(uint32_t tid)
{
    siginfo_t pending[MOST_PENDING];
    const struct __ptrace_peeksiginfo_args first = {.nr = MOST_PENDING};
    const long count = ptrace(PTRACE_PEEKSIGINFO, (pid_t)tid, &first, pending);
    bool any = false;

    for (long i = 0; i < count; i++)
        any = any || (pending[i].si_signo == SIGTRAP && pending[i].si_code == BY_BREAKPOINT);
    return any;
}

#if defined(__x86_64__) || defined(__i386__)

#define REGISTERS 4 /* for addresses */
#define CONTROL 7   /* two bits for each address: the first enables it for this thread */

static int poke(uint32_t tid, size_t number, uint64_t value)
{
    const size_t at = offsetof(struct user, u_debugreg) +
        number * sizeof(((struct user *)NULL)->u_debugreg[0]);

    return ptrace(PTRACE_POKEUSER, (pid_t)tid, (void *)at, (void *)(uintptr_t)value) ? -errno : 0;
}

size_t breakpoints_count(void)
{
    return REGISTERS;
}

int breakpoints_set(uint32_t tid, const uint64_t *addresses, size_t count)
{
    uint64_t enabled = 0;
    int result = poke(tid, CONTROL, 0);

    for (size_t i = 0; i < count && !result; i++) {
        if (!addresses[i])
            continue;
        result = poke(tid, i, addresses[i]);
        enabled |= 1u << 2 * i;
    }
    return result || !enabled ? result : poke(tid, CONTROL, enabled);
}

bool breakpoints_repeat(void)
{
    return false; /* the kernel sets the resume flag */
}

#elif defined(__aarch64__)

#define ENABLED 0x1e5 /* for programs, all four bytes of an instruction */

/* As the kernel has them: struct user_hwdebug_state. */
struct debug_state {
    uint32_t about, unused;
    struct {
        uint64_t address;
        uint32_t control, unused;
    } registers[BREAKPOINTS_MOST];
};

static int get(uint32_t tid, struct debug_state *state)
{
    struct iovec room = {state, sizeof(*state)};

    return ptrace(PTRACE_GETREGSET, (pid_t)tid, (void *)NT_ARM_HW_BREAK, &room) ? -errno : 0;
}

static size_t counted;

static int count_of(uint32_t tid)
{
    struct debug_state state = {0};
    const int result = get(tid, &state);

    counted = result ? 0 : state.about & 0xff;
    return result;
}

size_t breakpoints_count(void)
{
    if (tracer_try(count_of))
        return 0;
    return counted < BREAKPOINTS_MOST ? counted : BREAKPOINTS_MOST;
}

int breakpoints_set(uint32_t tid, const uint64_t *addresses, size_t count)
{
    struct debug_state state = {0};
    struct iovec given = {&state, offsetof(struct debug_state, registers[count])};

    for (size_t i = 0; i < count; i++) {
        state.registers[i].address = addresses[i];
        state.registers[i].control = addresses[i] ? ENABLED : 0;
    }
    return ptrace(PTRACE_SETREGSET, (pid_t)tid, (void *)NT_ARM_HW_BREAK, &given) ? -errno : 0;
}

bool breakpoints_repeat(void)
{
    return true;
}

#else

size_t breakpoints_count(void)
{
    return 0;
}

int breakpoints_set(uint32_t tid, const uint64_t *addresses, size_t count)
{
    (void)tid;
    (void)addresses;
    (void)count;
    return -EOPNOTSUPP;
}

bool breakpoints_repeat(void)
{
    return false;
}

#endif
