/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The structs that BPF programs and C share, with their sizes asserted. */
#ifndef STACKBOX_INSNS_LAYOUT_H
#define STACKBOX_INSNS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define COMM_BYTES 16 /* the kernel's TASK_COMM_LEN: 15 bytes and a NUL */

/* The only word of the control map: which bank programs count into. */
enum control_mode {
    CONTROL_PAUSED = 0,
    CONTROL_MAIN = 1,
    CONTROL_STAND_IN = 2,
    CONTROL_GROWN = 3, /* a larger main bank */
    CONTROL_MODES,
};

/*
 * The key of a count. A stack is a word: its id in the map that get_stackid fills (32 bits), or
 * with STACK_SPILLED the key of a stack under its own hash, or a negative errno - the kernel's,
 * -ENOMEM if there was no room to keep it, NO_STACK if none was asked for.
 */
struct count_key {
    int64_t kernel_stack;
    int64_t user_stack;
    uint64_t generation;   /* which life of the pid: 0, or from the maps of lives */
    uint64_t caller; /* at a function's start: its return address, if needed; else 0 */
    uint32_t pid;
    uint32_t flags;  /* and above KEY_TID_SHIFT the tid, if threads are told apart */
    char comm[16];
};
_Static_assert(sizeof(struct count_key) == 56, "a hash key must hold no padding");
_Static_assert(offsetof(struct count_key, comm) % 8 == 0, "cleared by two aligned stores");

/* Bits of count_key.flags, task.flags and an event's flags: distinct, and below KEY_TID_SHIFT. */
enum count_flags {
    KEY_FOREIGN = 1,      /* pid is the host's number, the process is outside our pid namespace */
    KEY_USER_PROBE = 2,   /* the event came from user code: it does have a user stack */
    KEY_NO_CALLER = 4,    /* the kernel's walk from this place never finds the caller */
    KEY_MARK = 8,         /* the place begins with endbr64, if that matters */
    TASK_SEEN = 16,      /* the task is filled in: that of a new entry is not */
    TASK_UNWANTED = 32,  /* the filter dropped this thread when it left its CPU */
    KEY_KERNEL_START = 64, /* `caller` is a kernel function's: see store/store.h */
    KEY_TRACEPOINT = 128,
    TASK_SAMPLE = 256,   /* the stacks are a sample's */
};

/*
 * A question to the kernel about its symbols, and the kernel's answer: the text of an address,
 * "vfs_read+0x1b/0x2f0 [module]", or the address of a name.
 */
#define KERNEL_SYMBOL_BYTES 640 /* the kernel's KSYM_SYMBOL_LEN, and a few */
#define KERNEL_NAME_MASK 511    /* names are shorter than its KSYM_NAME_LEN */
struct kernel_symbol {
    uint64_t address; /* 0: no symbol has that name */
    uint32_t length;  /* of a name, with its NUL; 0: the question is about an address */
    uint32_t unused;
    char text[KERNEL_SYMBOL_BYTES];
};
_Static_assert(offsetof(struct kernel_symbol, text) == 16, "no padding");

/* A count's value if a value of its events is summed up; otherwise it is only their number. */
struct summed {
    uint64_t events;
    uint64_t sum;
};

/* No kernel has more than 2^22 pids (PID_MAX_LIMIT), which fits into the rest of 32 bits. */
#define KEY_TID_SHIFT 10

#define NO_STACK (-1) /* -EPERM, which get_stackid never returns */
#define STACK_SPILLED (1LL << 62)
#define STACK_SHALLOW (1LL << 61) /* in addition: it is in the map of shallow stacks */

/*
 * The maps of a bank. Programs have those of the first main bank built in, and find the others in
 * maps of maps, by the word of the control map: the tracer makes these when needed, and can replace
 * them by larger ones. Most stacks are shallow, and room for many of these takes little.
 */
