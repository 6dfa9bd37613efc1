/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Golden dumps: each program of the table below, dumped, is tests/golden/NAME.txt to the byte; or,
 * for the variant of another program, that file tells how the two dumps differ:
 *
 *     count-cpu, but:
 *     @@ name_asked_for:     the label above
 *      r9 = r0               in both
 *     -r8 = 0                in count-cpu alone
 *     +r8 = 1                in this one alone
 *     = 1d2e3f40             the checksum of the whole dump
 *
 *     golden [--update] [TESTS]      TESTS: the directory tests, else $TESTS, else "tests"
 *
 * --update writes the files anew. What it changed must then be read by eye, instruction by
 * instruction, as the program's listing was: an unread golden file proves nothing.
 *
 * Each program states the oldest kernel that it is for, and lint.h enforces that, also for what kernels
 * before 5.5 get for the same config.
 */
#include "unit/test.h"

#include <fcntl.h>

#include "base/checksum.h"
#include "base/reading.h"
#include "insns/fragments.h"
#include "insns/layout.h"
#include "insns/program.h"
#include "insns/programs.h"
#include "machine/machine.h"
#include "unit/lint.h"

#define FD_COUNTS 3 /* arbitrary: nothing is loaded, and the dump shows the names */
#define FD_BANKS  4

/* stackcount's names, which it gives them itself. */
enum {
    FD_CONTROL = 10, FD_ACCOUNT, FD_SLOTS, FD_LIVING, FD_ENDED, FD_LIFE_ACCOUNT, FD_CGROUP, FD_FOLLOWED, FD_OWN,
    FD_IDS, FD_SETTLED, FD_COUNTS_MAP, FD_SHALLOW, FD_DEEP, FD_OTHER_COUNTS, FD_OTHER_SHALLOW,
    FD_OTHER_DEEP,
    FD_BUFFER, FD_WAITS, FD_CUTS, FD_RESTS, FD_WALKS, FD_OBJECTS, FD_CHUNKS, FD_RULES, FD_COLD, FD_SCRATCHES, FD_BUCKETS,
    FD_ASKED, FD_SYMBOL, FD_FORMAT,
};

/* ---- One program for each family ---- */

/* r0 = a 64-bit mix of the pid and tgid, by shifts, multiplications and divisions. */
static void build_arithmetic(struct program *program, const void *config)
{
    (void)config;
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        MOV_REG(R1, R0),
        RSH_IMM(R1, 32),                            /* r1 = tgid */
        MOV32_REG(R2, R0),                          /* w2 = pid, with the upper half cleared */
        LD_IMM64(R3, 0x9e3779b97f4a7c15),
        MUL_REG(R1, R3),
        XOR_REG(R1, R2),
        LSH_IMM(R2, 5),
        ADD_REG(R1, R2),
        ADD_IMM(R1, -7),
        SUB_REG(R1, R2),
        AND_IMM(R1, 0xffff),
        OR_IMM(R1, 1),
        MOV_REG(R0, R1),
        ARSH_IMM(R0, 3),
        NEG(R0),
        DIV_REG(R0, R1),
        MOD_IMM(R0, 1000),
        EXIT());
}

static void build_arithmetic32(struct program *program, const void *config)
{
    (void)config;
    EMIT(program,
        MOV32_IMM(R0, -1),
        ADD32_REG(R0, R0),
        SUB32_IMM(R0, 16),
        MUL32_REG(R0, R0),
        DIV32_IMM(R0, 10),
        MOD32_IMM(R0, 10),
        OR32_IMM(R0, 0x40),
        AND32_IMM(R0, -8),
        XOR32_REG(R0, R0),
        LSH32_IMM(R0, 4),
        RSH32_REG(R0, R0),
        ARSH32_IMM(R0, 31),
        NEG32(R0),
        EXIT());
}

static void build_byte_order(struct program *program, const void *config)
{
    (void)config;
    EMIT(program,
        LDX(H, R0, R1, 2),
        TO_BE(16, R0),
        TO_LE(32, R0),
        EXIT());
}

/* Fields of the context, wide and narrow, to the stack and back. */
static void build_memory(struct program *program, const void *config)
{
    (void)config;
    EMIT(program,
        LDX(DW, R2, R1, 0),
        LDX(W, R3, R1, 8),
        LDX(H, R4, R1, 12),
        LDX(B, R5, R1, 14),
        STX(DW, R10, -8, R2),
        STX(W, R10, -12, R3),
        STX(H, R10, -14, R4),
        STX(B, R10, -15, R5),
        ST(B, R10, -16, 0),
        ST(DW, R10, -24, -1),
        LDX(DW, R0, R10, -16),
        EXIT());
}

/* Claims one of a CPU's slots, counts in it, and gives it back. */
static void build_atomics(struct program *program, const void *config)
{
    (void)config;
    EMIT(program,
        LOAD_MAP_VALUE(R6, FD_BANKS, 16),
        MOV_IMM(R1, 1),
        XADD(DW, R6, 0, R1),
        LDX(DW, R2, R6, 0),
        JNE_IMM(R2, 1, "taken"),
        MOV_IMM(R0, 0),
    LABEL("taken"),
        MOV_IMM(R1, -1),
        XADD(DW, R6, 0, R1),
        MOV_IMM(R0, 0),
        EXIT());
}

/* Every condition, forward, back, and two names for one place. */
static void build_jumps(struct program *program, const void *config)
{
    (void)config;
    EMIT(program,
        MOV_IMM(R0, 10),
    LABEL("again"),
        JEQ_IMM(R0, 0, "out"),
        JNE_REG(R0, R1, "next"),
        JGT_IMM(R0, 5, "next"),
        JGE_IMM(R0, 5, "next"),
        JLT_REG(R0, R1, "next"),
        JLE_REG(R0, R1, "next"),
        JSGT_IMM(R0, -5, "next"),
        JSGE_IMM(R0, -5, "next"),
        JSLT_IMM(R0, -5, "next"),
        JSLE_IMM(R0, -5, "next"),
        JSET_IMM(R0, 0x80, "out"),
        JEQ32_IMM(R0, 0, "out"),
        JSET32_REG(R0, R1, "end"),
        JA("next"),
        MOV_IMM(R0, 1),
    LABEL("next"),
        SUB_IMM(R0, 1),
        JA("again"),
    LABEL("out"),
    LABEL("end"),
        EXIT());
}

/*
 * count = lookup(counts, key on the stack);
 * if (count) (*count)++; else update(counts, key, 1, BPF_NOEXIST);
 */
