/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "insns/insn.h"
#include "kernel/bpf.h"
#include "kernel/bpf_abi.h"
#include "kernel/btf.h"
#include "kernel/limits.h"
#include "machine/machine.h"

#define FIRST_LOG_BYTES 65536
#define LAST_LOG_BYTES (16 << 20)
#define MOST_LOADS 8

int bpf_call(enum bpf_abi_command command, void *attributes, unsigned size)
{
    long result;
    int tries = MOST_LOADS;

    /* -EAGAIN: a signal came while the verifier was running. */
    do
        result = syscall(SYS_bpf, command, attributes, size);
    while (result < 0 && errno == EAGAIN && command == BPF_ABI_PROG_LOAD && --tries);
    return result < 0 ? -errno : (int)result;
}

static void copy_name(char *to, const char *name)
{
    snprintf(to, BPF_ABI_OBJ_NAME_BYTES, "%s", name);
}

/* True: the limit is higher now, so trying again makes sense. */
static bool raise_locked_memory(void)
{
    struct rlimit limit, most = {RLIM_INFINITY, RLIM_INFINITY};

    if (prlimit(0, RLIMIT_MEMLOCK, NULL, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return false;
    if (!prlimit(0, RLIMIT_MEMLOCK, &most, NULL))
        return true;
    if (limit.rlim_cur == limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return !prlimit(0, RLIMIT_MEMLOCK, &limit, NULL);
}

/* Calls again if RLIMIT_MEMLOCK refused it (before 5.11) and the limit could be raised. */
static int call_locked(enum bpf_abi_command command, void *attributes, unsigned size)
{
    int fd = bpf_call(command, attributes, size);

    return fd == -EPERM && raise_locked_memory() ? bpf_call(command, attributes, size) : fd;
}

/* May an older kernel return this error for a feature that it does not know? */
static bool is_of_age(int error)
{
    return error == -EINVAL || error == -E2BIG;
}

int bpf_create_map(const struct bpf_map_shape *shape)
{
    struct bpf_abi_map_create attributes = {
        .map_type = shape->type,
        .key_size = shape->key_size,
        .value_size = shape->value_size,
        .max_entries = shape->entries,
        .map_flags = shape->flags,
        .inner_map_fd = (uint32_t)shape->inner,
    };

    copy_name(attributes.map_name, shape->name);
    int fd = call_locked(BPF_ABI_MAP_CREATE, &attributes, sizeof(attributes));
    if (!is_of_age(fd))
        return fd;
    memset(attributes.map_name, 0, sizeof(attributes.map_name));
    int nameless = call_locked(BPF_ABI_MAP_CREATE, &attributes, sizeof(attributes));
    return nameless < 0 ? fd : nameless;
}

int bpf_create_numbered(int *map, uint32_t type, const char *name, size_t value_size,
                        uint32_t entries)
{
    const struct bpf_map_shape shape = {
        .type = type,
        .name = name,
        .key_size = sizeof(uint32_t),
        .value_size = (uint32_t)value_size,
        .entries = entries,
    };

    *map = bpf_create_map(&shape);
    return *map < 0 ? *map : 0;
}

static unsigned bytes_of(const struct bpf_abi_prog_load *attributes)
{
    return attributes->func_info_cnt ? sizeof(*attributes) : BPF_ABI_PROG_LOAD_PLAIN;
}

/* The verifier's log for a program that the kernel has just rejected. */
static void load_with_log(struct bpf_abi_prog_load *attributes, struct text *log)
{
    for (uint32_t size = FIRST_LOG_BYTES; size <= LAST_LOG_BYTES; size *= 4) {
        char *buffer = malloc(size);
        if (!buffer)
            return;
        buffer[0] = '\0';
        attributes->log_level = 1;
        attributes->log_size = size;
        attributes->log_buf = pointer(buffer);
        int fd = bpf_call(BPF_ABI_PROG_LOAD, attributes, bytes_of(attributes));
        close_fd(fd); /* loaded this time: yet the first answer stands */
        if (fd != -ENOSPC || size * 4 > LAST_LOG_BYTES) {
            text_append(log, buffer, strnlen(buffer, size));
            free(buffer);
            return;
        }
        free(buffer);
    }
}

static int load_once(struct bpf_abi_prog_load *attributes)
{
    return call_locked(BPF_ABI_PROG_LOAD, attributes, bytes_of(attributes));
}

/* As kernels before 5.5 need it, then as those before 4.15. `insns` has room for the program. */
static int load_older(struct bpf_abi_prog_load *attributes, struct bpf_insn *insns)
{
    memcpy(insns, (const void *)(uintptr_t)attributes->insns,
           attributes->insn_cnt * sizeof(*insns));
    insns_make_older(insns, attributes->insn_cnt);
    attributes->insns = pointer(insns);
    attributes->kern_version = own_version();
    int fd = load_once(attributes);
    if (is_of_age(fd)) {
        struct bpf_abi_prog_load nameless = *attributes;
        memset(nameless.prog_name, 0, sizeof(nameless.prog_name));
        int second = load_once(&nameless);
        if (fd == -E2BIG || !is_of_age(second)) { /* E2BIG: the kernel knows no names */
            *attributes = nameless;
            fd = second;
        }
    }
    return fd;
}

static int load(struct bpf_abi_prog_load *attributes, struct text *log)
{
    int fd = load_once(attributes);
    struct bpf_insn *older = is_of_age(fd) ? calloc(attributes->insn_cnt, sizeof(*older)) : NULL;

    if (older)
        fd = load_older(attributes, older);
    if (fd < 0 && fd != -EPERM && fd != -ENOSYS)
        load_with_log(attributes, log);
    free(older);
    return fd;
}

/* Gives each function a type (BTF), so that the verifier checks each function once, by itself. */
static int load_with_functions(struct bpf_abi_prog_load *attributes, const struct bpf_load *wanted,
                               struct text *log)
{
    struct bpf_abi_func_info *functions = calloc(wanted->code.function_count, sizeof(*functions));
    int btf = functions ? own_btf_load() : -ENOMEM;

    if (btf < 0) {
        free(functions);
        return btf;
    }
    for (size_t i = 0; i < wanted->code.function_count; i++)
        functions[i] = (struct bpf_abi_func_info){
            wanted->code.functions[i],
            i ? OWN_BTF_FUNCTION : OWN_BTF_PROGRAM,
        };
    attributes->prog_btf_fd = (uint32_t)btf;
    attributes->func_info_rec_size = sizeof(*functions);
    attributes->func_info = pointer(functions);
    attributes->func_info_cnt = (uint32_t)wanted->code.function_count;
    int fd = load(attributes, log);
    close(btf);
    free(functions);
    return fd;
}

/*
 * Some 64-bit kernels (6.12 for arm64 and riscv64) leave these helpers to the JIT compiler even if
 * it is off: the interpreter then takes the helper's number for its address, and calls into the
 * middle of another function.
 */
static bool goes_astray(const struct bpf_load *wanted)
{
    const struct machine *kernel = machine_of_kernel();

    if (kernel->bits != 64 || kernel->interprets_all || !kernel_jit_is_off())
        return false;
    for (size_t i = 0; i < wanted->code.count; i++) {
        const struct bpf_insn *insn = &wanted->code.insns[i];
        if (insn->code == (BPF_JMP | BPF_CALL) && !insn->src_reg &&
            (insn->imm == BPF_FUNC_get_smp_processor_id || insn->imm == BPF_FUNC_get_current_task))
            return true;
    }
    return false;
}

int bpf_load_program(const struct bpf_load *wanted, struct text *log)
{
    if (goes_astray(wanted))
        return -KERNEL_ENOTSUPP;
    struct bpf_abi_prog_load attributes = {
        .prog_type = wanted->type,
        .insn_cnt = (uint32_t)wanted->code.count,
        .insns = pointer(wanted->code.insns),
        .license = pointer("Dual MIT/GPL"),
        /* The kernel accepts programs of this type only if they are sleepable. */
        .prog_flags = wanted->type == BPF_PROG_TYPE_SYSCALL ? BPF_F_SLEEPABLE : 0,
        .expected_attach_type = wanted->attach_type,
    };

    copy_name(attributes.prog_name, wanted->name);
    return wanted->code.functions ? load_with_functions(&attributes, wanted, log)
        : load(&attributes, log);
}

int bpf_link_and_load(uint32_t type, const char *name, struct program *program, struct text *log)
{
    struct bpf_load load = {.type = type, .name = name};
    int result = program_link(program, &load.code, log);

    return result ? result : bpf_load_program(&load, log);
}

/* The program's descriptor or a negative errno. */
static int load_trial(uint32_t type, uint32_t attach_type, const struct bpf_insn *insns,
                      size_t count)
{
    const struct bpf_load load = {
        .type = type,
        .attach_type = attach_type,
        .name = "stackbox",
        .code = {.insns = insns, .count = count},
    };
    struct text unwanted = {0};
    int program = bpf_load_program(&load, &unwanted);

    text_free(&unwanted);
    return program;
}

int bpf_try(uint32_t type, const struct bpf_insn *insns, size_t count)
{
    int program = load_trial(type, 0, insns, count);

    close_fd(program);
    return program < 0 ? program : 0;
}

const struct bpf_insn bpf_nothing[2] = {
    {.code = BPF_ALU64 | BPF_MOV | BPF_K}, /* r0 = 0 */
    {.code = BPF_JMP | BPF_EXIT},
};

int bpf_load_nothing(uint32_t type, uint32_t attach_type)
{
    return load_trial(type, attach_type, bpf_nothing, COUNT_OF(bpf_nothing));
}

int bpf_try_stacks(void)
{
    const struct bpf_insn insns[] = {
        INSN_CODE(MOV_REG(R2, R10)),
        INSN_CODE(ADD_IMM(R2, -8)),
        INSN_CODE(MOV_IMM(R3, 8)),
        INSN_CODE(MOV_IMM(R4, 0)),
        INSN_CODE(CALL(BPF_FUNC_get_stack)),
        INSN_CODE(MOV_IMM(R0, 0)),
        INSN_CODE(EXIT()),
    };

    return bpf_try(BPF_PROG_TYPE_PERF_EVENT, insns, COUNT_OF(insns));
}

int bpf_try_namespaces(void)
{
    const struct bpf_insn insns[] = {
        INSN_CODE(MOV_IMM(R1, 0)),
        INSN_CODE(MOV_IMM(R2, 0)),
        INSN_CODE(MOV_REG(R3, R10)),
        INSN_CODE(ADD_IMM(R3, -8)),
        INSN_CODE(MOV_IMM(R4, 8)),
        INSN_CODE(CALL(BPF_FUNC_get_ns_current_pid_tgid)),
        INSN_CODE(MOV_IMM(R0, 0)),
        INSN_CODE(EXIT()),
    };

    return bpf_try(BPF_PROG_TYPE_KPROBE, insns, COUNT_OF(insns));
}

bool bpf_has_loops(void)
{
    /* r0 = 0; do r0++; while (r0 < 2); return r0 */
    static const struct bpf_insn insns[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K},
        {.code = BPF_ALU64 | BPF_ADD | BPF_K, .imm = 1},
        {.code = BPF_JMP | BPF_JLT | BPF_K, .off = -2, .imm = 2},
        {.code = BPF_JMP | BPF_EXIT},
    };
    static enum {UNKNOWN, NONE, LOOPS} known;
    struct bpf_abi_prog_load attributes = {
        .prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
        .insn_cnt = COUNT_OF(insns),
        .insns = pointer(insns),
        .license = pointer(""),
    };
    int fd = known ? -EEXIST : load_once(&attributes);

    close_fd(fd);
    if (!known)
        known = fd == -EINVAL ? NONE : LOOPS;
    return known == LOOPS;
}

int bpf_run_raw(int program, const uint64_t *context, size_t words)
{
    struct bpf_abi_test_run run = {
        .prog_fd = (uint32_t)program,
        .ctx_size_in = (uint32_t)(words * sizeof(*context)),
        .ctx_in = pointer(context),
    };

    return bpf_call(BPF_ABI_PROG_TEST_RUN, &run, sizeof(run));
}

int bpf_info(int fd, void *answer, uint32_t size)
{
    struct bpf_abi_info_by_fd ask = {
        .bpf_fd = (uint32_t)fd,
        .info_len = size,
        .info = pointer(answer),
    };

    return bpf_call(BPF_ABI_OBJ_GET_INFO_BY_FD, &ask, sizeof(ask));
}

int bpf_program_info(int program, struct bpf_program_info *info)
{
    struct bpf_abi_prog_info answer = {0};
    int result = bpf_info(program, &answer, sizeof(answer));

    *info = (struct bpf_program_info){
        .id = answer.id,
        .jited_bytes = answer.jited_prog_len,
        .translated_bytes = answer.xlated_prog_len,
        .run_time_ns = answer.run_time_ns,
        .run_count = answer.run_cnt,
        .recursion_misses = answer.recursion_misses,
    };
    return result;
}

/* The elements of maps: lookups, updates, removals. */

#define BATCH_ENTRIES 1024

static _Thread_local struct {
    unsigned depth;
    int policy;
    struct sched_param parameters;
    bool raised;
} before;

bool bpf_begin_unpreempted(void)
{
    struct sched_param first_in_line = {.sched_priority = 1};

    if (before.depth++)
        return before.raised;
    before.policy = (int)syscall(SYS_sched_getscheduler, 0);
    before.raised = false;
    /* The user has made us real-time already: keep that policy. */
    if (before.policy == SCHED_FIFO || before.policy == SCHED_RR || before.policy == SCHED_DEADLINE)
        return true;
    if (before.policy < 0 || syscall(SYS_sched_getparam, 0, &before.parameters))
        return false;
    before.raised = !syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &first_in_line);
    return before.raised;
}

void bpf_end_unpreempted(void)
{
    if (--before.depth || !before.raised)
        return;
    syscall(SYS_sched_setscheduler, 0, before.policy, &before.parameters);
    before.raised = false;
}

/* For calls about the elements of a map. */
static int map_call(enum bpf_abi_command command, void *attributes, unsigned size)
{
    bpf_begin_unpreempted();
    int result = bpf_call(command, attributes, size);
    bpf_end_unpreempted();
    return result;
}

static int element(enum bpf_abi_command command, int map, const void *key, const void *value,
                   uint64_t flags)
{
    struct bpf_abi_map_elem elem = {(uint32_t)map, 0, pointer(key), pointer(value), flags};

    return map_call(command, &elem, sizeof(elem));
}

int bpf_freeze(int map)
{
    struct bpf_abi_map_elem attributes = {.map_fd = (uint32_t)map};

    return bpf_call(BPF_ABI_MAP_FREEZE, &attributes, sizeof(attributes.map_fd));
}

int bpf_lookup(int map, const void *key, void *value)
{
    return element(BPF_ABI_MAP_LOOKUP_ELEM, map, key, value, 0);
}

int bpf_sum_of_cpus(int map, uint32_t index, uint64_t *sums, size_t words)
{
    /* The kernel fills in a value per possible CPU. */
    size_t cpus = cpus_possible();
    uint64_t *values = calloc(cpus, words * sizeof(*values));

    if (!values)
        return -ENOMEM;
    int result = bpf_lookup(map, &index, values);
    memset(sums, 0, words * sizeof(*sums));
    for (size_t i = 0; !result && i < cpus * words; i++)
        sums[i % words] += values[i];
    free(values);
    return result;
}

int bpf_update(int map, const void *key, const void *value, uint64_t flags)
{
    return element(BPF_ABI_MAP_UPDATE_ELEM, map, key, value, flags);
}

int bpf_update_batch(int map, const void *keys, const void *values, uint32_t count)
{
    struct bpf_abi_map_batch batch = {
        .keys = pointer(keys),
        .values = pointer(values),
        .count = count,
        .map_fd = (uint32_t)map,
    };

    return map_call(BPF_ABI_MAP_UPDATE_BATCH, &batch, sizeof(batch));
}

int bpf_delete(int map, const void *key)
{
    return element(BPF_ABI_MAP_DELETE_ELEM, map, key, NULL, 0);
}

int bpf_next_key(int map, const void *key, void *next)
{
    return element(BPF_ABI_MAP_GET_NEXT_KEY, map, key, next, 0);
}

/*
 * Without batches. If the previous entry was deleted meanwhile, the kernel starts over and lists
 * entries twice; `drains`: it is, by us.
 */
static int take_singly(int map, bool drains, uint32_t key_size, uint32_t value_size,
                       bpf_take *take, void *context)
{
    char *keys = malloc((size_t)key_size * 2), *value = malloc(value_size);
    int result = keys && value ? bpf_next_key(map, NULL, keys) : -ENOMEM;

    while (!result) {
        result = bpf_lookup(map, keys, value);
        if (!result && drains)
            result = bpf_delete(map, keys);
        if (!result)
            result = take(context, keys, value);
        if (!result || (result == -ENOENT && !drains))
            result = bpf_next_key(map, drains ? NULL : keys, keys + key_size);
        if (!result)
            memcpy(keys, keys + key_size, key_size);
    }
    free(keys);
    free(value);
    return result == -ENOENT ? 0 : result;
}

static int take_all(int map, bool drains, uint32_t key_size, uint32_t value_size, bpf_take *take,
                    void *context)
{
    uint32_t room = BATCH_ENTRIES;
    char *keys = malloc((size_t)room * key_size), *values = malloc((size_t)room * value_size);
    /* The kernel's position in the map: at most as large as a key. */
    char *place = calloc(1, key_size > 8 ? key_size : 8);
    bool first = true;
    int got = 0, result = keys && values && place ? 0 : -ENOMEM;

    while (!result && got != -ENOENT) {
        struct bpf_abi_map_batch batch = {
            .in_batch = first ? 0 : pointer(place),
            .out_batch = pointer(place),
            .keys = pointer(keys),
            .values = pointer(values),
            .count = room,
            .map_fd = (uint32_t)map,
        };
        got = map_call(drains ? BPF_ABI_MAP_LOOKUP_AND_DELETE_BATCH : BPF_ABI_MAP_LOOKUP_BATCH,
                       &batch, sizeof(batch));
        if (got == -ENOSPC) { /* a hash bucket holds more entries than fit */
            char *more_keys = realloc(keys, (size_t)room * 2 * key_size);
            keys = more_keys ? more_keys : keys;
            char *more_values = realloc(values, (size_t)room * 2 * value_size);
            values = more_values ? more_values : values;
            if (!more_keys || !more_values)
                result = -ENOMEM;
            room *= 2;
            continue;
        }
        if (got && got != -ENOENT) {
            /* The first call failed: the kernel has no batches, and nothing was taken yet. */
            result = got;
            if (first && got != -ENOMEM)
                result = take_singly(map, drains, key_size, value_size, take, context);
            break;
        }
        first = false;
        for (uint32_t i = 0; i < batch.count && !result; i++)
            result = take(context, keys + (size_t)i * key_size, values + (size_t)i * value_size);
    }
    free(keys);
    free(values);
    free(place);
    return result;
}

bool bpf_has_batches(int map)
{
    uint64_t key = 0, value = 0, place = 0;
    struct bpf_abi_map_batch batch = {
        .out_batch = pointer(&place),
        .keys = pointer(&key),
        .values = pointer(&value),
        .count = 1,
        .map_fd = (uint32_t)map,
    };
    int result = map_call(BPF_ABI_MAP_LOOKUP_AND_DELETE_BATCH, &batch, sizeof(batch));

    return !result || result == -ENOENT;
}

int bpf_drain(int map, uint32_t key_size, uint32_t value_size, bpf_take *take, void *context)
{
    return take_all(map, true, key_size, value_size, take, context);
}

int bpf_list(int map, uint32_t key_size, uint32_t value_size, bpf_take *take, void *context)
{
    return take_all(map, false, key_size, value_size, take, context);
}