enum bank_map {
    BANK_COUNTS,
    BANK_SHALLOW, /* stacks by the hash of their frames */
    BANK_DEEP,    /* likewise: deeper ones, or all */
    BANK_MAPS,
};
#define SHALLOW_DEPTH 32

/* A stack in the map by the hash of its frames. */
struct spilled_stack {
    uint64_t bytes; /* of frames, 8 each */
    uint64_t frames[];
};
/* Programs hash this many frames at a time; the last group may reach past the deepest stack. */
#define FRAMES_AT_A_TIME 4
#define SPILLED_STACK_BYTES(depth) \
    (sizeof(struct spilled_stack) + ((size_t)(depth) + FRAMES_AT_A_TIME - 1) * sizeof(uint64_t))
_Static_assert(offsetof(struct spilled_stack, frames) == 8, "no padding");

/* A thread at one moment: as it leaves a CPU, or as it wakes another. Stacks as in a count_key. */
struct task_stacks {
    int64_t kernel_stack;
    int64_t user_stack;
    uint64_t generation;
    uint32_t pid;
    uint32_t tid;
    uint32_t flags; /* KEY_FOREIGN, PARTY_... */
    uint32_t unused; /* 0: a hash key must not have padding */
    char comm[16];
};
_Static_assert(sizeof(struct task_stacks) == 56, "a hash key must hold no padding");
_Static_assert(sizeof(struct task_stacks) == sizeof(struct count_key), "they share a slot's room");
_Static_assert(offsetof(struct task_stacks, comm) % 8 == 0, "cleared by two aligned stores");

/*
 * An entry of the map of waits, by the host's tid: made when its thread is first seen, and removed
 * with it. The two tasks, or only the target, are the key of a count.
 */
struct wait {
    uint64_t since; /* CLOCK_MONOTONIC; 0: it is not waiting */
    uint32_t tid;   /* as in `target`; 0 until that is filled in */
    uint32_t woken; /* the waker came after `since`; 0: it may have found the thread running */
    struct task_stacks target;
    /* if wakers are asked for; otherwise the map's values end before it */
    struct task_stacks waker;
};
_Static_assert(offsetof(struct wait, waker) == 72, "a hash key must hold no padding");
_Static_assert(sizeof(struct wait) == 128, "a hash key must hold no padding");

/* A thread's states: where all of its time goes. */
enum wall_part {
    WALL_RUNNING, /* in a stretch that no sample has hit */
    WALL_SAMPLED, /* running, in a stretch that was hit */
    WALL_RUNNABLE,
    WALL_BLOCKED,
    WALL_PARTS,
    WALL_UNKNOWN = WALL_PARTS, /* until the thread's first event, which tells the state */
};

/*
 * An entry of the same map for walltime, made at its thread's first event. The key is the address
 * of the task_struct, as a thread can lose its numbers before it leaves its CPU for the last time;
 * at tracefs' tracepoints it is the tid.
 */
struct wall {
    uint64_t since; /* in its state */
    uint32_t tid;   /* the host's, and then as in `target` */
    uint32_t part;
    struct task_stacks target; /* flags 0: unknown yet */
    uint64_t spent[WALL_PARTS]; /* ns that are in no count yet */
    uint64_t left;  /* when it last left a CPU; 0: not seen */
    uint64_t first; /* when counting its time began */
};
_Static_assert(sizeof(struct wall) == 120, "copied word by word");
_Static_assert(offsetof(struct wall, target) == offsetof(struct wait, target),
               "fragments know both");

/* The value of a count of walltime. */
struct walled {
    uint64_t spent[WALL_PARTS];
    uint64_t events; /* switches off a CPU and back, renames, and samples */
};
_Static_assert(offsetof(struct walled, events) ==
               offsetof(struct wall, left) - offsetof(struct wall, spent), "added up word by word");

/* The value of a count of waits. */
struct blocked {
    uint64_t nanoseconds;
    uint64_t waits;
    uint64_t longest; /* ns, of a single one; if not asked for, the map's values end here */
};

