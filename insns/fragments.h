/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Building blocks of programs: map lookups, the event's account, a slot to work in, stacks, the
 * caller, and the thread. r0 to r5 are lost, unless said otherwise.
 */
#ifndef STACKBOX_INSNS_FRAGMENTS_H
#define STACKBOX_INSNS_FRAGMENTS_H

#include "insns/capture.h"
#include "insns/layout.h"
#include "insns/machine.h"
#include "insns/program.h"
#include "insns/unwind.h"

/* r0 = the address of the value in `map` whose key is at r10 + key, or 0. */
void emit_look_up(struct program *program, int map, int16_t key);

/*
 * r0 = the address of an array's first value, or only one. Goes to `none` if the lookup fails: it
 * never does, but the verifier demands the test. Uses 4 bytes at r10 + index. (Since 5.2 a single
 * instruction can load the address, which is just as fast.)
 */
void emit_look_up_only(struct program *program, int map, int16_t index, const char *none);

/* map[*(r10 + key)] = *(r10 + value), with these flags; or the key is deleted. */
void emit_update(struct program *program, int map, int16_t key, int16_t value, int32_t flags);
void emit_delete(struct program *program, int map, int16_t key);

/* Clears, or copies by r1, `bytes` (a multiple of 8) at these registers + offsets. */
void emit_zeros(struct program *program, unsigned base, int at, int bytes);
void emit_words(struct program *program, unsigned to, int to_at, unsigned from, int from_at,
                int bytes);

/* The current thread's comm. Some kernels do not write all of its bytes. */
void emit_comm(struct program *program, unsigned base, int at);

/* label: return that value */
void emit_return(struct program *program, const char *label, int32_t value);

/* Names the maps that the capture has, for dumps. */
void name_maps(struct program *program, const struct capture *capture);

/* ---- The account ---- */

/*
 * r9 = this CPU's account of the bank that programs count into. While counting is paused, goes to
 * `paused`. Uses 4 bytes at r10 + index. r0 to r5 are lost.
 */
void emit_load_account(struct program *program, const struct capture *capture, int16_t index,
                       const char *paused);
/* The same at a program's beginning: also names its maps, and r6 = the context. */
void emit_begin(struct program *program, const struct capture *capture, int16_t index,
                const char *paused);

/* Increments this word of the account at r9. r1 is lost. */
#define ACCOUNT(member) XADD_IMM(R9, (int16_t)offsetof(struct account, member), 1)

/*
 * ---- A slot to work in: struct slot in layout.h ----
 *
 * Programs nest if one can run on a CPU before another one has ended there. Programs on user probes
 * can be preempted, and so, since Linux 7.2, can those on system calls' tracepoints: they nest with
 * all other programs of the same run. A program that may nest claims a slot of its own, and notes
 * there when it walks a stack.
 */

/*
 * r8 = a slot of the map `slots` that the program owns from now on; unless `meets`, the first one,
 * which is then always free. If all are in use, increments slots_taken in the account at r9, and
 * goes to "out". Uses 4 bytes at r10 + index.
 */
void emit_claim_slot(struct program *program, int slots, bool meets, int16_t index);

/* r7 = the first slot of this CPU, which has `walker`; goes to `none` if the lookup fails. */
void emit_load_first_slot(struct program *program, int slots, int16_t index, const char *none);

/* Releases the slot at r8. r0 to r5 are lost here as above. */
void emit_release_slot(struct program *program);

/*
 * Ends a program: the labels "filtered", for events that the filter drops, and "out", and then the
 * functions that walk by tables.
 */
void emit_end(struct program *program, const struct capture *capture);

/* ---- Walking a stack: the only place where bytecode gets frames ---- */

/* A word in memory, from a register. */
struct walk_word {
    unsigned base;
    int16_t at;
};

struct stack_walk {
    bool user;      /* the user's stack, otherwise the kernel's */
    uint32_t depth; /* frames, at most */
    int32_t frames; /* where they go, from r8 */
    /*
     * Another program of ours may walk a stack on this CPU before this one has ended. `own` is a
     * nonzero number that no other such program has at that time; `last` is the number of the
     * program that was the last to begin a walk on this CPU. Both are 32 bits.
     */
    bool disturbed;
    struct walk_word own, last;
    const char *walked; /* a label that the program has only once, if disturbed */
    /*
     * Walks by tables first, if possible; NULL: there are none. A walk by tables appends a frame
     * that tells how it ended, if there is room (unwind_layout.h).
     */
    const struct unwind_config *unwind;
    struct unwind_place unwind_place; /* `frames` are those above */
    const char *unwound;              /* another such label */
};

