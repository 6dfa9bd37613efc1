/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/session_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "collect/scope.h"
#include "kernel/pid_fields.h"

#define CGROUP_V1_MAGIC 0x27e0eb /* CGROUP_SUPER_MAGIC */

void session_filter_namespace(struct event_filter *filter)
{
    struct stat about;

    if (stat("/proc/self/ns/pid", &about) || about.st_ino == INITIAL_PID_NAMESPACE)
        return;
    filter->in_namespace = true;
    filter->namespace_device = (uint64_t)major(about.st_dev) << 20 | minor(about.st_dev);
    filter->namespace_inode = about.st_ino;
}

/* Is there such a CPU? If /sys does not tell, assume so. */
static int check_cpu(const struct trace_options *options)
{
    static const char all[] = "/sys/devices/system/cpu";
    char one[64];

    snprintf(one, sizeof(one), "%s/cpu%lld", all, (long long)options->cpu);
    if (options->cpu < 0 || access(all, F_OK) || !access(one, F_OK))
        return 0;
    say("there is no CPU %lld", (long long)options->cpu);
    return EXIT_FAILURE;
}

static bool is_of_cgroup_v1(const char *path)
{
    struct statfs about;

    return !statfs(path, &about) && about.f_type == CGROUP_V1_MAGIC;
}

/* Where cgroup v2 is mounted, the first of several: a line in mounts is "what WHERE type ...". */
static void find_cgroup_mount(struct text *path)
{
    int fd = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
    struct lines lines;
    size_t length;
    char *line;

    if (fd < 0)
        return;
    if (!lines_open(&lines, fd)) {
        while (!path->length && (line = lines_next(&lines, &length))) {
            char *rest = NULL;
            const char *where = strtok_r(line, " ", &rest) ? strtok_r(NULL, " ", &rest) : NULL;
            const char *type = where ? strtok_r(NULL, " ", &rest) : NULL;
            if (type && !strcmp(type, "cgroup2"))
                text_add(path, where);
        }
        lines_close(&lines);
    }
    close(fd);
}

/* By path; "system.slice" and "/system.slice", as systemd writes them, also below the mount. */
static int find_cgroup(const char *typed, bool by_rings)
{
    struct text path = {0};
    int map = scope_open_cgroup(typed, by_rings);

    if (map != -ENOENT && map != -ENOTDIR && map != -EBADF)
        return map;
    find_cgroup_mount(&path);
    if (path.length) {
        text_format(&path, "%s%s", *typed == '/' ? "" : "/", typed);
        int below = path.failed ? -ENOMEM : scope_open_cgroup(path.data, by_rings);
        map = below >= 0 ? below : map;
    }
    text_free(&path);
    return map;
}

static int open_cgroup(struct event_filter *filter, const char *path, bool by_rings)
{
    int map = path ? find_cgroup(path, by_rings) : 0;

    if (map >= 0) {
        filter->cgroup = map;
        return 0;
    }
    if ((map == -EBADF || map == -EINVAL) && is_of_cgroup_v1(path))
        say("--cgroup: \"%s\" is cgroup version 1, which BPF programs cannot see: mount version 2 "
            "(mount -t cgroup2 none DIR) and name a directory in it", path);
    else if (map == -EBADF || map == -EINVAL)
        say("--cgroup: \"%s\" is not a cgroup v2 directory, as found below /sys/fs/cgroup",
            path);
    else
        say("--cgroup: \"%s\": %s", path, strerror(-map));
    return EXIT_FAILURE;
}

void session_filter_init(struct event_filter *filter, const struct trace_options *options)
{
    *filter = (struct event_filter){
        .pids = options->pids.numbers,
        .pid_count = options->pids.count,
        .tids = options->tids.numbers,
        .tid_count = options->tids.count,
        .comms = options->comms.names,
        .comm_count = options->comms.count,
        .uids = options->uids.numbers,
        .uid_count = options->uids.count,
        .cpu = options->cpu,
    };
    session_filter_namespace(filter);
}

/* A process that programs cannot tell from others: in a namespace below ours. */
static int check_namespaces(const struct event_filter *filter, const struct number_list *numbers)
{
    struct stat about;
    char path[32];

    for (size_t i = 0; i < numbers->count; i++) {
        snprintf(path, sizeof(path), "/proc/%u/ns/pid", numbers->numbers[i]);
        if (stat(path, &about) || about.st_ino == filter->namespace_inode)
            continue;
        say("process %u is in another PID namespace, which BPF programs cannot see from this one without "
            "the kernel's BTF (Linux 5.10): use --collect rings, or run it on the host", numbers->numbers[i]);
        return EXIT_FAILURE;
    }
    return 0;
}

static int find_numbers(struct event_filter *filter, const struct trace_options *options)
{
    if (!filter->in_namespace || options->by_rings)
        return 0;
    filter->numbers = pid_fields_find(filter->namespace_inode);
    if (filter->numbers)
        return 0;
    int status = check_namespaces(filter, &options->pids);
    return status ? status : check_namespaces(filter, &options->tids);
}

int session_filter_open(struct event_filter *filter, const struct trace_options *options)
{
    int status = check_cpu(options);

    if (!status)
        status = find_numbers(filter, options);
    return status ? status : open_cgroup(filter, options->cgroup, options->by_rings);
}
