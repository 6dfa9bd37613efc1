/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What programs are made of: looking up, the event's account, a slot to work in, stacks, the
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
 * r0 = the address of an array's only value; goes to `none` if there is none, which only the
 * verifier thinks possible. Uses 4 bytes at r10 + index. (Since 5.2 a single instruction loads the
 * address, which is just as fast.)
 */
void emit_look_up_only(struct program *program, int map, int16_t index, const char *none);

/* map[*(r10 + key)] = *(r10 + value), with these flags; or no longer has that key. */
void emit_update(struct program *program, int map, int16_t key, int16_t value, int32_t flags);
void emit_delete(struct program *program, int map, int16_t key);

/* Zeros, and words from one place to another, by r1: `bytes`, at registers + these. */
void emit_zeros(struct program *program, unsigned base, int at, int bytes);
void emit_words(struct program *program, unsigned to, int to_at, unsigned from, int from_at,
                int bytes);

/* The current thread's name. Not every kernel fills all of it. */
void emit_comm(struct program *program, unsigned base, int at);

/* label: return that value */
void emit_return(struct program *program, const char *label, int32_t value);

/* All maps of the capture that there are get their names in dumps. */
void name_maps(struct program *program, const struct capture *capture);

/* ---- The account ---- */

/*
 * r9 = this CPU's account of the bank that events are counted into. If they are not counted now,
 * the program goes on at `paused`. Uses 4 bytes at r10 + index. r0 to r5 are lost.
 */
void emit_load_account(struct program *program, const struct capture *capture, int16_t index,
                       const char *paused);
/* The same where a program begins: r6 = the context, and its maps have names. */
void emit_begin(struct program *program, const struct capture *capture, int16_t index,
                const char *paused);

/* Increments this word of the account at r9. r1 is lost. */
#define emit_account(program, member) \
    emit_account_word(program, (int16_t)offsetof(struct account, member))
void emit_account_word(struct program *program, int16_t offset);

/*
 * ---- A slot to work in: struct slot in layout.h ----
 *
 * Programs nest if one of them may run on a CPU before another has ended there: those on user
 * probes, which can be preempted, and with them all others in the same run; likewise, since Linux
 * 7.2, those on system calls' tracepoints. Each that may nest with another claims a slot of its
 * own, and notes there when it walks a stack.
 */

/*
 * r8 = a slot of our own, in that map; if the program does not meet others, the first, which is
 * always free. If none is free, counts that in the account at r9, and goes to "out". Uses 4 bytes
 * at r10 + index.
 */
void emit_claim_slot(struct program *program, int slots, bool meets, int16_t index);

/*
 * r7 = the first slot of this CPU, where programs that nest leave notes; goes to `none` without
 * one.
 */
void emit_load_first_slot(struct program *program, int slots, int16_t index, const char *none);

/* Releases the slot at r8. r0 to r5 are lost here as above. */
void emit_release_slot(struct program *program);

/*
 * The end of a program for an event: "filtered", for events that were not asked for, and "out", with
 * the functions that walk by tables.
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
     * Another program of ours may walk on this CPU before this one has ended. `own` is a number,
     * not 0, that no other such program has at that time; `last` is the number of the one that last
     * began to walk, on this CPU and among all of them. Both are 32 bits.
     */
    bool disturbed;
    struct walk_word own, last;
    const char *walked; /* a label that the program has only once, if disturbed */
    /*
     * By tables first, if possible; NULL: there are none. A walk by tables has a frame for its end
     * after the frames, if there is room (unwind_layout.h).
     */
    const struct unwind_config *unwind;
    struct unwind_place unwind_place; /* `frames` are those above */
    const char *unwound;              /* another such label */
};

/*
 * r0 = how many bytes of frames there are, or a negative errno. r6 is the context; r1 to r5 are
 * lost. Every walk in programs that may nest must be `disturbed`: otherwise it leaves no trace.
 */
void emit_walk(struct program *program, const struct stack_walk *walk);

/*
 * ---- A stack, kept in a bank's map ----
 *
 * The fast way is the kernel's: get_stackid, whose id is a bucket of a hash. If another stack has
 * that bucket, or it is not certain yet whose it is, the stack is fetched whole, hashed here with
 * 64 bits, and kept in a hash map under that. Programs that may nest keep every stack this way, and
 * so do those for which a report's time matters more than an event's.
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
/* Of the only count in a program: "found", "uncounted". */
extern const struct count_labels count_labels;

struct count_place {
    const struct capture *capture;
    int16_t index;                    /* 4 free bytes on the stack */
    const struct count_labels *labels;
    unsigned base;                    /* the key is at this register */
    int32_t key;                      /* + this, */
    unsigned new_base;                /* and a new count's value likewise, */
    int32_t new_value;
    int16_t cleared;                  /* of which so many bytes are cleared first, on the stack, */
    bool late;                        /* or only when its map is known */
};
/*
 * Goes to `found` with r0 = the count, made if it is not there; without room counts that in the
 * account, and goes on as `uncounted`.
 */
void emit_find_count(struct program *program, const struct count_place *place);

/*
 * The kernel's stack and the user's: their words go to these places in the slot (layout.h); 0: it
 * is not wanted. r6 is the context, r8 a slot of SLOT_BYTES(depth), r9 the account. If there is no
 * stack, the word is NO_STACK or a negative errno. `meets`: the program may nest with others (see
 * above), so its stacks have no ids, and r7 is the first slot of this CPU.
 */
void emit_stacks(struct program *program, const struct capture *capture, int16_t index, bool meets,
                 int kernel_at, int user_at);

/*
 * ---- The caller ----
 *
 * At a user function's first instruction its frame is not made yet, and a walk by frame pointers
 * goes from the function straight to its caller's caller. The caller is where the function would
 * return to, which at that moment is where the architecture says. If that is a register, or if the
 * kernel itself walks by frame pointers, the same is true of the kernel's own functions. If the
 * kernel adds that register to each user stack (link_first), nothing needs to be added to these.
 *
 * For places with these KEY_...: the machine's emit_load_caller(), or its equivalent for kernel
 * functions. The machine is the kernel's, whatever binary loads the program.
 */
void emit_load_caller(struct program *program, const struct machine *machine, uint32_t flags,
                      int16_t place);

/* ---- A thread, described in a slot's task, and copied to where it is kept ---- */

/* What is shown of a thread: anything more would keep equal counts apart. */
struct task_place {
    bool kernel_stack, user_stack;
    int16_t foreign, index; /* 4 bytes on the stack each; `index` is free */
};

/* No thread, at `place` from a register. */
void emit_no_task(struct program *program, unsigned base, int place);

/* Clears the task of the slot at r8: a thread about which nothing is known yet. */
void emit_clear_task(struct program *program);

/*
 * Makes it the current thread, whose numbers are in r7: pid << 32 | tid. r6 is the context, r9 the
 * control word. r0 to r5 are lost.
 */
void emit_task(struct program *program, const struct capture *capture,
               const struct task_place *shown);
/* Its two halves: everything but the stacks, and these. r7 is not read for the latter. */
void emit_who(struct program *program, const struct capture *capture,
              const struct task_place *shown);
void emit_task_stacks(struct program *program, const struct capture *capture,
                      const struct task_place *shown);

/* r0 = above 0 for a user thread: it has frames there. The slot's scratch is overwritten. */
void emit_look_for_user(struct program *program);

/* Copies the slot's task to r0 + place. r1 is lost. */
void emit_copy_task(struct program *program, int place);

#endif
