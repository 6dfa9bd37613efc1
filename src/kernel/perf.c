/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/kallsyms.h"
#include "kernel/limits.h"
#include "kernel/perf.h"
#include "machine/machine.h"

#define DEVICES "/sys/bus/event_source/devices"
#define MOST_CPUS 4096
#define SEMAPHORE_SHIFT 32 /* 4.20; its format file is the same on every architecture */

/* -EINTR: a signal came while perf_event_open(2) waited for a process in exec. */
static int open_with(struct perf_event_attr *attributes, pid_t pid, int cpu, unsigned long flags)
{
    const long fd = UNINTERRUPTED(
        syscall(SYS_perf_event_open, attributes, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC));

    return fd < 0 ? -errno : (int)fd;
}

int perf_open(struct perf_event_attr *attributes, int pid, unsigned cpu, unsigned long flags)
{
    return cpu < MOST_CPUS ? open_with(attributes, pid, (int)cpu, flags) : -EINVAL;
}

/*
 * The kernel opens the event on one CPU, but runs a program attached to the event on all. So any
 * online CPU will do.
 */
static int open_for_program(struct perf_event_attr *attributes)
{
    int result = -ENODEV;

    for (int cpu = 0; cpu < MOST_CPUS && result == -ENODEV; cpu++) {
        result = open_with(attributes, -1, cpu, 0);
        if (result == -EINVAL && cpu >= sysconf(_SC_NPROCESSORS_CONF))
            break;
    }
    return result;
}

static int read_device(const char *name, const char *file, struct text *content)
{
    struct text path = {0};

    text_format(&path, DEVICES "/%s/%s", name, file);
    int result = path.failed ? -ENOMEM : read_file(AT_FDCWD, path.data, 128, content);
    text_free(&path);
    if (!result && !content->data)
        result = -EINVAL;
    if (!result)
        content->data[strcspn(content->data, "\n")] = '\0';
    return result;
}

int perf_probe_type(const char *name, struct perf_probe_type *type)
{
    struct text content = {0};
    uint64_t number = 0, bit = 0;
    const char *config = NULL;
    int result = read_device(name, "type", &content);

    if (!result)
        result = parse_number(content.data, 0, UINT32_MAX, &number);
    type->type = (uint32_t)number;
    /* "config:0": the kernel says which bit asks for a return probe. */
    text_clear(&content);
    if (!result && !read_device(name, "format/retprobe", &content))
        config = starts_with(content.data, "config:");
    if (config)
        (void)parse_number(config, 0, 63, &bit);
    type->return_bit = 1ULL << bit;
    text_clear(&content);
    type->counts = !read_device(name, "format/ref_ctr_offset", &content);
    text_free(&content);
    return result;
}

int perf_open_kprobe(const struct perf_probe_type *type, bool at_return, const char *function,
                     uint64_t offset, uint64_t address)
{
    struct perf_event_attr attributes = {
        .type = type->type,
        .size = PERF_ATTR_SIZE_VER1, /* up to config2 */
        .config = at_return ? type->return_bit : 0,
        .kprobe_func = address ? 0 : (uint64_t)(uintptr_t)function,
        .probe_offset = address ? address : offset,
    };

    return open_for_program(&attributes);
}

int perf_open_uprobe(const struct perf_probe_type *type, const struct perf_uprobe *probe)
{
    struct perf_event_attr attributes = {
        .type = type->type,
        .size = PERF_ATTR_SIZE_VER1, /* up to config2 */
        .config = (probe->at_return ? type->return_bit : 0) | probe->semaphore << SEMAPHORE_SHIFT,
        .uprobe_path = (uint64_t)(uintptr_t)probe->path,
        .probe_offset = probe->offset,
    };

    if (probe->semaphore > UINT32_MAX)
        return -EOVERFLOW;
    if (!probe->pid)
        return open_for_program(&attributes);
    return open_with(&attributes, (pid_t)probe->pid, -1, 0);
}

int perf_open_tracepoint(uint32_t id)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = PERF_ATTR_SIZE_VER0,
        .config = id,
        .sample_period = 1, /* makes the kernel refuse events that cannot be sampled */
        .disabled = 1, /* for good: see perf_attach */
    };

    return open_for_program(&attributes);
}