static void build_calls(struct program *program, const void *config)
{
    (void)config;
    EMIT(program,
        ST(DW, R10, -8, 0),                         /* the key */
        LOAD_MAP(R1, FD_COUNTS),
        MOV_REG(R2, R10),
        ADD_IMM(R2, -8),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, "insert"),
        MOV_IMM(R1, 1),
        XADD(DW, R0, 0, R1),
        JA("out"),
    LABEL("insert"),
        ST(DW, R10, -16, 1),
        LOAD_MAP(R1, FD_COUNTS),
        MOV_REG(R2, R10),
        ADD_IMM(R2, -8),
        MOV_REG(R3, R10),
        ADD_IMM(R3, -16),
        MOV_IMM(R4, BPF_NOEXIST),
        CALL(BPF_FUNC_map_update_elem),
        CALL_LABEL("zero"),
    LABEL("out"),
        MOV_IMM(R0, 0),
        EXIT(),
    LABEL("zero"),
        MOV_IMM(R0, 0),
        EXIT());
}

/* ---- The program of stackcount and profile, with and without each of its parts ---- */

static const uint32_t some_pids[] = {42, 4711}, some_tids[] = {43};

#define BANKS {{FD_COUNTS_MAP, FD_SHALLOW, FD_DEEP}, \
               {FD_OTHER_COUNTS, FD_OTHER_SHALLOW, FD_OTHER_DEEP}, SHALLOW_DEPTH, false}

#define LIVES {FD_LIVING, FD_ENDED, FD_LIFE_ACCOUNT}
#define MAPS .depth = 127, .control = FD_CONTROL, .account = FD_ACCOUNT, .slots = FD_SLOTS,   \
             .lifetimes = LIVES,                                                                   \
             .ids = {FD_IDS, FD_SETTLED, 4096}, .banks = BANKS
#define ALL_EVENTS .cpu = -1
#define ANY_EVENT .filter = {ALL_EVENTS}
#define KERNEL_STACK .kernel_stack = true
#define USER_STACK .user_stack = true
#define BOTH_STACKS KERNEL_STACK, USER_STACK
#define PER_PROCESS .per_process = true
#define OF_PIDS    .asked = FD_ASKED, .pids = some_pids, .pid_count = 2
#define OF_TIDS    .tids = some_tids, .tid_count = 1
#define FOLLOWED   .followed = FD_FOLLOWED, .followed_size = 32768
#define NAMESPACE  .in_namespace = true, .namespace_device = 4, .namespace_inode = 0xf0000123

/* Of Linux 6.12, in a namespace right below the initial one. */
static const struct pid_fields some_fields = {
    .task_pid = 2552, .task_signal = 3056, .signal_pid = 432, .pid_level = 4, .pid_number = 128, .pid_space = 136,
    .space_inode = 120, .level = 1, .inode = 0xf0000123};

static const struct capture count_kernel = {ANY_EVENT, KERNEL_STACK, MAPS};
static const struct capture count_kernel_process = {ANY_EVENT, KERNEL_STACK, PER_PROCESS, MAPS};
static const struct capture count_user = {ANY_EVENT, USER_STACK, PER_PROCESS, MAPS};
static const struct capture count_both = {ANY_EVENT, BOTH_STACKS, PER_PROCESS, MAPS};
static const struct capture count_thread = {ANY_EVENT, KERNEL_STACK, PER_PROCESS, .per_thread = true, MAPS};
static const struct capture count_cpu = {.filter = {.cpu = 3}, KERNEL_STACK, MAPS};
/* As before 5.3, with stacks short enough to read the dump. */
static const struct capture count_unrolled = {
    ANY_EVENT, KERNEL_STACK, .depth = 9, .control = FD_CONTROL, .account = FD_ACCOUNT, .slots = FD_SLOTS,
    .lifetimes = LIVES,
    .banks = {{FD_COUNTS_MAP, FD_SHALLOW, FD_DEEP}, {FD_OTHER_COUNTS, FD_OTHER_SHALLOW, FD_OTHER_DEEP},
              .unrolls = true}};
static const struct capture count_cgroup = {.filter = {ALL_EVENTS, .cgroup = FD_CGROUP}, KERNEL_STACK, MAPS};
static const struct capture count_followed = {.filter = {ALL_EVENTS, FOLLOWED}, KERNEL_STACK, MAPS};
static const struct capture count_followed_pids = {
    .filter = {ALL_EVENTS, FOLLOWED, OF_PIDS}, KERNEL_STACK, MAPS};
static const struct capture count_followed_pids_namespace = {
    .filter = {ALL_EVENTS, FOLLOWED, OF_PIDS, NAMESPACE}, KERNEL_STACK, MAPS};
static const struct capture count_own = {.filter = {ALL_EVENTS, .own = FD_OWN}, KERNEL_STACK, MAPS};
static const struct capture count_own_namespace = {
    .filter = {ALL_EVENTS, NAMESPACE, .own = FD_OWN}, KERNEL_STACK, PER_PROCESS, MAPS};
static const struct capture count_pids = {.filter = {ALL_EVENTS, OF_PIDS}, KERNEL_STACK, MAPS};
static const struct capture count_tids = {
    .filter = {ALL_EVENTS, .asked = FD_ASKED, OF_TIDS}, KERNEL_STACK, MAPS};
static const struct capture count_namespace = {
    .filter = {ALL_EVENTS, NAMESPACE}, USER_STACK, PER_PROCESS, MAPS};
static const struct capture count_namespace_pids = {
    .filter = {ALL_EVENTS, NAMESPACE, OF_PIDS}, KERNEL_STACK, MAPS};
static const struct capture count_below = {
    .filter = {ALL_EVENTS, NAMESPACE, .numbers = &some_fields}, USER_STACK, PER_PROCESS, MAPS};
static const struct capture count_below_pids = {
    .filter = {ALL_EVENTS, NAMESPACE, .numbers = &some_fields, OF_PIDS}, KERNEL_STACK, MAPS};
static const struct capture count_everything = {
    .filter = {.cpu = 3, NAMESPACE, OF_PIDS, OF_TIDS}, BOTH_STACKS, PER_PROCESS, MAPS};
