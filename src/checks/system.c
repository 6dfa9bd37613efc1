/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which files we may read, and which capabilities we have. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "checks/checks.h"
#include "collect/scope.h"
#include "insns/insn.h"
#include "kernel/kallsyms.h"
#include "kernel/limits.h"
#include "ptrace/breakpoints.h"
#include "ptrace/tracer.h"
#include "store/recorder.h"
#include "store/store.h"
#include "store/waits.h"

/* If this many functions have no address, none has. */
#define ENOUGH_FUNCTIONS 64
#define CGROUPS "/sys/fs/cgroup"

struct kernel_names {
    size_t hidden;
    bool shown;
};

static int look_at_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    struct kernel_names *names = context;

    if (symbol->type != 't' && symbol->type != 'T')
        return 0;
    names->shown = symbol->address;
    names->hidden++;
    return names->shown || names->hidden == ENOUGH_FUNCTIONS;
}

static void check_kallsyms(struct check *check)
{
    struct kernel_names names = {0};
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    int result = fd < 0 ? -errno : kallsyms_each(fd, look_at_symbol, &names);

    check->yes = names.shown;
    close_fd(fd);
    if (check->yes)
        return;
    if (!result && names.hidden)
        check_refuse(check, refusal_hidden_names);
    else
        text_format(&check->detail, "/proc/kallsyms cannot be read, so kernel functions have no "
                    "names (%s): mount /proc, or boot a kernel with CONFIG_KALLSYMS",
                    result ? strerror(-result) : "it is empty");
}

static void check_btf(struct check *check)
{
    static const char path[] = "/sys/kernel/btf/vmlinux";
    int fd = open(path, O_RDONLY | O_CLOEXEC), error = errno;

    check->yes = fd >= 0;
    if (fd >= 0)
        close(fd);
    else if (error == ENOENT)
        text_format(&check->detail,
                    "there is no /sys/kernel/btf/vmlinux, which %severything needs if tracefs is "
                                    "closed: mount /sys, or boot a kernel with "
                                    "CONFIG_DEBUG_INFO_BTF",
                    check_rings ? "" : "unwind tables need, and ");
    else
        text_format(&check->detail, "%s cannot be read: %s", path, strerror(error));
}

/* Tries process 1, which is root's, or at least not ours; a container may not reach it. */
static void check_others(struct check *check)
{
    int fd = open("/proc/1/maps", O_RDONLY | O_CLOEXEC), error = errno;

    check->yes = fd >= 0 || (error != ENOENT && refusal_has_capability(CAP_SYS_PTRACE));
    if (fd >= 0)
        close(fd);
    else if (error == ENOENT)
        check_refuse(check,
                     "there is no /proc/1/maps, so nothing tells what processes have mapped: "
                            "mount /proc");
    if (!check->yes && !check->detail.length)
        check_refuse(check,
                     "CAP_SYS_PTRACE is missing, so nothing tells what other users' processes "
                            "have mapped: run it as root, or give it CAP_SYS_PTRACE, and "
                            "CAP_DAC_READ_SEARCH for programs that not everybody may read");
}

static void check_real_time(struct check *check)
{
    check->yes = bpf_begin_unpreempted();
    bpf_end_unpreempted();
    if (!check->yes)
        check_refuse(check, "CAP_SYS_NICE is missing, so a preemptible kernel may lose some events "
                            "while tables are read: run it as root, or give it CAP_SYS_NICE");
}

static void check_cgroups(struct check *check)
{
    static const char *const places[] = {CGROUPS, CGROUPS "/unified"};
    int map = -ENOENT;

    for (size_t i = 0; i < COUNT_OF(places) && map < 0; i++)
        map = scope_open_cgroup(places[i], check_rings);
    check->yes = map >= 0;
    if (map >= 0)
        close(map);
    else if (map == -EPERM || map == -EACCES || map == -ENOSYS)
        check_decide(check, REFUSED_MAPS, map, 0);
    else
        check_refuse(check, "there is no cgroup v2 (CONFIG_CGROUPS) at " CGROUPS
                            ": mount it (mount -t cgroup2 none " CGROUPS
                            ") instead of version 1, or give --cgroup its full path");
}