/*
 * A program's working memory: the BPF stack is too small, and some kernels were seen to overwrite
 * it beyond 48 bytes in programs on user probes. Some programs can be preempted while another one
 * runs on their CPU (fragments.h), so each CPU has several slots; a program claims one by being its
 * only user.
 */
struct slot {
    uint64_t users;
    uint64_t zero;   /* the value of a new count */
    uint32_t number; /* of the slot, from 1 */
    uint32_t walker; /* in the first: the slot of the program that last began a stack walk */
    union {
        struct count_key key;
        struct task_stacks task; /* for programs that see waits */
    };
    struct spilled_stack spilled;
};
#define SLOTS_PER_CPU 8
#define SLOT_BYTES(depth) (offsetof(struct slot, spilled) + SPILLED_STACK_BYTES(depth))
_Static_assert(offsetof(struct slot, spilled) == 80, "no padding");

/* The largest per-CPU value of a map that the kernel allocates; it limits a slot's frames. */
#define MOST_CPU_VALUE_BYTES 32768
#define MOST_DEPTH ((MOST_CPU_VALUE_BYTES - SLOT_BYTES(0)) / sizeof(uint64_t))
_Static_assert(SLOT_BYTES(MOST_DEPTH) <= MOST_CPU_VALUE_BYTES, "a slot fits");

/*
 * The maps of lives, by the pid in our pid namespace: one holds the time (CLOCK_MONOTONIC) of a
 * living process's last exec, made even; the other, an LRU hash, the time of the exit of the last
 * process that had the pid, made odd.
 */
#define LIFE_ENDED 1
/* Set in an event's word: the event is of the process that had the pid at that time. */
#define LIFE_THEN_BIT 63

struct life_account {
    uint64_t ends;        /* processes that ended */
    uint64_t living_full; /* execs for which there was no room among live processes */
};

/*
 * The map of followed tasks: one value, with a byte per host tid. A command is held from its fork
 * to its exec: until then it runs the tracer's code.
 */
enum followed_state {
    TASK_NOT_FOLLOWED,
    TASK_HELD,
    TASK_FOLLOWED,
};

/*
 * The map of the processes and threads asked for: by number, in the caller's pid namespace. When
 * the kernel gives a number to a new task, it is removed.
 */
enum asked_for {
    ASKED_PROCESS = 1,
    ASKED_THREAD = 2,
    /* a thread other than the leader called exec, and is the leader now */
    ASKED_OTHER = 4,
};

/*
 * The map of the tracer's own processes: one value, with their pids in the caller's pid namespace,
 * 32 bits each.
 */
enum own_process {
    OWN_TRACER,
    OWN_OPENER, /* and readers, while they are working; by role: see src/sandbox/sandbox.h */
    OWN_READER,
    OWN_ASIDE,
    OWN_TRIAL,
    OWN_PROCESSES,
};
#define OWN_NONE UINT32_MAX /* 0 is the idle tasks' */

/*
 * What became of the events that programs saw: a per-CPU value for each bank, by the word of the
 * control map. It is exact once no program writes to it any more: each event seen is in the table,
 * was filtered, or is lost. For offcputime and the like an event is a thread that blocks, which may
 * also be pending while the thread waits.
 */
struct account {
    uint64_t bank; /* the word itself, so that it can be read from the account */
    uint64_t seen;
    uint64_t filtered; /* not asked for */
    /* Lost: */
    uint64_t table_full;  /* no room for a new count; or in the buffer of records */
    uint64_t slots_taken;
    uint64_t waits_full;  /* waits for which there was no room in the map of waits */
    uint64_t ends_unseen; /* waits whose thread left a CPU again: the switch to it was not seen */
    /* And in addition: */
    uint64_t table_full_ns; /* the total of waits in table_full; or of their values */
    uint64_t wakes_full;    /* wakers for which there was no room in the map of waits */
    uint64_t inserted;      /* counts that were new in their table */
    uint64_t stacks_kept;   /* stacks that were new by their own hash, */
    uint64_t deep_kept;     /* and those of them that are not shallow */
    uint64_t walker;        /* in a snoop: the thread that last began a stack walk */
    uint64_t negative;      /* events left out of the sum, as their values are below 0 */
    uint64_t sum_high;      /* of the values in the sum: the total of their upper 32 bits */
    uint64_t unfit;         /* waits among the filtered that were too short or too long */
    uint64_t nested;        /* returns that the kernel does not trace (nested.c): not in `seen` */
};
#define ACCOUNT_WORDS (sizeof(struct account) / sizeof(uint64_t))
#define ACCOUNTS CONTROL_MODES /* that of PAUSED is never used */

