/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks that record themselves, without any unwinder: each function records its name and return
 * address before it makes a call. At a mark (a trap, with the address of these records in a
 * register) tests/tools/unwind_judge.c compares them with what it unwinds.
 */
#ifndef STACKBOX_SHAPE_H
#define STACKBOX_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHAPE_MAGIC 0x5bacb0c5

/*
 * A function and its return address; NULL: not known. The name ANY stands for functions that do not
 * record themselves, such as libc's.
 */
struct told {
    const char *name;
    const void *returns;
};
#define ANY "*"

/* What the judge reads. `end`: how a walk must end, as enum unwind_end; 0: it is whole. */
struct shape {
    uint64_t first, count, end;
    struct told told[512]; /* from `first` on, the outermost first */
};
/*
 * As `end`: the walk is whole, or ends at the start code, which may have no unwind table.
 */
#define SHAPE_BEGINS 255

/* The kinds of marks: a stack to compare, or where single-stepping begins and ends. */
enum {
    SHAPE_CHECK,
    SHAPE_STEP,
    SHAPE_STEPPED,
};

extern volatile struct shape shape;

#define SHAPE_INLINE static inline __attribute__((always_inline, unused))

SHAPE_INLINE void tell(const char *name, const void *returns)
{
    shape.told[shape.count].name = name;
    shape.told[shape.count].returns = returns;
    shape.count = shape.count + 1;
}
/* At the start and the end of a function, so that its last instruction is no call. */
#define TELL() tell(__func__, __builtin_return_address(0))
#define UNTELL() ((void)(shape.count = shape.count - 1))

/* In a signal handler: records the interrupted pc, + 1 as for a return address. */
#define TELL_INTERRUPTED(context) \
    tell(ANY, (void *)(((ucontext_t *)(context))->uc_mcontext.gregs[REG_RIP] + 1))

SHAPE_INLINE void mark_as(uint64_t what)
{
    __asm__ volatile("int3; nop" : : "a"(SHAPE_MAGIC), "D"(&shape), "S"(what) : "memory");
}
#define MARK() mark_as(SHAPE_CHECK)
/* Everything between them is single-stepped. Both must be in one function. */
#define STEP() mark_as(SHAPE_STEP)
#define STEPPED() mark_as(SHAPE_STEPPED)

/* Begins the records of a new stack, such as another thread's. tell_again() takes the result. */
SHAPE_INLINE uint64_t tell_anew(void)
{
    uint64_t before = shape.first;

    shape.first = shape.count;
    return before;
}
SHAPE_INLINE void tell_again(uint64_t before)
{
    shape.count = shape.first;
    shape.first = before;
}

/* A function that is not inlined or merged. */
#if defined(__clang__)
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone, noipa))
#endif

struct shape_row {
    const char *name;
    void (*run)(void);
};
/* NULL at their ends */
extern const struct shape_row frame_shapes[], written_shapes[], signal_shapes[], thread_shapes[];
extern const struct shape_row callback_shapes[], cxx_shapes[], stepped_shapes[];

/* So that a compiler cannot know the value. */
extern volatile int shape_zero, shape_one;
extern void *volatile shape_escape;

#ifdef __cplusplus
}
#endif
#endif
