/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Probes on kernel and user functions: each way is tried by itself. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/opening.h"
#include "base/text.h"
#include "base/util.h"
#include "checks/checks.h"
#include "collect/scope.h"
#include "elf/elf.h"
#include "find/library.h"
#include "kernel/limits.h"
#include "kernel/perf.h"
#include "kernel/sampling.h"
#include "kernel/switches.h"
#include "kernel/tracefs.h"
#include "machine/machine.h"
#include "rings/ring_source.h"
#include "rings/rings.h"
#include "run/user_stacks.h"
#include "store/waits.h"
#include "unwind/kernel_offsets.h"
#include "unwind/table.h"

/* Every kernel has it, as modules need it, and it is hardly ever called. */
static const char function[] = "vfs_mknod";

static int attach(const struct place *place, enum attach_way way, int tracefs)
{
    struct attach_request request = {
        .instead = check_rings ? &ring_attach : NULL,
        .context = check_rings,
        .program_name = "check",
        .tracefs = tracefs,
        .way = way,
    };
    struct places places = {0};
    struct attachment attachment;
    int result = check_rings && way == ATTACH_MULTI ? -EOPNOTSUPP : places_add(&places, place);

    for (size_t i = 0; i < ATTACH_PROGRAMS; i++)
        request.programs[i] = (struct linked){.insns = bpf_nothing,
                                              .count = COUNT_OF(bpf_nothing)};
    if (!result) {
        /* places_add has copied only the names. */
        result = attach_open(&attachment, &request, &places);
        (void)attach_close(&attachment);
    }
    places_free(&places);
    return result;
}

/* Attaches by text, the last resort if neither links nor perf events work. */
static int attach_by_text(const struct place *place)
{
    int tracefs = tracefs_open();
    int result = attach(place, ATTACH_BEST, tracefs);

    close_fd(tracefs);
    return result;
}

/* An instruction that never runs: where any will do, the first one of this program. */
static uint64_t unused_instruction(void)
{
    const struct machine *ours = machine_ours();

    return ours->unused_instruction ? ours->unused_instruction() : getauxval(AT_ENTRY);
}

/* Its offset in our file, wherever the file was loaded. */
static int find_own_instruction(const char *path, uint64_t *offset)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct elf elf;

    if (fd < 0)
        return -errno;
    int result = elf_open(&elf, fd);
    if (!result) {
        if (!elf_offset_of(&elf, elf.entry + (unused_instruction() - getauxval(AT_ENTRY)), offset))
            result = -ENOEXEC;
        elf_close(&elf);
    }
    close(fd);
    return result;
}

/* Without /proc, AT_EXECFN has the path of our file. */
static int find_own_file(struct place *place)
{
    const char *given = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    int result;

    place->file = place->path = "/proc/self/exe";
    result = find_own_instruction(place->file, &place->file_offset);
    if (!result || !given)
        return result;
    place->file = place->path = given;
    return find_own_instruction(given, &place->file_offset);
}

/*
 * A file that no process runs, for kernels that cannot probe our own file, as it is 32-bit, but can
 * probe others.
 */
static int make_file(struct place *place, char *path, size_t room, int *file)
{
    static const uint32_t instruction = 0;

    *file = memfd_create("check", MFD_CLOEXEC);
    if (*file < 0 || write(*file, &instruction, sizeof(instruction)) != sizeof(instruction))
        return -errno;
    snprintf(path, room, "/proc/self/fd/%d", *file);
    place->file = place->path = path;
    return 0;
}

static void decide_way(struct check *check, enum refused what, int result, const char *without)
{
    if (result == -EOPNOTSUPP)
        check_refuse(check, without);
    else
        check_decide(check, what, result, 0);
}

/*
 * An applet takes the first way that the kernel has, and fails if the kernel refuses it. Rings use
 * text first.
 */
static int best_of(int multi, int pmu, const struct place *place)
{
    if (check_rings)
        return attach_by_text(place);
    if (multi != -EOPNOTSUPP)
        return multi;
    return pmu == -EOPNOTSUPP ? attach_by_text(place) : pmu;
}

/* Links to many functions at once: no 32-bit kernel has them. */
static const char *no_links(const char *otherwise)
{
    if (check_rings)
        return "perf's rings have none: functions are probed one by one";
    return machine_of_kernel()->bits == 32
        ? "32-bit kernels have none: functions are probed one by one"
                                           : otherwise;
}

/* Code that programs here may contain but the kernel cannot probe: patterns for it are refused. */
static const char *unprobed(void)
{
    const struct machine *kernel = machine_of_kernel();

    return kernel->probes_wide_alone ? "but not in 32-bit ones"
           : kernel->marks.thumb     ? "but not in Thumb code"
                                     : "";
}

