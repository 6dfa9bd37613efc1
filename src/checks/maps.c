/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* bpf(2), how it runs programs, and maps. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "checks/look.h"
#include "insns/insn.h"
#include "kernel/limits.h"
#include "maps/recorder.h"
#include "maps/store.h"
#include "maps/waits.h"

static int create_hash(void)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_HASH,
        .name = "check",
        .key_size = sizeof(uint64_t),
        .value_size = sizeof(uint64_t),
        .entries = 1,
    };

    return bpf_create_map(&shape);
}

static void check_bpf(struct checks *checks)
{
    struct check *batches = &checks->of[CHECK_BATCHES];
    const int refused = checks->found[0].refused;
    int map = create_hash();

    if (map >= 0 && refused == -EINVAL)
        check_refuse(&checks->of[CHECK_BPF], refusal_too_old);
    else
        check_decide(&checks->of[CHECK_BPF], REFUSED_MAPS, map < 0 ? map : refused, 0);
    if (map < 0) {
        check_decide(batches, REFUSED_MAPS, map, 0);
        return;
    }
    batches->yes = bpf_has_batches(map);
    if (!batches->yes)
        check_refuse(batches, "this kernel has none (Linux 5.6): tables are read one entry at a time, and "
                              "reports take longer");
    close(map);
}

/* Some kernels cannot interpret a program that asks for its CPU. 0 or a negative errno. */
static int try_interpreter(void)
{
    const struct bpf_insn insns[] = {
        INSN_CODE(CALL(BPF_FUNC_get_smp_processor_id)),
        INSN_CODE(MOV_IMM(R0, 0)),
        INSN_CODE(EXIT()),
    };
    const struct bpf_load load = {
        .type = BPF_PROG_TYPE_SOCKET_FILTER,
        .name = "check",
        .insns = insns,
        .count = COUNT_OF(insns),
    };
    struct text unwanted = {0};
    int program = bpf_load_program(&load, &unwanted);

    text_free(&unwanted);
    if (program >= 0)
        close(program);
    return program < 0 ? program : 0;
}

/* A type of program that anybody may load who may use bpf(2) at all. */
static void check_jit(struct checks *checks)
{
    struct check *check = &checks->of[CHECK_JIT];
    struct bpf_program_info info;
    int program = check_load(BPF_PROG_TYPE_SOCKET_FILTER);
    int result = program < 0 ? program : bpf_program_info(program, &info);

    if (!result && !info.translated_bytes)
        result = -EPERM; /* only root is told: before 5.8 everybody may load this */
    if (program >= 0 && result == -EINVAL && refusal_has_capability(CAP_SYS_ADMIN)) {
        info.jited_bytes = kernel_jit_is_on(); /* before 4.13 programs cannot be queried */
        result = 0;
    }
    check_decide(check, REFUSED_MAPS, result, 0);
    check->yes = check->yes && info.jited_bytes;
    if (result >= 0 && !check->yes) {
        const bool is_off = kernel_jit_is_off();
        checks->needs_jit = refusal_explain_interpreter(try_interpreter(), &check->detail);
        if (!checks->needs_jit)
            text_format(&check->detail, "%sprograms are interpreted, and events take several times as long: %s",
                        is_off ? "net.core.bpf_jit_enable is 0, so " : "",
                        is_off ? "sysctl net.core.bpf_jit_enable=1" : "boot a kernel with CONFIG_BPF_JIT");
    }
    if (program >= 0)
        close(program);
}

static uint64_t kilobytes(uint64_t bytes)
{
    return bytes / 1024;
}

/* As applets that count do by default. */
static void check_memory(struct check *check)
{
    const struct store_wishes wishes = {0};
    struct store store;
    int result = store_open(&store, &wishes);

    check_decide(check, REFUSED_MAPS, result, store_bytes(&store));
    if (!result)
        text_format(&check->detail, "%llu KB for %u stacks of %u frames; %llu KB are free",
                    (unsigned long long)kilobytes(store_bytes(&store)), store.stacks, store.depth,
                    (unsigned long long)kilobytes(kernel_free_memory()));
    store_close(&store);
}

/* The same, with stacks kept by the kernel's ids, too. */
static void check_stack_maps(struct check *check)
{
    const struct store_wishes wishes = {.by_id = true};
    struct store store;
    int result = store_open(&store, &wishes);

    check_decide(check, REFUSED_MAPS, result, store_bytes(&store));
    if (!result && !store.settled.ids.buckets)
        text_add(&check->detail, "but not used, since this kernel cannot map arrays (Linux 5.5): stacks "
                                 "are kept by stackbox's own hashes, and events take longer");
    store_close(&store);
}

/* With the map of waiting threads. The sentence is about what was refused. */
static void check_waits(struct check *check)
{
    const struct store_wishes wishes = {
        .key_bytes = (uint32_t)offwake_key_bytes(VIEW_OFFWAKE),
        .value_bytes = (uint32_t)offwake_value_bytes(false),
    };
    struct store store;
    struct waits waits = {.store = &store, .view = VIEW_OFFWAKE, .most = UINT64_MAX, .map = -1, .rests = -1};
    int result = store_open(&store, &wishes);
    uint64_t bytes = store_bytes(&store);

    if (!result) {
        result = waits_open(&waits);
        bytes = result ? waits_bytes(&waits) : bytes + waits_bytes(&waits);
    }
    check_decide(check, REFUSED_MAPS, result, bytes);
    if (!result)
        text_format(&check->detail, "%llu KB for up to %u waiting threads",
                    (unsigned long long)kilobytes(bytes), waits.entries);
    waits_close(&waits);
    store_close(&store);
}

/* For single events. */
static void check_buffer(struct check *check)
{
    const struct recorder_wishes wishes = {.stacks = 2};
    struct recorder recorder;
    int result = recorder_open(&recorder, &wishes);

    check_decide(check, REFUSED_MAPS, result, recorder.bytes);
    if (!result)
        text_format(&check->detail, recorder.kind == RECORDER_RING
                                        ? "%llu KB"
                                        : "as perf buffers, one for each CPU, %llu KB in all",
                    (unsigned long long)kilobytes(recorder.bytes));
    recorder_close(&recorder);
}

static void wait_for_memory(void)
{
    static const struct timespec moment = {0, 50000000};

    if (check_is_limited)
        nanosleep(&moment, NULL);
}

/* One after another: together they would take more than an applet does. */
void check_maps(struct checks *checks)
{
    check_bpf(checks);
    check_jit(checks);
    wait_for_memory();
    check_memory(&checks->of[CHECK_MEMORY]);
    wait_for_memory();
    check_stack_maps(&checks->of[CHECK_STACK_MAPS]);
    wait_for_memory();
    check_waits(&checks->of[CHECK_WAITS]);
    wait_for_memory();
    check_buffer(&checks->of[CHECK_BUFFER]);
}