static const char some_names[][COMM_BYTES] = {"cc1", "a-name-of-15-by"};
static const uint32_t some_users[] = {1000, 4294967294};
#define OF_NAMES .comms = some_names, .comm_count = 2
#define OF_USERS .uids = some_users, .uid_count = 2
static const struct capture count_names = {.filter = {ALL_EVENTS, OF_NAMES}, KERNEL_STACK, MAPS};
static const struct capture count_users = {.filter = {ALL_EVENTS, OF_USERS}, KERNEL_STACK, MAPS};
static const struct capture count_names_users_pids = {
    .filter = {.cpu = 3, .cgroup = FD_CGROUP, OF_NAMES, OF_USERS, OF_PIDS}, KERNEL_STACK, PER_PROCESS, MAPS};
static const struct capture count_meets = {ANY_EVENT, BOTH_STACKS, PER_PROCESS, .meets = true, MAPS};
static const struct capture count_user_probe = {
    ANY_EVENT, BOTH_STACKS, PER_PROCESS, .flags = KEY_USER_PROBE, MAPS};
static const struct capture count_start = {
    ANY_EVENT, USER_STACK, PER_PROCESS, .caller = true, .machine = &machine_x86_64, .flags = KEY_USER_PROBE,
    MAPS};
static const struct capture count_other_start = {
    .filter = {ALL_EVENTS, NAMESPACE}, USER_STACK, PER_PROCESS, .caller = true, .machine = &machine_x86_64,
    .flags = KEY_USER_PROBE | KEY_NO_CALLER, MAPS};

static const struct capture count_kernel_start = {
    ANY_EVENT, KERNEL_STACK, PER_PROCESS, .machine = &machine_aarch64, .flags = KEY_KERNEL_START, MAPS};

static const struct capture count_not_idle = {ANY_EVENT, BOTH_STACKS, PER_PROCESS, .without_idle = true, MAPS};
static const struct capture count_not_idle_namespace = {
    .filter = {ALL_EVENTS, NAMESPACE, .cgroup = FD_CGROUP}, KERNEL_STACK, PER_PROCESS, .without_idle = true,
    MAPS};

/* arg1 > 4096 && (arg2:i32 < -11 || !(prio != 120) || comm == "cc1") && prev_comm != "ls" */
static const struct event_condition some_condition = {.count = 5, .tests = {
    {{112, 8, 64, false, false, 0}, IS_GREATER, 4096, false, "", 1, TEST_FAILS, "test0"},
    {{104, 8, 32, true, false, 0}, IS_LESS, (uint64_t)-11, false, "", 4, 2, "test1"},
    {{28, 4, 32, true, false, 0}, IS_NOT_EQUAL, 120, false, "", 3, 4, "test2"},
    {{0, COMM_BYTES, 0, false, true, 0}, IS_EQUAL, 0, true, "cc1", 4, TEST_FAILS, "test3"},
    {{8, COMM_BYTES, 0, false, false, 0}, IS_NOT_EQUAL, 0, true, "ls", TEST_HOLDS, TEST_FAILS, "test4"}}};
static const struct event_condition no_condition;
static const struct event_value some_values[] = {
    {80, 8, 32, true, false, 0}, {16, 8, 64, false, false, 0}, {10, 2, 16, true, false, 0}};
static const struct capture count_condition = {
    ANY_EVENT, KERNEL_STACK, PER_PROCESS, .condition = &some_condition, .flags = KEY_TRACEPOINT, MAPS};
static const struct capture count_sum = {
    ANY_EVENT, KERNEL_STACK, PER_PROCESS, .condition = &no_condition, .sum = &some_values[1], MAPS};
static const struct capture count_sum_signed = {
    ANY_EVENT, USER_STACK, PER_PROCESS, .condition = &no_condition, .sum = some_values, .flags = KEY_USER_PROBE,
    MAPS};

/* With the kernel structures of Linux 6.12, and of 5.10. */
#define FIELDS_OF_6_12                                                                        \
    .task_mm = 2336, .task_stack = 32, .mm_tree = 72, .maple = true, .vma_start = 0,          \
    .vma_end = 8, .vma_page = 104, .vma_flags = 32, .vma_file = 112, .file_inode = 32,        \
    .inode_number = 64, .inode_generation = 360, .inode_super = 40, .inode_written = 96,      \
    .inode_written_ns = 116, .super_device = 16, .mm_vdso = 904, .mm_first_stack = 320,       \
    .returns = true, .task_utask = 6400, .utask_returns = 32, .return_stack = 24,             \
    .return_address = 32, .return_next = 48
static const struct unwind_fields maple_fields = {.page_bits = 12, .registers = 16216, FIELDS_OF_6_12};
static const struct unwind_fields red_black_fields = {
    .page_bits = 12, .task_mm = 2080, .task_stack = 24, .registers = 16216, .mm_tree = 8, .vma_node = 32, .vma_start = 0,
    .vma_end = 8, .vma_page = 152, .vma_flags = 80, .vma_file = 160, .file_inode = 32, .inode_number = 64,
    .inode_generation = 320, .inode_super = 40, .inode_written = 104, .inode_written_ns = 112,
    .super_device = 16, .mm_vdso = 856,
    .mm_first_stack = 280};
#define UNWIND_MAPS .maps = {FD_WALKS, FD_OBJECTS, FD_CHUNKS, FD_RULES, FD_COLD}, .depth = 127
static const struct unwind_config unwind_alone = {.machine = &machine_x86_64, .fields = &maple_fields, UNWIND_MAPS};
static const struct unwind_config unwind_red_black = {
    .machine = &machine_x86_64, .fields = &red_black_fields, .claims = true, UNWIND_MAPS};
static const struct unwind_config unwind_key = {
    .machine = &machine_x86_64, .fields = &maple_fields, .readable = true, UNWIND_MAPS};
static const struct capture count_unwind = {ANY_EVENT, USER_STACK, PER_PROCESS, .unwind = &unwind_alone, MAPS};
static const struct unwind_config unwind_namespace = {
    .machine = &machine_x86_64, .fields = &maple_fields, UNWIND_MAPS, NAMESPACE, .numbers = &some_fields};
static const struct capture count_unwind_namespace = {
    .filter = {ALL_EVENTS, NAMESPACE, .numbers = &some_fields}, USER_STACK, PER_PROCESS,
    .unwind = &unwind_namespace, MAPS};
static const struct capture count_unwind_red_black = {
    ANY_EVENT, USER_STACK, PER_PROCESS, .unwind = &unwind_red_black, MAPS};

/* For 64-bit Arm, with pages of 16 KB, and for RISC-V. */
static const struct unwind_fields large_page_fields = {.page_bits = 14, .registers = 16048, FIELDS_OF_6_12};
static const struct unwind_config unwind_aarch64 = {
    .machine = &machine_aarch64, .fields = &large_page_fields, UNWIND_MAPS};