/*
 * r0 = how many bytes of frames there are, or a negative errno. r6 is the context; r1 to r5 are
 * lost. In programs that may nest, every walk must be `disturbed`: others cannot detect it if not.
 */
void emit_walk(struct program *program, const struct stack_walk *walk);

/*
 * ---- A stack, kept in a bank's map ----
 *
 * The fast way is the kernel's get_stackid, whose id is a bucket of a hash table. If another stack
 * has that bucket, or the bucket is not settled yet, the program fetches the whole stack, hashes it
 * to 64 bits, and keeps it in a hash map under that key. Programs that may nest keep every stack
 * this way, and so do those for which a report's time matters more than an event's.
 */

/* Labels that the program has only once. */
struct bank_labels {
    const char *other, *chosen;
};

/* ---- A count in the bank's map ---- */

struct count_labels {
    struct bank_labels first, insert, second;
    const char *found, *uncounted;
};
/* Labels for a program's only count: "found", "uncounted". */
extern const struct count_labels count_labels;

struct count_place {
    const struct capture *capture;
    int16_t index;                    /* 4 free bytes on the stack */
    const struct count_labels *labels;
    unsigned base;                    /* the key is at this register */
    int32_t key;                      /* + this, */
    unsigned new_base;                /* and a new count's value likewise: */
    int32_t new_value;
    int16_t cleared;                  /* so many of its bytes, on the stack, are cleared first, */
    bool late;                        /* or only when its map is known */
};
/*
 * Goes to `found` with r0 = the count, which it inserts if missing. If the map is full, increments
 * table_full in the account, and goes on as `uncounted`.
 */
void emit_find_count(struct program *program, const struct count_place *place);

/*
 * Stores the words (layout.h) of the kernel's and the user's stack at these offsets in the slot; 0:
 * not wanted. r6 is the context, r8 a slot of SLOT_BYTES(depth), r9 the account. If there is no
 * stack, the word is NO_STACK or a negative errno. `meets`: the program may nest with others (see
 * above), so its stacks have no ids, and r7 is the first slot of this CPU.
 */
void emit_stacks(struct program *program, const struct capture *capture, int16_t index, bool meets,
                 int kernel_at, int user_at);

/*
 * ---- The caller ----
 *
 * At a user function's first instruction its frame does not exist yet, and a walk by frame pointers
 * skips the caller. The caller is the return address, which the architecture's calls leave in a
 * register or on the stack. Walks of the kernel's own stack skip the caller, too, if the address is
 * in a register, or if the kernel walks by frame pointers. If the kernel adds that register to each
 * user stack (link_first), those are complete.
 *
 * For places with these KEY_...: emits the machine's emit_load_caller(), or its equivalent for
 * kernel functions. The machine is the kernel's, whatever binary loads the program.
 */
void emit_load_caller(struct program *program, const struct machine *machine, uint32_t flags,
                      int16_t place);

/* ---- A thread, described in a slot's task, and copied to where it is kept ---- */

/* What to record of a thread: anything that is not shown would split equal counts. */
struct task_place {
    bool kernel_stack, user_stack;
    int16_t foreign, index; /* 4 bytes on the stack each; `index` is free */
};

/* Describes no thread, at base + place. */
void emit_no_task(struct program *program, unsigned base, int place);

/* Clears the task of the slot at r8: a thread about which nothing is known yet. */
void emit_clear_task(struct program *program);

/*
 * Describes the current thread in it, whose pid << 32 | tid is in r7. r6 is the context, r9 the
 * account. r0 to r5 are lost.
 */
void emit_task(struct program *program, const struct capture *capture,
               const struct task_place *shown);
/* emit_task()'s two halves: everything but the stacks; and these, for which r7 is not read. */
void emit_who(struct program *program, const struct capture *capture,
              const struct task_place *shown);
void emit_task_stacks(struct program *program, const struct capture *capture,
                      const struct task_place *shown);

/* r0 > 0 for a user thread, which has user frames. The slot's scratch is overwritten. */
void emit_look_for_user(struct program *program);

/* Copies the slot's task to r0 + place. r1 is lost. */
void emit_copy_task(struct program *program, int place);

#endif