/* ---- Capabilities ---- */

static const struct {
    unsigned number;
    bool as_admin; /* CAP_SYS_ADMIN will do, too */
    const char *name, *use;
} capabilities[] = {
    {NUMBER_CAP_BPF, true, "CAP_BPF", "maps and programs"},
    {NUMBER_CAP_PERFMON, true, "CAP_PERFMON", "programs and events"},
    {CAP_SYSLOG, false, "CAP_SYSLOG", "names of kernel functions"},
    {CAP_SYS_PTRACE, false, "CAP_SYS_PTRACE", "mappings of others' processes"},
    {CAP_DAC_READ_SEARCH, false, "CAP_DAC_READ_SEARCH", "others' files"},
    {CAP_SYS_NICE, false, "CAP_SYS_NICE", "exact intervals"},
    {CAP_SYS_ADMIN, false, "CAP_SYS_ADMIN", "tracefs, and kernel.perf_event_paranoid above 2"},
};

static void check_capabilities(struct check *check)
{
    struct text missing = {0}, held = {0};
    bool admin = refusal_has_capability(CAP_SYS_ADMIN);

    for (size_t i = 0; i < COUNT_OF(capabilities); i++) {
        if (refusal_has_capability(capabilities[i].number))
            text_format(&held, "%s%s", held.length ? ", " : "", capabilities[i].name);
        else if (!admin || !capabilities[i].as_admin)
            text_format(&missing, "%s%s (%s)", missing.length ? ", " : "", capabilities[i].name,
                        capabilities[i].use);
    }
    check->yes = !missing.length;
    if (!check->yes)
        text_format(&check->detail, "missing: %s; ", missing.data);
    text_format(&check->detail, "held: %s", held.length ? held.data : "none");
    if (!check->yes)
        text_add(&check->detail, ": run it as root, or give it the missing ones");
    text_free(&missing);
    text_free(&held);
}

static void check_lockdown(struct check *check)
{
    struct text level = {0};

    check->yes = !refusal_locked_down(&level);
    if (!check->yes)
        text_format(&check->detail,
                    "this kernel is locked down (%s), which blocks whatever says no "
                    "above: boot with lockdown=none, or without secure boot", level.data);
    text_free(&level);
}

static void check_ptrace(struct check *check)
{
    const int result = tracer_try(NULL);

    check->yes = !result;
    if (result)
        tracer_explain(result, 0, &check->detail);
    else
        text_format(&check->detail, "profile, walltime, offcputime%s and system calls of -p or -- "
                    "COMMAND, where nothing else works",
                    breakpoints_count() ? ", user functions" : "");
}

void check_rights(struct checks *checks)
{
    check_ptrace(&checks->of[CHECK_PTRACE]);
    check_kallsyms(&checks->of[CHECK_KALLSYMS]);
    check_btf(&checks->of[CHECK_BTF]);
    check_others(&checks->of[CHECK_OTHERS]);
    check_real_time(&checks->of[CHECK_REAL_TIME]);
    check_cgroups(&checks->of[CHECK_CGROUPS]);
    check_capabilities(&checks->of[CHECK_CAPABILITIES]);
    check_lockdown(&checks->of[CHECK_LOCKDOWN]);
}

/* bpf(2), how it runs programs, and maps. */

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
        check_decide(&checks->of[CHECK_BPF], REFUSED_MAPS,
                     map < 0 ? map : refused == -ENODATA ? 0 : refused, 0);
    if (map >= 0 && refused == -ENODATA)
        text_add(&checks->of[CHECK_BPF].detail, "but without user stacks: most applets collect "
                                                "by perf's rings");
    if (map < 0) {
        check_decide(batches, REFUSED_MAPS, map, 0);
        return;
    }
    batches->yes = bpf_has_batches(map);
    if (!batches->yes)
        check_refuse(batches,
                     "this kernel has none (Linux 5.6): tables are read one entry at a time, and "
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

    return bpf_try(BPF_PROG_TYPE_SOCKET_FILTER, insns, COUNT_OF(insns));
}