void check_kernel_functions(struct checks *checks)
{
    const struct place place = {
        .kind = PLACE_KERNEL_FUNCTION,
        .named = true,
        .name = (char *)(uintptr_t)function,
        .start = machine_has_link(machine_of_kernel()) ? START_LINK : START_NONE,
    };
    int multi = attach(&place, ATTACH_MULTI, -1), pmu = attach(&place, ATTACH_PMU, -1);

    decide_way(&checks->of[CHECK_KPROBE_MULTI], REFUSED_PROBES, multi,
               no_links("this kernel has none (Linux 5.18, CONFIG_FPROBE): functions are probed "
                        "one by one"));
    if (!multi && machine_of_kernel()->links_lack_stacks)
        text_add(&checks->of[CHECK_KPROBE_MULTI].detail,
                 "but without kernel stacks on this machine: functions are probed one by one");
    decide_way(&checks->of[CHECK_KPROBE_PMU], REFUSED_PROBES, pmu,
               "this kernel has none (Linux 4.17, CONFIG_KPROBE_EVENTS): other ways are used");
    check_decide(&checks->of[CHECK_KERNEL_FUNCTIONS], REFUSED_PROBES, best_of(multi, pmu, &place),
                 0);
}

void check_user_functions(struct checks *checks)
{
    struct place place = {.kind = PLACE_USER, .name = (char *)(uintptr_t)"start"};
    char path[32];
    int made = -1;
    int found = machine_ours()->bits == 32 && machine_of_kernel()->probes_wide_alone
                    ? make_file(&place, path, sizeof(path), &made) : find_own_file(&place);
    int multi = found ? found : attach(&place, ATTACH_MULTI, -1);
    int pmu = found ? found : attach(&place, ATTACH_PMU, -1);

    decide_way(&checks->of[CHECK_UPROBE_MULTI], REFUSED_USER_PROBES, multi,
               no_links("this kernel has none (Linux 6.6): functions are probed one by one"));
    decide_way(&checks->of[CHECK_UPROBE_PMU], REFUSED_USER_PROBES, pmu,
               "this kernel has none (Linux 4.17, CONFIG_UPROBE_EVENTS): other ways are used");
    check_decide(&checks->of[CHECK_USER_FUNCTIONS], REFUSED_USER_PROBES,
                 found ? found : best_of(multi, pmu, &place), 0);
    if (checks->of[CHECK_USER_FUNCTIONS].yes)
        text_add(&checks->of[CHECK_USER_FUNCTIONS].detail, unprobed());
    close_fd(made);
}

/* perf's rings: can they be used, and, if no program collects, with which events. */

struct ring_source *check_rings;

static struct scope scope;
static struct ring_source source;
static struct ring_unwind by_the_kernel; /* stacks do not matter here */

static int take_nothing(void *context, const struct ring_record *record)
{
    (void)context;
    (void)record;
    return 0;
}

static int open_source(void)
{
    struct text unwanted = {0};

    scope_init(&scope);
    scope.filter.cpu = -1;
    source.options = (struct ring_options){.scope = &scope, .unwind = &by_the_kernel,
                                          .capture = {.kernel_stack = true, .user_stack = true},
                                          .raw = true};
    int result = ring_source_open(&source, take_nothing, NULL, &unwanted);
    text_free(&unwanted);
    return result;
}

static void decide(struct check *check, int result)
{
    check->yes = !result;
    if (result)
        rings_explain(result, &check->detail);
}

void check_rings_open(struct checks *checks)
{
    struct check *own = &checks->of[CHECK_OWN_RINGS];
    const int refused = rings_try(false, true);
    const bool needed = !refused && checks->found[0].way == COLLECT_RINGS;

    decide(own, rings_try(true, false));
    if (own->yes && refused)
        text_format(&own->detail, "profile with -p PID or -- COMMAND%s",
                    rings_try(true, true) ? ", without kernel stacks" : "");
    decide(&checks->of[CHECK_RINGS], needed ? open_source() : refused);
    if (needed && checks->of[CHECK_RINGS].yes)
        check_rings = &source;
    else
        check_rings_close();
}

void check_rings_close(void)
{
    ring_source_close(&source);
    check_rings = NULL;
}

/* Could such an event be opened? 0 or a negative errno. */
static int check_ring_event(uint32_t type, uint64_t config)
{
    static const struct ring_place nowhere = {.flags = 0};
    const struct rings_event event = {.type = type, .config = config, .period = 1000000000};
    int result = ring_source_add(check_rings, &event, &nowhere);

    ring_attach.detach(check_rings);
    return result;
}

