/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What we may read, and who we are to the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "checks/look.h"
#include "collect/scope.h"
#include "kernel/kallsyms.h"

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
    if (fd >= 0)
        close(fd);
    if (check->yes)
        return;
    if (!result && names.hidden)
        check_refuse(check, refusal_hidden_names);
    else
        text_format(&check->detail, "/proc/kallsyms cannot be read, so kernel functions have no "
                    "names (%s): is /proc mounted?", result ? strerror(-result) : "it is empty");
}

static void check_btf(struct check *check)
{
    static const char path[] = "/sys/kernel/btf/vmlinux";
    int fd = open(path, O_RDONLY | O_CLOEXEC), error = errno;

    check->yes = fd >= 0;
    if (fd >= 0)
        close(fd);
    else if (error == ENOENT)
        text_format(&check->detail, "there is no /sys/kernel/btf/vmlinux, which %severything needs if tracefs is "
                                    "closed: mount /sys, or boot a kernel with CONFIG_DEBUG_INFO_BTF",
                    check_rings ? "" : "unwind tables need, and ");
    else
        text_format(&check->detail, "%s cannot be read: %s", path, strerror(error));
}

/* Process 1 is root's, or at least not ours; in a container it may be out of reach. */
static void check_others(struct check *check)
{
    int fd = open("/proc/1/maps", O_RDONLY | O_CLOEXEC), error = errno;

    check->yes = fd >= 0 || (error != ENOENT && refusal_has_capability(CAP_SYS_PTRACE));
    if (fd >= 0)
        close(fd);
    else if (error == ENOENT)
        check_refuse(check, "there is no /proc/1/maps, so nothing tells what processes have mapped: "
                            "mount /proc");
    if (!check->yes && !check->detail.length)
        check_refuse(check, "CAP_SYS_PTRACE is missing, so nothing tells what other users' processes "
                            "have mapped: run it as root, or give it CAP_SYS_PTRACE, and "
                            "CAP_DAC_READ_SEARCH for programs that not everybody may read");
}

static void check_real_time(struct check *check)
{
    check->yes = bpf_begin_unpreempted();
    bpf_end_unpreempted();
    if (!check->yes)
        check_refuse(check, "CAP_SYS_NICE is missing, so a preemptible kernel may lose some "
                            "events while tables are read: run it as root, or give it CAP_SYS_NICE");
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
        check_refuse(check, "there is no cgroup v2 at " CGROUPS ": mount it (mount -t cgroup2 none "
                            CGROUPS ") instead of version 1, or give --cgroup its full path");
}

/* ---- Capabilities ---- */

#define NUMBER_CAP_PERFMON 38 /* 5.8 */
#define NUMBER_CAP_BPF 39     /* 5.8 */

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
        text_format(&check->detail, "this kernel is locked down (%s), which blocks whatever says no "
                    "above: boot with lockdown=none, or without secure boot", level.data);
    text_free(&level);
}

void check_rights(struct checks *checks)
{
    check_kallsyms(&checks->of[CHECK_KALLSYMS]);
    check_btf(&checks->of[CHECK_BTF]);
    check_others(&checks->of[CHECK_OTHERS]);
    check_real_time(&checks->of[CHECK_REAL_TIME]);
    check_cgroups(&checks->of[CHECK_CGROUPS]);
    check_capabilities(&checks->of[CHECK_CAPABILITIES]);
    check_lockdown(&checks->of[CHECK_LOCKDOWN]);
}