/*
 * The maps of the unrolled walk (unrolled.c) are arrays, as its kernels have few other types: the
 * word of the control map, which is CONTROL_PAUSED or the number of a bank; a scratch per CPU and
 * bank; and buckets, the first bank's and then the second's, which hold a stack, found by its hash,
 * and its count.
 */
#define WALK_BANKS 2

struct walked {
    uint32_t pid, tid;
    char comm[16];
    uint32_t kernel_frames, user_frames;
    uint64_t frames[]; /* the kernel's, and the user's after room for the deepest of those */
};
_Static_assert(offsetof(struct walked, frames) == 32, "copied by words");

struct walk_scratch {
    struct account account;
    struct walked walked;
};

struct walk_bucket {
    uint64_t claims; /* 0: free. The program that makes it 1 fills it */
    uint64_t hash;
    uint64_t count;
    uint64_t time;   /* of its first event (CLOCK_MONOTONIC), if it has a user stack */
    struct walked walked;
};
#define WALK_SCRATCH_BYTES(frames) \
    (sizeof(struct walk_scratch) + (size_t)(frames) * sizeof(uint64_t))
#define WALK_BUCKET_BYTES(frames) (sizeof(struct walk_bucket) + (size_t)(frames) * sizeof(uint64_t))

/*
 * The map of settled buckets: one value, with a byte per bucket of the map that get_stackid fills.
 * A bucket's id is settled once no program can still have seen it empty: see stacks.c.
 */
enum bucket_state {
    BUCKET_UNKNOWN,
    BUCKET_FILLED,   /* a program got its id: it is no longer empty */
    BUCKET_WATCHED,  /* and the tracer has noticed */
    BUCKET_SETTLED,  /* all programs running then have ended */
};

/*
 * An event with its stacks, for stacksnoop. The array begins with the kernel's frames; the user's
 * begin where the deepest kernel stack would end, if there are kernel stacks at all.
 */
struct snoop_record {
    uint64_t time;         /* CLOCK_MONOTONIC, taken after reserving the record */
    uint64_t generation, caller; /* as in a count_key */
    uint32_t pid, tid;
    uint32_t cpu, flags;   /* KEY_... */
    uint32_t place;        /* which of the traced places was hit */
    uint32_t walker;       /* the host's tid */
    int32_t kernel_bytes, user_bytes; /* of frames, or a negative errno */
    char comm[16];
    uint64_t frames[];
};
_Static_assert(offsetof(struct snoop_record, frames) == 72, "no padding");

#define SNOOP_RECORD_BYTES(stacks, depth) \
    (offsetof(struct snoop_record, frames) + (size_t)(stacks) * (depth) * sizeof(uint64_t))

/* Where a record for a perf buffer is prepared: it begins like struct slot. */
struct snoop_slot {
    uint64_t users, unused;
    uint32_t number, unused_too;
    struct snoop_record record;
};
#define SNOOP_SLOT_BYTES(stacks, depth) \
    (offsetof(struct snoop_slot, record) + SNOOP_RECORD_BYTES(stacks, depth))
_Static_assert(offsetof(struct snoop_slot, users) == offsetof(struct slot, users) &&
               offsetof(struct snoop_slot, number) == offsetof(struct slot, number) &&
               offsetof(struct snoop_slot, record) == 24, "claimed alike");

#endif