/* Tracepoints, and what depends on the scheduler's. */

/* One that every kernel has and applets use. */
static int attach_tracepoint(int tracefs, const char *name)
{
    uint32_t id;
    int result = tracefs_event_id(tracefs, "sched", name, &id);

    if (check_rings)
        return result ? result : check_ring_event(PERF_TYPE_TRACEPOINT, id);
    int program = result ? result : bpf_load_nothing(BPF_PROG_TYPE_TRACEPOINT, 0);
    int event = program < 0 ? program : perf_open_tracepoint(id);

    result = event < 0 ? event : perf_attach(event, program);
    close_fd(event);
    close_fd(program);
    return result;
}

/* Finds the files of tracepoints; an open directory or below 0. */
static int check_tracefs(struct check *check)
{
    /* Like all applets, does not use a mounted tracefs in which nothing can be opened. */
    int tracefs = tracefs_open(), mounted = tracefs_open_mounted();

    if (mounted >= 0)
        close(mounted);
    else if (tracefs >= 0)
        text_add(&check->detail, "mounted for stackbox alone when needed");
    check_decide(check, REFUSED_TRACEFS, tracefs, 0);
    return tracefs;
}

void check_commands(struct checks *checks)
{
    struct event_filter filter = {.cpu = -1};
    struct follow follow = FOLLOW_NONE;
    enum refused what;

    /* Rings follow whatever a task forks. */
    if (check_rings) {
        checks->of[CHECK_COMMANDS].yes = true;
        return;
    }
    int result = follow_open(&follow, &filter, &what);

    check_decide(&checks->of[CHECK_COMMANDS], what, result, follow.size);
    follow_close(&follow);
}

void check_lives(struct checks *checks)
{
    struct lifetimes lifetimes;

    if (check_rings) {
        checks->of[CHECK_LIVES].yes = true;
        return;
    }
    check_decide(&checks->of[CHECK_LIVES], REFUSED_PROBES,
                 lifetimes_open(&lifetimes, &(struct event_filter){.cpu = -1}), 0);
    lifetimes_close(&lifetimes);
}

/* The programs themselves, with everything that applets record when a thread leaves its CPU. */
static int open_switches(struct switches *switches, struct store *store, struct waits *waits,
                         struct switches_refusal *refusal)
{
    struct capture capture = {
        .view = VIEW_OFFCPU,
        .filter = {.cpu = -1},
        .kernel_stack = true,
        .user_stack = true,
        .states = STATE_BLOCKED,
        .most = UINT64_MAX,
        .depth = store->depth,
        .control = store->controls.control,
        .account = store->controls.account,
        .slots = store->controls.slots,
        .lifetimes = LIFE_MAPS_NONE,
        .waits = waits->map,
        .banks = store->banks,
    };

    return switches_open(switches, &capture, NULL, refusal);
}

/* Does it work by tracefs? */
static bool check_switches(struct check *check)
{
    const struct store_config config = {
        .stacks = 1,
        .key_bytes = (uint32_t)offwake_key_bytes(VIEW_OFFCPU),
        .value_bytes = (uint32_t)offwake_value_bytes(false),
    };
    struct store store;
    struct waits waits = {.store = &store, .view = VIEW_OFFCPU, .most = UINT64_MAX, .map = -1,
                          .rests = -1};
    struct switches switches = SWITCHES_NONE;
    struct switches_refusal refusal = {.what = REFUSED_MAPS};
    int result = store_open(&store, &config);

    if (!result)
        result = waits_open(&waits);
    if (!result)
        result = open_switches(&switches, &store, &waits, &refusal);
    check_decide(check, refusal.what, result, 0);
    if (!result && switches.raw)
        text_add(&check->detail, "by raw tracepoints and BTF");
    bool by_tracefs = !result && !switches.raw;
    switches_close(&switches);
    waits_close(&waits);
    store_close(&store);
    text_free(&refusal.log);
    return by_tracefs;
}

static void check_by_tracefs(struct check *check, int tracefs, const char *name)
{
    check_decide(check, tracefs < 0 ? REFUSED_TRACEFS : REFUSED_PROBES,
                 tracefs < 0 ? tracefs : attach_tracepoint(tracefs, name), 0);
}

/* Checks that would make the same calls share one result. */
void check_tracepoints(struct checks *checks)
{
    struct check *check = &checks->of[CHECK_TRACEPOINTS];
    int tracefs = check_tracefs(&checks->of[CHECK_TRACEFS]);

    if (check_rings)
        check_by_tracefs(&checks->of[CHECK_SWITCHES], tracefs, "sched_waking");
    else
        check->yes = check_switches(&checks->of[CHECK_SWITCHES]);
    if (!check->yes)
        check_by_tracefs(check, tracefs, "sched_switch");
    close_fd(tracefs);
}