static const struct capture count_unwind_aarch64 = {
    ANY_EVENT, USER_STACK, PER_PROCESS, .unwind = &unwind_aarch64, MAPS};
static const struct unwind_config unwind_riscv64 = {
    .machine = &machine_riscv64, .fields = &maple_fields, UNWIND_MAPS};
static const struct capture count_unwind_riscv64 = {
    ANY_EVENT, USER_STACK, PER_PROCESS, .unwind = &unwind_riscv64, MAPS};

static void build_key(struct program *program, const void *config)
{
    program_name_map(program, FD_WALKS, "walks");
    program_name_map(program, FD_OBJECTS, "objects");
    program_name_map(program, FD_CHUNKS, "chunks");
    program_name_map(program, FD_RULES, "rules");
    emit_unwind_key(program, config);
}

/* Without loops, and without buckets whose states are in shared memory. */
static bool is_older;
static uint32_t older_depth;

static struct bank_maps banks_of_age(struct bank_maps banks)
{
    banks.unrolls = banks.unrolls || is_older;
    return banks;
}

static uint32_t depth_of_age(uint32_t depth)
{
    return is_older && older_depth ? older_depth : depth;
}

static void build_count(struct program *program, const void *config)
{
    struct capture of_age = *(const struct capture *)config;

    of_age.banks = banks_of_age(of_age.banks);
    of_age.depth = depth_of_age(of_age.depth);
    if (is_older)
        of_age.ids.buckets = 0;
    emit_count(program, &of_age);
}

/* Only the code that finds a caller, on machines that the programs above do not cover. */
static void build_caller(struct program *program, const void *machine)
{
    emit_load_caller(program, machine, 0, 32);
    EMIT(program, EXIT());
}

static void build_kernel_caller(struct program *program, const void *machine)
{
    emit_load_caller(program, machine, KEY_KERNEL_START, 32);
    EMIT(program, EXIT());
}

/* ---- That of stacksnoop ---- */

#define SNOOP_MAPS .depth = 127, .buffer = FD_BUFFER, .control = FD_CONTROL, .account = FD_ACCOUNT, \
                   .slots = FD_SLOTS, .lifetimes = LIVES

static const struct capture snoop_kernel = {ANY_EVENT, KERNEL_STACK, .to_ring = true, SNOOP_MAPS};
static const struct capture snoop_both = {ANY_EVENT, BOTH_STACKS, .to_ring = true, SNOOP_MAPS};
static const struct capture snoop_start = {
    .filter = {ALL_EVENTS, NAMESPACE}, BOTH_STACKS, .caller = true, .machine = &machine_x86_64,
    .flags = KEY_USER_PROBE | KEY_MARK, .to_ring = true, SNOOP_MAPS};
static const struct capture snoop_kernel_start = {
    ANY_EVENT, BOTH_STACKS, .machine = &machine_riscv64, .flags = KEY_KERNEL_START, .to_ring = true,
    SNOOP_MAPS};
static const struct capture snoop_perf = {.filter = {ALL_EVENTS, OF_PIDS}, BOTH_STACKS, SNOOP_MAPS};
static const struct capture snoop_perf_user = {
    ANY_EVENT, USER_STACK, .caller = true, .machine = &machine_x86_64, .flags = KEY_USER_PROBE, SNOOP_MAPS};

static const struct capture snoop_values = {
    ANY_EVENT, BOTH_STACKS, .condition = &some_condition, .values = some_values, .value_count = 3,
    .to_ring = true, .flags = KEY_TRACEPOINT, SNOOP_MAPS};
static const struct capture snoop_perf_values = {
    ANY_EVENT, KERNEL_STACK, .condition = &no_condition, .values = some_values, .value_count = 3, SNOOP_MAPS};

static void build_snoop(struct program *program, const void *config)
{
    emit_snoop(program, config);
}

/* Offsets of Linux 6.12. */
#define NESTING .nesting = {0xcb0, 0x18}, .control = FD_CONTROL, .account = FD_ACCOUNT

static const struct capture nested_own = {.filter = {ALL_EVENTS, .own = FD_OWN}, NESTING};
static const struct capture nested_followed = {
    .filter = {ALL_EVENTS, FOLLOWED, OF_PIDS, NAMESPACE, .numbers = &some_fields}, NESTING};

static void build_kernel_symbol(struct program *program, const void *config)
{
    (void)config;
    emit_kernel_symbol(program, FD_SYMBOL, FD_FORMAT);
}

static void build_nested(struct program *program, const void *config)
{
    emit_nested(program, config);
}

static const struct life_maps lifetimes = LIVES;

static const struct event_filter lives_anywhere = {.cpu = -1},
    lives_below = {NAMESPACE, OF_PIDS, .numbers = &some_fields};

static void build_life_begins(struct program *program, const void *filter)
{
    emit_life_begins(program, &lifetimes, filter);
}

static void build_life_ends(struct program *program, const void *telling)
{
    static const struct task_fields fields = {.has_live = true, .pointer_bytes = 8, .signal = 1000, .live = 4};

    emit_life_ends(program, &lifetimes, *(const enum life_telling *)telling, &fields, &lives_anywhere);
}

static void build_life_ends_below(struct program *program, const void *filter)
{
    emit_life_ends(program, &lifetimes, LIFE_TOLD, &(struct task_fields){0}, filter);
}
static const enum life_telling life_told = LIFE_TOLD, life_read = LIFE_READ, life_guessed = LIFE_GUESSED;

/* A command and its descendants are followed. */
static const struct event_filter followed = {FOLLOWED}, followed_namespace = {FOLLOWED, NAMESPACE},
    followed_pids = {FOLLOWED, OF_PIDS}, asked = {OF_PIDS, OF_TIDS},
    asked_below = {OF_PIDS, NAMESPACE, .numbers = &some_fields},
    followed_below = {FOLLOWED, OF_PIDS, NAMESPACE, .numbers = &some_fields};

static void build_follow_birth(struct program *program, const void *filter)
{
    emit_follow_birth(program, &(struct follow_programs){.filter = filter, .self = 4711, .pid = 8});
}

static void build_follow_birth_raw(struct program *program, const void *filter)
{
    emit_follow_birth(program, &(struct follow_programs){
        .filter = filter, .self = 4711, .task = {.known = true, .pid = 2464}});
}

static void build_follow_exec(struct program *program, const void *filter)
{
    emit_follow_exec(program, filter);
}

