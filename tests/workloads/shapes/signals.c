/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Code interrupted by signals at known places: faults. */
#include "shape.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define END_UNMAPPED 5

#define FUNCTION(name, body) \
    __asm__(".text\n.balign 16\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n" body \
            "\n.cfi_endproc\n.size " #name ", . - " #name "\n")

APART static void handle(int number, int flags, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | flags};

    action.sa_sigaction = handler;
    if (sigaction(number, &action, NULL))
        abort();
}

APART static void handle_elsewhere(int number, void (*handler)(int, siginfo_t *, void *))
{
    static char room[2][65536];
    static int used;
    stack_t stack = {.ss_sp = room[used++ % 2], .ss_size = sizeof(room[0])};

    if (sigaltstack(&stack, NULL))
        abort();
    handle(number, SA_ONSTACK, handler);
}

/* ---- faults by ud2, which has two bytes */

APART static void inner(void)
{
    TELL();
    MARK();
    UNTELL();
}

APART static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)info;
    TELL_INTERRUPTED(context);
    TELL();
    MARK();
    inner();
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += number == SIGILL ? 2 : 0;
    UNTELL();
    UNTELL();
}

APART static void faults(void)
{
    TELL();
    __asm__ volatile("ud2");
    MARK();
    UNTELL();
}
APART static void same_stack(void)
{
    TELL();
    handle(SIGILL, 0, on_fault);
    faults();
    faults();
    UNTELL();
}
APART static void other_stack(void)
{
    TELL();
    handle_elsewhere(SIGILL, on_fault);
    faults();
    faults();
    UNTELL();
}

/* At the first instruction of a function that directly follows another one */
void before_first(void);
void fault_first(void);
FUNCTION(before_first, "sub $72, %rsp; .cfi_adjust_cfa_offset 72\n.rept 30\nnop\n.endr\nud2");
__asm__(".text\n.type fault_first, @function\nfault_first:\n.cfi_startproc\nud2\nret\n.cfi_endproc\n"
        ".size fault_first, . - fault_first\n");
APART static void first_instruction(void)
{
    TELL();
    handle(SIGILL, 0, on_fault);
    tell("fault_first", NULL);
    fault_first();
    UNTELL();
    UNTELL();
}

/* In the middle of moving the stack pointer, with data below it */
void fault_pushing(void);
FUNCTION(fault_pushing,
    "push %rbx; .cfi_adjust_cfa_offset 8; .cfi_rel_offset rbx, 0\n"
    "ud2\n"
    "push %rbp; .cfi_adjust_cfa_offset 8; .cfi_rel_offset rbp, 0\n"
    "xor %ebp, %ebp\n"
    "ud2\n"
    "sub $4096, %rsp; .cfi_adjust_cfa_offset 4096\n"
    "ud2\n"
    "add $4096, %rsp; .cfi_adjust_cfa_offset -4096\n"
    "ud2\n"
    "pop %rbp; .cfi_adjust_cfa_offset -8; .cfi_restore rbp\n"
    "ud2\n"
    "pop %rbx; .cfi_adjust_cfa_offset -8; .cfi_restore rbx\n"
    "ud2\n"
    "ret");
APART static void pushing(void)
{
    TELL();
    handle_elsewhere(SIGILL, on_fault);
    tell("fault_pushing", NULL);
    fault_pushing();
    UNTELL();
    UNTELL();
}

/* ---- nested: a handler faults itself, on the other stack */

APART static void on_second(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    TELL_INTERRUPTED(context);
    TELL();
    MARK();
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
    UNTELL();
    UNTELL();
}
APART static void faults_again(int times)
{
    TELL();
    if (times > 1)
        faults_again(times - 1);
    else
        __asm__ volatile("ud2");
    UNTELL();
}
APART static void on_first(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    TELL_INTERRUPTED(context);
    TELL();
    faults_again(5);
    MARK();
    UNTELL();
    UNTELL();
}
APART static void raises(int number)
{
    TELL();
    /* By our own system call instruction, so that the address is ours. */
    long result = SYS_kill, me = getpid();
    __asm__ volatile("syscall" : "+a"(result) : "D"(me), "S"((long)number) : "rcx", "r11", "memory");
    MARK();
    UNTELL();
}
APART static void nested_signals(void)
{
    TELL();
    handle(SIGILL, 0, on_second);
    handle_elsewhere(SIGUSR1, on_first);
    raises(SIGUSR1);
    UNTELL();
}
APART static void nested_elsewhere(void)
{
    TELL();
    handle_elsewhere(SIGILL, on_second);
    handle(SIGUSR1, 0, on_first);
    raises(SIGUSR1);
    UNTELL();
}

static int again;
APART static void on_again(int number, siginfo_t *info, void *context)
{
    (void)info;
    TELL_INTERRUPTED(context);
    TELL();
    if (again++ < 6)
        raises(number);
    MARK();
    UNTELL();
    UNTELL();
}
APART static void many_signals(void)
{
    TELL();
    handle(SIGUSR2, SA_NODEFER, on_again);
    raises(SIGUSR2);
    UNTELL();
}

/* By libc's function */
APART static void raised(void)
{
    TELL();
    handle(SIGUSR2, 0, on_again);
    again = 6;
    tell(ANY, NULL);
    raise(SIGUSR2);
    UNTELL();
    UNTELL();
}

/* ---- executing something that is not code: the caller is unknown, and no walk finds more */

static void *volatile nowhere;
uint64_t nowhere_left[2] __attribute__((used));
void goes_nowhere(void *to);
FUNCTION(goes_nowhere, "mov %rsp, nowhere_left(%rip)\nmov %rbp, nowhere_left+8(%rip)\njmp *%rdi");

APART static void on_nowhere(int number, siginfo_t *info, void *context)
{
    gregset_t *registers = &((ucontext_t *)context)->uc_mcontext.gregs;
    uint64_t before = tell_anew(), word;

    (void)number, (void)info;
    tell(ANY, NULL);
    TELL();
    shape.end = END_UNMAPPED;
    MARK();
    shape.end = 0;
    tell_again(before);
    /* As if it had returned */
    memcpy(&word, (void *)nowhere_left[0], sizeof(word));
    (*registers)[REG_RIP] = (greg_t)word;
    (*registers)[REG_RSP] = (greg_t)nowhere_left[0] + 8;
}
APART static void null_called(void)
{
    TELL();
    handle(SIGSEGV, 0, on_nowhere);
    goes_nowhere(NULL);
    MARK();
    UNTELL();
}
APART static void data_called(void)
{
    TELL();
    handle_elsewhere(SIGSEGV, on_nowhere);
    goes_nowhere((void *)(uintptr_t)&shape);
    nowhere = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(nowhere, 4096);
    goes_nowhere(nowhere);
    MARK();
    UNTELL();
}

const struct shape_row signal_shapes[] = {
    {"same_stack", same_stack},
    {"other_stack", other_stack},
    {"first_instruction", first_instruction},
    {"pushing", pushing},
    {"nested_signals", nested_signals},
    {"nested_elsewhere", nested_elsewhere},
    {"many_signals", many_signals},
    {"raised", raised},
    {"null_called", null_called},
    {"data_called", data_called},
    {NULL, NULL},
};