/* perf_event_open(2), and the events that can be sampled. */

static int open_tasks(void *context, unsigned cpu)
{
    int event = perf_open_tasks(cpu, 1, 0);

    (void)context;
    if (event < 0)
        return event;
    close(event);
    return 0;
}

static void check_perf_events(struct check *check)
{
    long paranoid = refusal_paranoid();

    check_decide(check, REFUSED_PROBES, cpus_each_online(open_tasks, NULL), 0);
    if (check->yes && paranoid >= 0)
        text_format(&check->detail, "kernel.perf_event_paranoid is %ld", paranoid);
}

static void check_sampling(struct check *check)
{
    if (check_rings) {
        check_decide(check, REFUSED_SAMPLING,
                     check_ring_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK), 0);
        return;
    }
    struct sampling_config config = {
        .event = sampling_events,
        .frequency = 1,
        .cpu = -1,
        .program = bpf_load_nothing(BPF_PROG_TYPE_PERF_EVENT, 0),
    };
    struct sampling sampling = {0};
    int result = config.program < 0 ? config.program : sampling_open(&sampling, &config);

    check_decide(check, REFUSED_SAMPLING, result, 0);
    sampling_close(&sampling);
    close_fd(config.program);
}

static void check_hardware(struct check *check)
{
    struct text *detail = &check->detail;
    int refusal = 0;

    for (const struct sampling_event *event = sampling_events; event->name; event++) {
        int result = event->type == PERF_TYPE_HARDWARE ? sampling_try(event) : -ENOENT;
        if (!result)
            text_format(detail, "%s%s", detail->length ? ", " : "", event->name);
        else if (result != -ENOENT)
            refusal = result;
    }
    check->yes = detail->length;
    if (!check->yes && refusal)
        check_decide(check, REFUSED_SAMPLING, refusal, 0);
    else if (!check->yes)
        check_refuse(check,
                     "the processor has no counters, or this virtual machine's host hides them: "
                            "profile's default, cpu-clock, needs none");
}

void check_events(struct checks *checks)
{
    check_perf_events(&checks->of[CHECK_PERF_EVENTS]);
    check_sampling(&checks->of[CHECK_SAMPLING]);
    check_hardware(&checks->of[CHECK_HARDWARE]);
}

/* ---- Can stacks of user code be walked by its files' tables? ---- */

#define MOST_READING_NS 2000000000

/* With rings this process walks the stacks, and needs no offsets of the kernel. */
static int try_walk(struct kernel_offsets *offsets, struct text *log)
{
    if (!check_rings)
        return kernel_offsets_open(offsets, log);
    return machine_walks() ? 0 : -EOPNOTSUPP;
}

void check_unwinding(struct checks *checks)
{
    struct check *check = &checks->of[CHECK_UNWINDING];
    struct kernel_offsets offsets = KERNEL_OFFSETS_NONE;
    struct text log = {0};
    const int result = try_walk(&offsets, &log);

    check->yes = !result;
    if (!result && checks->walks)
        text_add(&check->detail, "but stackcount of kernel functions walks frame pointers");
    if (result) {
        text_add(&check->detail, "user stacks are unwound by frame pointers: ");
        kernel_offsets_explain(result, &check->detail);
    }
    kernel_offsets_close(&offsets);
    text_free(&log);
}

static void take_counts(void *context, size_t which, int result, const struct table *table,
                        const struct frame_counts *counts)
{
    (void)which;
    (void)table;
    if (!result)
        *(struct frame_counts *)context = *counts;
}

void check_functions(struct check *unwinding)
{
    static const char *const name = "c";
    struct table_builder builder = {0};
    struct frame_counts counts = {0};
    struct library_seen seen;
    struct stat about;

    if (!library_see((uint32_t)getppid(), &name, 1, &seen) && seen.count) {
        struct library_mapped *const library = &seen.items[0];
        if (library->fd < 0) /* others' mappings take more rights */
            library->fd = open_regular(library->entry.path, 0, &about);
        if (library->fd >= 0 && !table_builder_begin(&builder, &library->fd, 1))
            table_builder_end(&builder, now_ns() + MOST_READING_NS, take_counts, &counts);
        if (counts.rows) {
            text_format(&unwinding->detail, "%sin %s ", unwinding->detail.length ? "; " : "",
                        library->entry.path);
            user_stacks_add_functions(&counts, &unwinding->detail);
        }
    }
    table_builder_free(&builder);
    library_seen_free(&seen);
}