static void build_follow_thread(struct program *program, const void *filter)
{
    emit_follow_thread(program, filter);
}

/* ---- The unrolled walk: a few of its more than a hundred steps ---- */

#define WALK .depth = 3, .steps = 4, .bits = 12, .machine = &machine_x86_64, .control = FD_CONTROL, \
             .scratches = FD_SCRATCHES, .buckets = FD_BUCKETS

static const struct capture unrolled_kernel = {ANY_EVENT, KERNEL_STACK, WALK};
static const struct capture unrolled_both = {
    .filter = {ALL_EVENTS, .own = FD_OWN}, BOTH_STACKS, PER_PROCESS, .at_start = true, WALK};
static const struct capture unrolled_user = {
    .filter = {ALL_EVENTS, OF_PIDS}, USER_STACK, PER_PROCESS, .per_thread = true, .at_start = true,
    .from_regs = true, WALK};

static void build_unrolled(struct program *program, const void *config)
{
    emit_unrolled(program, config);
}

/* ---- Those of offcputime, wakeuptime and offwaketime ---- */

#define WAIT_MAPS .depth = 127, .control = FD_CONTROL, .account = FD_ACCOUNT, .slots = FD_SLOTS, \
             .lifetimes = LIVES, .waits = FD_WAITS, .cuts = FD_CUTS, .rests = FD_RESTS, .banks = BANKS
#define FIELDS .prev_pid = 24, .prev_state = 32, .next_pid = 56, .target_pid = 24, .wide_state = true, \
               .renamed_pid = 8, .new_comm = 28
#define ALL_WAITS .states = STATE_BLOCKED, .most = UINT64_MAX

static const struct capture offcpu_kernel = {
    .view = VIEW_OFFCPU, ANY_EVENT, KERNEL_STACK, ALL_WAITS, FIELDS, WAIT_MAPS};
static const struct capture offcpu_both = {
    .view = VIEW_OFFCPU, ANY_EVENT, BOTH_STACKS, ALL_WAITS, FIELDS, WAIT_MAPS};
static const struct capture offcpu_everything = {
    .view = VIEW_OFFCPU, .filter = {.cpu = 3, NAMESPACE, OF_PIDS, OF_TIDS, .cgroup = FD_CGROUP}, BOTH_STACKS,
    .threads = THREADS_USER, .states = 2, .runnable = true, .least = 1000, .most = 5000999, .prev_pid = 24,
    .prev_state = 28, .next_pid = 48, WAIT_MAPS};
static const struct capture offcpu_kernel_threads = {
    .view = VIEW_OFFCPU, ANY_EVENT, KERNEL_STACK, .threads = THREADS_KERNEL, ALL_WAITS, FIELDS, WAIT_MAPS};
static const struct capture wakeup_both = {
    .view = VIEW_WAKEUP, ANY_EVENT, BOTH_STACKS, ALL_WAITS, FIELDS, WAIT_MAPS};
static const struct capture offwake_both = {
    .view = VIEW_OFFWAKE, ANY_EVENT, BOTH_STACKS, ALL_WAITS, FIELDS, WAIT_MAPS};
static const struct capture offwake_longest = {
    .view = VIEW_OFFWAKE, ANY_EVENT, BOTH_STACKS, .longest = true, ALL_WAITS, FIELDS, WAIT_MAPS};
static const struct capture offwake_namespace = {
    .view = VIEW_OFFWAKE, .filter = {ALL_EVENTS, NAMESPACE, OF_PIDS}, USER_STACK, ALL_WAITS, FIELDS, WAIT_MAPS};

/* On raw tracepoints: as kernels pass the state since 5.18, as it is read since 5.14, and before. */
#define TASK .task = {.known = true, .pid = 2464}
static const struct capture offcpu_raw = {
    .view = VIEW_OFFCPU, ANY_EVENT, KERNEL_STACK, ALL_WAITS, TASK, WAIT_MAPS};
static const struct capture offcpu_raw_state = {
    .view = VIEW_OFFCPU, .filter = {ALL_EVENTS, OF_PIDS}, KERNEL_STACK, ALL_WAITS,
    .task = {.known = true, .pid = 1200, .has_state = true, .state = 24}, WAIT_MAPS};
static const struct capture offwake_raw_wide = {
    .view = VIEW_OFFWAKE, ANY_EVENT, BOTH_STACKS, ALL_WAITS,
    .task = {.known = true, .pid = 1200, .has_state = true, .wide_state = true, .state = 16}, WAIT_MAPS};

static struct capture offwake_of_age(const struct capture *config)
{
    struct capture of_age = *config;

    of_age.banks = banks_of_age(of_age.banks);
    of_age.depth = depth_of_age(of_age.depth);
    return of_age;
}

static void build_switch(struct program *program, const void *config)
{
    const struct capture of_age = offwake_of_age(config);

    emit_switch(program, &of_age);
}

static void build_waking(struct program *program, const void *config)
{
    const struct capture of_age = offwake_of_age(config);

    emit_waking(program, &of_age);
}

/* ---- Those of walltime ---- */

static const struct capture wall_of_pids = {
    .view = VIEW_WALL, .filter = {ALL_EVENTS, OF_PIDS}, BOTH_STACKS, FIELDS, WAIT_MAPS};
static const struct capture wall_of_names = {
    .view = VIEW_WALL, .filter = {ALL_EVENTS, OF_NAMES}, KERNEL_STACK, FIELDS, WAIT_MAPS};
static const struct capture wall_namespace = {
    .view = VIEW_WALL, .filter = {ALL_EVENTS, NAMESPACE, OF_PIDS, OF_TIDS, .cgroup = FD_CGROUP}, KERNEL_STACK,
    .least = 1000000, FIELDS, WAIT_MAPS};
static const struct capture wall_raw = {
    .view = VIEW_WALL, .filter = {ALL_EVENTS, OF_PIDS}, KERNEL_STACK, TASK, WAIT_MAPS};

static void build_wall_switch(struct program *program, const void *config)
{
    const struct capture of_age = offwake_of_age(config);

    emit_wall_switch(program, &of_age);
}

static void build_wall_wakeup(struct program *program, const void *config)
{
    emit_wall_wakeup(program, config, false);
}

static void build_wall_birth(struct program *program, const void *config)
{
    emit_wall_wakeup(program, config, true);
}

static void build_wall_rename(struct program *program, const void *config)
{
    emit_wall_rename(program, config);
}

static void build_wall_exit(struct program *program, const void *config)
{
    emit_wall_exit(program, config);
}