/* Everything used here is older than 4.4, and so is the dummy event. */
int perf_open_tasks(unsigned cpu, uint32_t wakeup_bytes, uint32_t task)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .size = PERF_ATTR_SIZE_VER3, /* up to clockid */
        .sample_type = PERF_SAMPLE_TIME,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED, /* for perf_armed_ns */
        .sample_id_all = 1,
        .inherit = task != 0,
        .exclude_kernel = 1, /* its records stay complete; needs fewer rights */
        .exclude_hv = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .watermark = 1,
        .wakeup_watermark = wakeup_bytes,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };

    return perf_open(&attributes, task ? (int)task : -1, cpu, 0);
}

static int control(int event, unsigned request, unsigned long argument)
{
    return ioctl(event, request, argument) ? -errno : 0;
}

int perf_attach(int event, int program)
{
    return control(event, PERF_EVENT_IOC_SET_BPF, (unsigned long)program);
}

int perf_open_sampled(const struct perf_sampled *sampled)
{
    struct perf_event_attr attributes = {
        .type = sampled->type,
        .size = PERF_ATTR_SIZE_VER3, /* up to clockid */
        .config = sampled->config,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
        .disabled = 1,
        .exclude_idle = sampled->leaves_idle_out,
        .freq = sampled->by_frequency,
        .sample_period = sampled->period,
        .use_clockid = 1, /* for the records in its ring (throttle_read) */
        .clockid = CLOCK_MONOTONIC,
    };

    return perf_open(&attributes, -1, sampled->cpu, 0);
}

enum counted {
    COUNTED_VALUE,
    COUNTED_ENABLED, /* PERF_FORMAT_TOTAL_TIME_ENABLED */
    COUNTED_LOST,    /* and PERF_FORMAT_LOST */
    COUNTED_WORDS,
};

static int read_counted(int event, enum counted which, uint64_t *count)
{
    uint64_t words[COUNTED_WORDS];
    const ssize_t got = read_some(event, words, sizeof(words));

    if (got < (ssize_t)((which + 1) * sizeof(*words)))
        return got < 0 ? (int)got : -ENODATA;
    *count = words[which];
    return 0;
}

int perf_armed_ns(int event, uint64_t *armed)
{
    return read_counted(event, COUNTED_ENABLED, armed);
}

int perf_lost(int event, uint64_t *lost)
{
    return read_counted(event, COUNTED_LOST, lost);
}

bool perf_counts_lost(void)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .size = PERF_ATTR_SIZE_VER0,
        .read_format = PERF_FORMAT_LOST,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    int fd = open_with(&attributes, 0, -1, 0);

    close_fd(fd);
    return fd >= 0;
}

/* The reader polls: a wakeup per record would cost more than the record. */
int perf_open_output(unsigned cpu, uint32_t wakeup_bytes)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_BPF_OUTPUT,
        .size = PERF_ATTR_SIZE_VER0,
        .sample_type = PERF_SAMPLE_RAW,
        .sample_period = 1,
        .watermark = 1,
        .wakeup_watermark = wakeup_bytes,
    };

    return perf_open(&attributes, -1, cpu, 0);
}

int perf_redirect(int event, int ring)
{
    return control(event, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)ring);
}

int perf_id(int event, uint64_t *id)
{
    return control(event, PERF_EVENT_IOC_ID, (unsigned long)id);
}

int perf_enable(int event)
{
    return control(event, PERF_EVENT_IOC_ENABLE, 0);
}

int perf_disable(int event)
{
    return control(event, PERF_EVENT_IOC_DISABLE, 0);
}

#define SAVES_ALL 0x041000 /* Linux 4.16, and stable kernels with a backport */

bool kernel_saves_frames(void)
{
    const char *way = machine_of_kernel()->unsaved;

    return !way || own_version() >= SAVES_ALL || !kallsyms_has(way);
}

uint64_t misses_of_program(int program)
{
    struct bpf_program_info info;

    return program >= 0 && !bpf_program_info(program, &info) ? info.recursion_misses : 0;
}

uint64_t misses_of_links(const int *fds, size_t count)
{
    uint64_t sum = 0, missed;

    for (size_t i = 0; i < count; i++)
        sum += bpf_link_missed(fds[i], &missed) ? 0 : missed;
    return sum;
}

struct missed {
    const char *prefix;
    uint64_t sum;
};

/* "  name   hits   missed" */
static bool add_missed(void *context, char *line)
{
    struct missed *missed = context;
    const char *last = strrchr(line, ' ');

    line += strspn(line, " \t");
    if (last && starts_with(line, missed->prefix))
        missed->sum += strtoull(last, NULL, 10);
    return false;
}

uint64_t misses_of_text(int tracefs, const char *prefix)
{
    struct missed missed = {.prefix = prefix};

    each_line(tracefs, "kprobe_profile", add_missed, &missed);
    return missed.sum;
}
