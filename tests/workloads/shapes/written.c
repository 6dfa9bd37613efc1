/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Frames that no compiler makes: hand-written, with and without tables. */
#include "shape.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A function in assembly, with or without `tables`. */
#define FUNCTION(name, body) \
    __asm__(".text\n.balign 16\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n" body \
            "\n.cfi_endproc\n.size " #name ", . - " #name "\n")
#define WITHOUT_TABLE(name, body) \
    __asm__(".text\n.balign 16\n.type " #name ", @function\n" #name ":\n" body "\n.size " #name ", . - " #name "\n")

/* The return address of an assembly frame is not marked. */
#define TELL_WRITTEN(name) tell(name, NULL)

/* Calls its argument, with this function's caller above it. */
APART void marks(void);
APART void marks(void)
{
    TELL();
    MARK();
    UNTELL();
}

/* ---- every callee-saved register points to something that looks like a frame */

uint64_t fake[4] __attribute__((used));

void write_fakes(void);
FUNCTION(write_fakes,
    "push %rbx; .cfi_adjust_cfa_offset 8; .cfi_rel_offset rbx, 0\n"
    "push %rbp; .cfi_adjust_cfa_offset 8; .cfi_rel_offset rbp, 0\n"
    "push %r12; .cfi_adjust_cfa_offset 8; .cfi_rel_offset r12, 0\n"
    "push %r13; .cfi_adjust_cfa_offset 8; .cfi_rel_offset r13, 0\n"
    "push %r14; .cfi_adjust_cfa_offset 8; .cfi_rel_offset r14, 0\n"
    "push %r15; .cfi_adjust_cfa_offset 8; .cfi_rel_offset r15, 0\n"
    /* There is one on the stack, too. */
    "sub $24, %rsp; .cfi_adjust_cfa_offset 24\n"
    "lea marks(%rip), %rax; mov %rax, 8(%rsp)\n"
    "lea fake(%rip), %rbx; mov %rbx, (%rsp)\n"
    "mov %rsp, %rbp; mov %rsp, %r12; mov %rbx, %r13; mov %rsp, %r14; mov %rsp, %r15\n"
    "call marks\n"
    "add $24, %rsp; .cfi_adjust_cfa_offset -24\n"
    "pop %r15; .cfi_adjust_cfa_offset -8; .cfi_restore r15\n"
    "pop %r14; .cfi_adjust_cfa_offset -8; .cfi_restore r14\n"
    "pop %r13; .cfi_adjust_cfa_offset -8; .cfi_restore r13\n"
    "pop %r12; .cfi_adjust_cfa_offset -8; .cfi_restore r12\n"
    "pop %rbp; .cfi_adjust_cfa_offset -8; .cfi_restore rbp\n"
    "pop %rbx; .cfi_adjust_cfa_offset -8; .cfi_restore rbx\n"
    "ret");
APART static void fakes(void)
{
    TELL();
    fake[0] = (uint64_t)(uintptr_t)fake;
    fake[1] = (uint64_t)(uintptr_t)marks;
    TELL_WRITTEN("write_fakes");
    write_fakes();
    UNTELL();
    UNTELL();
}

/* ---- a call as the last instruction, followed by another function */

uint64_t kept[6] __attribute__((used));
void write_last(void);
APART void marks_and_leaves(void);
APART void marks_and_leaves(void)
{
    TELL();
    MARK();
    UNTELL();
    /* It may not return: the other one knows how to leave. */
    __asm__ volatile("lea kept(%%rip), %%rax; mov (%%rax), %%rsp; mov -8(%%rsp), %%rbp; mov 8(%%rax), %%rbx\n"
                     "mov 16(%%rax), %%r12; mov 24(%%rax), %%r13; mov 32(%%rax), %%r14\n"
                     "mov 40(%%rax), %%r15; ret" : : : "memory");
    __builtin_unreachable();
}
FUNCTION(write_last,
    "lea kept(%rip), %rax; mov %rsp, (%rax); mov %rbx, 8(%rax); mov %r12, 16(%rax)\n"
    "mov %r13, 24(%rax); mov %r14, 32(%rax); mov %r15, 40(%rax)\n"
    "push %rbp; .cfi_adjust_cfa_offset 8\n"
    "sub $48, %rsp; .cfi_adjust_cfa_offset 48\n"
    "call marks_and_leaves");
void write_behind(void);
__asm__(".text\n.type write_behind, @function\nwrite_behind:\n.cfi_startproc\nret\n.cfi_endproc\n"
        ".size write_behind, 1\n");
APART static void last(void)
{
    TELL();
    TELL_WRITTEN("write_last");
    write_last();
    UNTELL();
    write_behind();
    UNTELL();
}

/* ---- the frame in another register than the stack and frame pointers */

void write_by_r10(volatile struct shape *told);
FUNCTION(write_by_r10,
    "lea 8(%rsp), %r10; .cfi_def_cfa r10, 0\n"
    "and $-64, %rsp\n"
    "sub $64, %rsp\n"
    "mov $0x5bacb0c5, %eax; xor %esi, %esi; int3; nop\n"
    "lea -8(%r10), %rsp; .cfi_def_cfa rsp, 8\n"
    "ret");
APART static void by_register(void)
{
    TELL();
    TELL_WRITTEN("write_by_r10");
    write_by_r10(&shape);
    UNTELL();
    UNTELL();
}

/* ---- the return address in a register, as in vfork() */

void write_popped(volatile struct shape *told);
FUNCTION(write_popped,
    "pop %r11; .cfi_adjust_cfa_offset -8; .cfi_register rip, r11\n"
    "mov $0x5bacb0c5, %eax; xor %esi, %esi; int3; nop\n"
    "push %r11; .cfi_adjust_cfa_offset 8; .cfi_rel_offset rip, 0\n"
    "ret");
APART static void popped(void)
{
    TELL();
    TELL_WRITTEN("write_popped");
    write_popped(&shape);
    UNTELL();
    UNTELL();
}
/* What it calls has used that register for something else: the walk ends there. */
void write_lost(void);
FUNCTION(write_lost,
    "pop %r11; .cfi_adjust_cfa_offset -8; .cfi_register rip, r11\n"
    "mov %r11, kept(%rip)\n"
    "push $0; .cfi_adjust_cfa_offset 8\n"
    "call marks\n"
    "add $8, %rsp; .cfi_adjust_cfa_offset -8\n"
    "push kept(%rip); .cfi_adjust_cfa_offset 8; .cfi_rel_offset rip, 0\n"
    "ret");
#define END_UNSUPPORTED 4
APART static void lost(void)
{
    uint64_t before = tell_anew();

    shape.end = END_UNSUPPORTED;
    TELL_WRITTEN("write_lost");
    write_lost();
    shape.end = 0;
    tell_again(before);
}

/* ---- without a table, but with frame pointers: the walk ends there, and says so */

void write_untold(void);
WITHOUT_TABLE(write_untold, "push %rbx; mov %rsp, %rbx; and $-64, %rsp; call marks; mov %rbx, %rsp; pop %rbx; ret");
#define END_NO_TABLE 3
APART static void no_table(void)
{
    uint64_t before = tell_anew();

    shape.end = END_NO_TABLE;
    TELL_WRITTEN("write_untold");
    write_untold();
    shape.end = 0;
    tell_again(before);
}

/* ---- memory without a file, with frame pointers like a JIT's */

static void *jit(const void *calls)
{
    /* push rbp; mov rbp, rsp; mov rax, calls; call rax; pop rbp; ret */
    static const unsigned char head[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8}, tail[] = {0xff, 0xd0, 0x5d, 0xc3};
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (code == MAP_FAILED)
        abort();
    memcpy(code, head, sizeof(head));
    memcpy(code + sizeof(head), &calls, sizeof(calls));
    memcpy(code + sizeof(head) + sizeof(calls), tail, sizeof(tail));
    return code;
}
static unsigned char *outer_code;
APART static void calls_jit(void)
{
    void *code;
    void (*function)(void);

    TELL();
    void (*const called)(void) = marks;
    memcpy(&code, &called, sizeof(code));
    code = jit(code);
    memcpy(&function, &code, sizeof(function));
    tell(ANY, NULL);
    function();
    UNTELL();
    UNTELL();
}
/* Nested twice: the caller is found by the frame pointer that it saved. */
APART static void jitted(void)
{
    void *code;
    void (*function)(void);
    void (*const called)(void) = calls_jit;

    TELL();
    memcpy(&code, &called, sizeof(code));
    outer_code = jit(code);
    memcpy(&function, &outer_code, sizeof(function));
    /* 16 bytes further, after its call, it continues. */
    tell(ANY, NULL);
    function();
    UNTELL();
    UNTELL();
}

const struct shape_row written_shapes[] = {
    {"fakes", fakes},
    {"last", last},
    {"by_register", by_register},
    {"popped", popped},
    {"lost", lost},
    {"no_table", no_table},
    {"jitted", jitted},
    {NULL, NULL},
};