static void build_wall_sample(struct program *program, const void *config)
{
    const struct capture of_age = offwake_of_age(config);

    emit_wall_sample(program, &of_age);
}

/* ---- The table: every variant of every real program has a row here ---- */

static const struct golden {
    const char *name;
    void (*build)(struct program *program, const void *config);
    const void *config;
    unsigned floor; /* the oldest kernel that it is for, */
    unsigned older; /* and that of what older kernels get for the same config; 0: nothing */
    const char *base; /* its file has the difference from this one; NULL: the whole dump */
} goldens[] = {
    {"arithmetic", build_arithmetic, NULL, V(4, 4), 0},
    {"arithmetic32", build_arithmetic32, NULL, V(5, 0), 0},
    {"byte-order", build_byte_order, NULL, V(4, 4), 0},
    {"memory", build_memory, NULL, V(4, 4), 0},
    {"atomics", build_atomics, NULL, V(5, 2), 0},
    {"jumps", build_jumps, NULL, V(5, 3), 0},
    {"calls", build_calls, NULL, V(4, 16), 0},
    {"count-kernel", build_count, &count_kernel, V(5, 5), V(4, 18)},
    {"count-kernel-process", build_count, &count_kernel_process, V(5, 5), V(4, 18), "count-kernel"},
    {"count-user", build_count, &count_user, V(5, 5), V(4, 18)},
    {"count-both", build_count, &count_both, V(5, 5), V(4, 18), "count-kernel-process"},
    {"count-thread", build_count, &count_thread, V(5, 5), V(4, 18), "count-kernel-process"},
    {"count-cpu", build_count, &count_cpu, V(5, 5), V(4, 18), "count-kernel"},
    {"count-unrolled", build_count, &count_unrolled, V(4, 18), 0},
    {"count-cgroup", build_count, &count_cgroup, V(5, 5), V(4, 18), "count-cpu"},
    {"count-followed", build_count, &count_followed, V(5, 5), V(4, 18), "count-cpu"},
    {"count-followed-pids", build_count, &count_followed_pids, V(5, 5), V(4, 18), "count-pids"},
    {"count-followed-pids-namespace", build_count, &count_followed_pids_namespace, V(5, 7), 0,
     "count-followed-pids"},
    {"count-own", build_count, &count_own, V(5, 5), V(4, 18), "count-cpu"},
    {"count-own-namespace", build_count, &count_own_namespace, V(5, 7), 0, "count-not-idle-namespace"},
    {"count-pids", build_count, &count_pids, V(5, 5), V(4, 18), "count-tids"},
    {"count-tids", build_count, &count_tids, V(5, 5), V(4, 18), "count-cpu"},
    {"count-namespace", build_count, &count_namespace, V(5, 7), 0, "count-user"},
    {"count-namespace-pids", build_count, &count_namespace_pids, V(5, 7), 0, "count-pids"},
    {"count-names", build_count, &count_names, V(5, 5), V(4, 18), "count-cpu"},
    {"count-users", build_count, &count_users, V(5, 5), V(4, 18), "count-cpu"},
    {"count-names-users-pids", build_count, &count_names_users_pids, V(5, 5), V(4, 18), "count-names"},
    {"count-everything", build_count, &count_everything, V(5, 7), 0, "count-not-idle"},
    {"count-unwind", build_count, &count_unwind, V(5, 10), 0},
    {"count-below", build_count, &count_below, V(5, 10), 0, "count-namespace"},
    {"count-below-pids", build_count, &count_below_pids, V(5, 10), 0, "count-namespace-pids"},
    {"count-unwind-namespace", build_count, &count_unwind_namespace, V(5, 10), 0, "count-unwind"},
    {"count-unwind-red-black", build_count, &count_unwind_red_black, V(5, 10), 0, "count-unwind"},
    {"count-unwind-aarch64", build_count, &count_unwind_aarch64, V(5, 10), 0, "count-unwind"},
    {"count-unwind-riscv64", build_count, &count_unwind_riscv64, V(5, 10), 0, "count-unwind-aarch64"},
    {"unwind-key", build_key, &unwind_key, V(5, 10), 0},
    {"count-meets", build_count, &count_meets, V(5, 5), V(4, 18), "count-user-probe"},
    {"count-user-probe", build_count, &count_user_probe, V(5, 5), V(4, 18), "count-user"},
    {"count-start", build_count, &count_start, V(5, 5), V(4, 18), "count-user-probe"},
    {"count-other-start", build_count, &count_other_start, V(5, 7), 0, "count-start"},
    {"count-kernel-start", build_count, &count_kernel_start, V(5, 5), V(4, 18), "count-kernel-process"},
    {"caller-aarch64", build_caller, &machine_aarch64, V(4, 18), 0},
    {"caller-arm", build_caller, &machine_arm, V(4, 18), 0},
    {"caller-riscv64", build_kernel_caller, &machine_riscv64, V(4, 18), 0},
    {"caller-loongarch64", build_kernel_caller, &machine_loongarch64, V(4, 18), 0},
    {"caller-mips64", build_kernel_caller, &machine_mips64, V(4, 18), 0},
    {"caller-mips", build_kernel_caller, &machine_mips, V(4, 18), 0},
    {"caller-s390x", build_caller, &machine_s390x, V(4, 18), 0},
    {"caller-kernel-x86-64", build_kernel_caller, &machine_x86_64, V(5, 5), V(4, 18)},
    {"count-not-idle", build_count, &count_not_idle, V(5, 5), V(4, 18), "count-both"},
    {"count-not-idle-namespace", build_count, &count_not_idle_namespace, V(5, 7), 0, "count-cgroup"},
    {"count-condition", build_count, &count_condition, V(5, 5), V(4, 18), "count-kernel-process"},
    {"count-sum", build_count, &count_sum, V(5, 5), V(4, 18), "count-kernel-process"},
    {"count-sum-signed", build_count, &count_sum_signed, V(5, 5), V(4, 18), "count-user-probe"},
    {"follow-birth", build_follow_birth, &followed, V(4, 18), 0},
    {"follow-birth-namespace", build_follow_birth, &followed_namespace, V(5, 7), 0},
    {"follow-birth-pids", build_follow_birth, &followed_pids, V(4, 18), 0},
    {"follow-birth-raw", build_follow_birth_raw, &followed, V(5, 5), V(4, 18)},
    {"follow-birth-asked", build_follow_birth, &asked, V(4, 7), 0},
    {"follow-birth-asked-below", build_follow_birth_raw, &asked_below, V(5, 10), 0},
    {"follow-birth-below", build_follow_birth_raw, &followed_below, V(5, 10), 0},
    {"follow-exec", build_follow_exec, &followed, V(4, 18), 0},
    {"follow-thread", build_follow_thread, &asked, V(4, 18), 0},
    {"snoop-kernel", build_snoop, &snoop_kernel, V(5, 8), 0},
    {"nested-own", build_nested, &nested_own, V(5, 5), V(4, 18)},
    {"nested-followed", build_nested, &nested_followed, V(5, 10), 0},
    {"snoop-both", build_snoop, &snoop_both, V(5, 8), 0, "snoop-kernel"},
    {"snoop-start", build_snoop, &snoop_start, V(5, 8), 0},
    {"snoop-kernel-start", build_snoop, &snoop_kernel_start, V(5, 8), 0, "snoop-both"},
    {"snoop-perf", build_snoop, &snoop_perf, V(4, 18), 0, "snoop-perf-user"},
    {"snoop-perf-user", build_snoop, &snoop_perf_user, V(5, 5), V(4, 18), "snoop-perf-values"},
    {"snoop-values", build_snoop, &snoop_values, V(5, 8), 0},
    {"snoop-perf-values", build_snoop, &snoop_perf_values, V(4, 18), 0},
    {"unrolled-kernel", build_unrolled, &unrolled_kernel, V(4, 4), 0},
    {"unrolled-both", build_unrolled, &unrolled_both, V(4, 4), 0, "unrolled-user"},
    {"unrolled-user", build_unrolled, &unrolled_user, V(4, 4), 0, "unrolled-kernel"},
    {"offcpu-switch-kernel", build_switch, &offcpu_kernel, V(5, 3), V(4, 18)},
    {"offcpu-switch", build_switch, &offcpu_both, V(5, 3), V(4, 18), "offcpu-switch-kernel"},
    {"offcpu-switch-everything", build_switch, &offcpu_everything, V(5, 7), 0, "offcpu-switch"},
    {"offcpu-switch-kernel-threads", build_switch, &offcpu_kernel_threads, V(5, 3), V(4, 18),
     "offcpu-switch-kernel"},
    {"wakeup-switch", build_switch, &wakeup_both, V(5, 3), V(4, 18)},
    {"wakeup-waking", build_waking, &wakeup_both, V(5, 3), V(4, 18), "offwake-waking"},
    {"offwake-switch", build_switch, &offwake_both, V(5, 3), V(4, 18), "offcpu-switch"},
    {"offwake-switch-longest", build_switch, &offwake_longest, V(5, 3), V(4, 18), "offwake-switch"},
    {"offwake-waking", build_waking, &offwake_both, V(5, 3), V(4, 18)},
    {"offwake-switch-namespace", build_switch, &offwake_namespace, V(5, 7), 0, "offwake-switch"},
    {"offwake-waking-namespace", build_waking, &offwake_namespace, V(5, 7), 0, "offwake-waking"},
    {"offcpu-switch-raw", build_switch, &offcpu_raw, V(5, 5), V(4, 18), "offcpu-switch-kernel"},
    {"offcpu-switch-raw-state", build_switch, &offcpu_raw_state, V(5, 5), V(4, 18), "offcpu-switch-raw"},
    {"offwake-switch-raw-wide", build_switch, &offwake_raw_wide, V(5, 5), V(4, 18), "offwake-switch"},
    {"offwake-waking-raw", build_waking, &offwake_raw_wide, V(5, 5), V(4, 18), "offwake-waking"},
    {"wall-switch", build_wall_switch, &wall_of_pids, V(5, 3), V(4, 18)},
    {"wall-switch-namespace", build_wall_switch, &wall_namespace, V(5, 7), 0, "wall-switch-raw"},
    {"wall-switch-raw", build_wall_switch, &wall_raw, V(5, 5), V(4, 18), "wall-switch"},
    {"wall-wakeup", build_wall_wakeup, &wall_of_pids, V(4, 18), 0},
    {"wall-wakeup-raw", build_wall_wakeup, &wall_raw, V(5, 5), V(4, 18), "wall-wakeup"},
    {"wall-birth", build_wall_birth, &wall_of_pids, V(4, 18), 0},
    {"wall-rename", build_wall_rename, &wall_of_pids, V(5, 5), V(4, 18)},
    {"wall-rename-names", build_wall_rename, &wall_of_names, V(5, 5), V(4, 18)},
    {"wall-rename-raw", build_wall_rename, &wall_raw, V(5, 5), V(4, 18), "wall-rename"},
    {"wall-exit-namespace", build_wall_exit, &wall_namespace, V(5, 7), 0},
    {"wall-sample-namespace", build_wall_sample, &wall_namespace, V(5, 7), 0, "wall-sample-raw"},
    {"wall-sample-raw", build_wall_sample, &wall_raw, V(5, 5), V(4, 18), "wall-sample"},
    {"wall-sample", build_wall_sample, &wall_of_pids, V(5, 5), V(4, 18)},
    {"life-begins", build_life_begins, &lives_anywhere, V(4, 18), 0},
    {"life-begins-below", build_life_begins, &lives_below, V(5, 7), 0},
    {"life-ends-below", build_life_ends_below, &lives_below, V(5, 7), 0, "life-begins-below"},
    {"life-ends", build_life_ends, &life_guessed, V(4, 18), 0},
    {"life-ends-read", build_life_ends, &life_read, V(5, 5), V(4, 18)},
    {"life-ends-told", build_life_ends, &life_told, V(4, 18), 0},
    {"kernel-symbol", build_kernel_symbol, NULL, V(5, 16), 0},
};