/* With a program type that every process may load if it may use bpf(2) at all. */
static void check_jit(struct checks *checks)
{
    struct check *check = &checks->of[CHECK_JIT];
    struct bpf_program_info info;
    int program = bpf_load_nothing(BPF_PROG_TYPE_SOCKET_FILTER, 0);
    int result = program < 0 ? program : bpf_program_info(program, &info);

    if (!result && !info.translated_bytes)
        result = -EPERM; /* only root may query it: before 5.8 every user may load this */
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
            text_format(&check->detail,
                        "%sprograms are interpreted, and events take several times as long: %s",
                        is_off ? "net.core.bpf_jit_enable is 0, so " : "",
                        is_off ? "sysctl net.core.bpf_jit_enable=1"
                            : "boot a kernel with CONFIG_BPF_JIT");
    }
    close_fd(program);
}

static unsigned long long kilobytes(uint64_t bytes)
{
    return bytes / 1024;
}

/* Creates the maps that counting applets have by default. */
static void check_memory(struct check *check)
{
    const struct store_config config = {0};
    struct store store;
    int result = store_open(&store, &config);

    check_decide(check, REFUSED_MAPS, result, store_bytes(&store));
    if (!result)
        text_format(&check->detail, "%llu KB for %u stacks of %u frames; %llu KB are free",
                    kilobytes(store_bytes(&store)), store.stacks, store.depth,
                    kilobytes(kernel_free_memory()));
    store_close(&store);
}

/* The same with the map in which the kernel keeps stacks by ids. */
static void check_stack_maps(struct check *check)
{
    const struct store_config config = {.by_id = true};
    struct store store;
    int result = store_open(&store, &config);

    check_decide(check, REFUSED_MAPS, result, store_bytes(&store));
    if (!result && !store.settled.ids.buckets)
        text_add(&check->detail,
                 "but not used, since this kernel cannot map arrays (Linux 5.5): stacks "
                                 "are kept by stackbox's own hashes, and events take longer");
    store_close(&store);
}

/* With the map of waiting threads. The sentence has the size of the map that was refused. */
static void check_waits(struct check *check)
{
    const struct store_config config = {
        .key_bytes = (uint32_t)offwake_key_bytes(VIEW_OFFWAKE),
        .value_bytes = (uint32_t)offwake_value_bytes(false),
    };
    struct store store;
    struct waits waits = {.store = &store, .view = VIEW_OFFWAKE, .most = UINT64_MAX, .map = -1,
                          .rests = -1};
    int result = store_open(&store, &config);
    uint64_t bytes = store_bytes(&store);

    if (!result) {
        result = waits_open(&waits);
        bytes = result ? waits_bytes(&waits) : bytes + waits_bytes(&waits);
    }
    check_decide(check, REFUSED_MAPS, result, bytes);
    if (!result)
        text_format(&check->detail, "%llu KB for up to %u waiting threads", kilobytes(bytes),
                    waits.entries);
    waits_close(&waits);
    store_close(&store);
}

/* Creates the buffer for single events. */
static void check_buffer(struct check *check)
{
    const struct recorder_config config = {.stacks = 2};
    struct recorder recorder;
    int result = recorder_open(&recorder, &config);

    check_decide(check, REFUSED_MAPS, result, recorder.bytes);
    if (!result)
        text_format(&check->detail, recorder.kind == RECORDER_RING
                                        ? "%llu KB"
                                        : "as perf buffers, one for each CPU, %llu KB in all",
                    kilobytes(recorder.bytes));
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