/* ---- Comparing ---- */

/* `dump` may be NULL. */
static bool build_golden(const struct golden *golden, struct text *dump)
{
    struct program program = {0};
    struct linked linked;
    AUTO_TEXT why = {0};

    program_name_map(&program, FD_COUNTS, "counts");
    program_name_map(&program, FD_BANKS, "banks");
    golden->build(&program, golden->config);
    bool linked_well = !program_link(&program, &linked, &why);
    if (linked_well && dump)
        dump_insns(dump, linked.insns, linked.count, &program);
    if (linked_well && is_older)
        insns_make_older((struct bpf_insn *)(uintptr_t)linked.insns, linked.count);
    if (linked_well)
        lint(&linked, &program, is_older ? golden->older : golden->floor, &why);
    if (why.length)
        printf("  %s, for %s kernels: %s\n", golden->name, is_older ? "older" : "its", why.data);
    CHECK(!dump || !dump->failed);
    const bool was_wrong = why.length || why.failed;
    program_free(&program);
    return linked_well && !was_wrong && !(dump && dump->failed);
}

/* With stacks of the usual and of the greatest depth. */
static bool older_is_good(const struct golden *golden)
{
    bool good = true;

    is_older = true;
    for (older_depth = 0; older_depth <= UNROLLED_DEPTH && golden->older; older_depth += UNROLLED_DEPTH)
        good = build_golden(golden, NULL) && good;
    is_older = false;
    return good;
}

/* Prints the first line in which the two differ. */
static void show_difference(const char *path, const char *dump, const char *file)
{
    unsigned line = 1;

    for (;; line++) {
        size_t ours = strcspn(dump, "\n"), theirs = strcspn(file, "\n");
        if (ours != theirs || memcmp(dump, file, ours) || !dump[ours] || !file[theirs]) {
            printf("  %s:%u: the file has \"%.*s\", the dump \"%.*s\"\n", path, line, (int)theirs,
                   file, (int)ours, dump);
            return;
        }
        dump += ours + 1;
        file += theirs + 1;
    }
}

/* ---- Variants ---- */

#define MOST_LINES 4096 /* of a dump */
#define AROUND 2 /* lines in both that are shown before and after what differs */

/* Lines without the numbers of their instructions, which follow from those before them. */
static size_t split(char *dump, char **lines)
{
    size_t count = 0;

    for (char *line; (line = strsep(&dump, "\n")) && *line; count++) {
        if (count == MOST_LINES)
            abort();
        lines[count] = *line == ' ' ? strchr(line, ':') + 2 : line;
    }
    return count;
}

struct edit {
    char kind; /* ' ', '-' or '+' */
    const char *line;
};

/* From one dump to the other, with as few changes as possible. Returns how many edits. */
static size_t find_edits(char *base, char *own, struct edit *edits)
{
    static char *from[MOST_LINES], *to[MOST_LINES];
    static uint16_t common[MOST_LINES + 1][MOST_LINES + 1]; /* lines in both, from there on */
    const size_t from_count = split(base, from), to_count = split(own, to);
    size_t count = 0, i, j;

    for (i = from_count + 1; i--;)
        for (j = to_count + 1; j--;)
            common[i][j] = i == from_count || j == to_count ? 0
                : !strcmp(from[i], to[j])                   ? common[i + 1][j + 1] + 1
                : common[i + 1][j] > common[i][j + 1]       ? common[i + 1][j]
                                                            : common[i][j + 1];
    for (i = j = 0; i < from_count || j < to_count; count++)
        if (i < from_count && j < to_count && !strcmp(from[i], to[j]))
            edits[count] = (struct edit){' ', to[j++]}, i++;
        else if (j == to_count || (i < from_count && common[i + 1][j] >= common[i][j + 1]))
            edits[count] = (struct edit){'-', from[i++]};
        else
            edits[count] = (struct edit){'+', to[j++]};
    return count;
}

static bool is_near_change(const struct edit *edits, size_t count, size_t at)
{
    for (size_t i = at > AROUND ? at - AROUND : 0; i < count && i <= at + AROUND; i++)
        if (edits[i].kind != ' ')
            return true;
    return false;
}

/* From the dump of `name` to `dump`, which becomes the file's text; `base` is used up. */
static void tell_difference(const char *name, struct text *base, struct text *dump)
{
    static struct edit edits[2 * MOST_LINES];
    const char *label = "";
    struct text told = {0};
    struct crc32 sum;
    bool was_near = false;

    crc32_begin(&sum);
    crc32_add(&sum, (const unsigned char *)dump->data, dump->length);
    const size_t count = find_edits(base->data, dump->data, edits);
    text_format(&told, "%s, but:\n", name);
    for (size_t i = 0; i < count; i++) {
        const bool is_near = is_near_change(edits, count, i);
        if (is_near && !was_near)
            text_format(&told, "@@ %s\n", label);
        if (is_near)
            text_format(&told, "%c%s\n", edits[i].kind, edits[i].line);
        if (edits[i].line[strlen(edits[i].line) - 1] == ':')
            label = edits[i].line;
        was_near = is_near;
    }
    text_format(&told, "= %08x\n", crc32_value(&sum));
    text_free(dump);
    *dump = told;
}

static const struct golden *golden_called(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(goldens); i++)
        if (!strcmp(goldens[i].name, name))
            return &goldens[i];
    abort();
}

/* The expected text of a program's file. */
static bool write_golden(const struct golden *golden, struct text *dump)
{
    struct text base = {0};
    bool good = build_golden(golden, dump);

    if (good && golden->base) {
        good = build_golden(golden_called(golden->base), &base);
        if (good)
            tell_difference(golden->base, &base, dump);
        text_free(&base);
    }
    return good && !dump->failed;
}

/* ---- Files ---- */

static bool compare(const char *path, const struct text *dump)
{
    AUTO_TEXT file = {0};
    int error = read_file(AT_FDCWD, path, 1 << 24, &file);
    bool same = !error && file.length == dump->length &&
                !memcmp(file.data, dump->data, dump->length);

    if (error)
        printf("  %s: %s\n", path, strerror(-error));
    else if (!same)
        show_difference(path, dump->data, file.data ? file.data : "");
    return same;
}

static bool write_file(const char *path, const struct text *dump)
{
    FILE *file = fopen(path, "w");
    bool written = file && fwrite(dump->data, 1, dump->length, file) == dump->length;

    if (file && fclose(file))
        written = false;
    if (!written)
        printf("  %s: %s\n", path, strerror(errno));
    return written;
}

int main(int argc, char **argv)
{
    bool update = argc > 1 && !strcmp(argv[1], "--update");
    const char *tests = argc > 1 + update ? argv[1 + update] : getenv("TESTS");

    for (size_t i = 0; i < COUNT_OF(goldens); i++) {
        AUTO_TEXT path = {0}, dump = {0};
        text_format(&path, "%s/golden/%s.txt", tests ? tests : "tests", goldens[i].name);
        /* Names are compared as numbers, in the machine's own order. */
        const bool differs = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && strstr(goldens[i].name, "-names");
        bool good = write_golden(&goldens[i], &dump) && older_is_good(&goldens[i]) &&
                    (differs || (update ? write_file : compare)(path.data, &dump));
        printf("%s golden %s\n", good ? "PASS" : "FAIL", goldens[i].name);
        test_failures += !good;
    }
    return tests_done();
}
