/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/kallsyms.h"
#include "kernel/limits.h"
#include "kernel/tracefs.h"

/* The inode of the initial user namespace, the same in every kernel. */
#define INITIAL_USER_NAMESPACE 0xEFFFFFFD

/* By a system call, as /proc may be missing. */
bool refusal_has_capability(unsigned capability)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data))
        return false;
    return data[capability / 32].effective >> capability % 32 & 1;
}

/* "none [integrity] confidentiality": what is in the brackets; empty if the kernel does not say. */
static void add_lockdown(int directory, const char *path, struct text *level)
{
    struct text state = {0};

    if (!read_file(directory, path, 256, &state) && state.data) {
        char *open = strchr(state.data, '['), *close = open ? strchr(open, ']') : NULL;
        if (close)
            text_append(level, open + 1, (size_t)(close - open - 1));
    }
    text_free(&state);
}

/*
 * False if the kernel is not locked down, or does not say. "integrity" does not keep tracers out,
 * so without a mounted securityfs only "confidentiality" is found and counts.
 */
bool refusal_locked_down(struct text *level)
{
    add_lockdown(AT_FDCWD, "/sys/kernel/security/lockdown", level);
    if (level->length)
        return strcmp(level->data, "none");
    int own = own_mount("securityfs");
    if (own < 0)
        return false;
    add_lockdown(own, "lockdown", level);
    close(own);
    return level->length && !strcmp(level->data, "confidentiality");
}

static bool explain_seccomp(const char *call, struct text *sentence)
{
    if (prctl(PR_GET_SECCOMP) != 2) /* by a filter: SECCOMP_MODE_FILTER */
        return false;
    text_format(sentence, "a seccomp filter blocks %s: start the container or service without "
                "that filter, or with one that allows bpf and perf_event_open", call);
    return true;
}

static bool explain_lockdown(struct text *sentence)
{
    struct text level = {0};
    bool locked = refusal_locked_down(&level);

    if (locked)
        text_format(sentence, "this kernel is locked down (%s), which blocks tracing: boot with "
                    "lockdown=none, or without secure boot", level.data);
    text_free(&level);
    return locked;
}

static bool explain_capabilities(struct text *sentence)
{
    bool admin = refusal_has_capability(CAP_SYS_ADMIN);
    bool bpf = admin || refusal_has_capability(NUMBER_CAP_BPF);
    bool perfmon = admin || refusal_has_capability(NUMBER_CAP_PERFMON);

    if (bpf && perfmon)
        return false;
    text_format(sentence, "%s missing: run it as root, or give it CAP_BPF and CAP_PERFMON "
                "(CAP_SYS_ADMIN before Linux 5.8)",
                bpf ? "CAP_PERFMON is" : perfmon ? "CAP_BPF is" : "CAP_BPF and CAP_PERFMON are");
    return true;
}

/* In a user namespace capabilities, even root's, apply to its own objects, not to the kernel. */
static bool explain_user_namespace(struct text *sentence)
{
    struct stat about;

    if (stat("/proc/self/ns/user", &about) || about.st_ino == INITIAL_USER_NAMESPACE)
        return false;
    text_add(sentence, "root in a user namespace has no privileges over the kernel: run it as "
             "root outside the container");
    return true;
}

static bool explain_locked_memory(uint64_t map_bytes, struct text *sentence)
{
    struct rlimit limit;

    if (prlimit(0, RLIMIT_MEMLOCK, NULL, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return false;
    text_format(sentence, "RLIMIT_MEMLOCK is %llu KB, and this kernel counts maps against it",
                (unsigned long long)limit.rlim_cur / 1024);
    if (map_bytes)
        text_format(sentence, " (these take about %llu KB)", (unsigned long long)map_bytes / 1024);
    text_add(sentence, ": raise it as root (ulimit -l unlimited), or ask for fewer stacks "
             "(--stack-storage-size)");
    return true;
}

long refusal_paranoid(void)
{
    return (long)kernel_number("/proc/sys/kernel/perf_event_paranoid", UINT64_MAX);
}

bool refusal_explain_paranoid(struct text *sentence)
{
    long value = refusal_paranoid();

    /* Up to 2, CAP_PERFMON is enough. Higher values are extensions of Debian and others. */
    if (value < 3 || refusal_has_capability(CAP_SYS_ADMIN))
        return false;
    text_format(sentence, "perf_event_open(2) is refused at kernel.perf_event_paranoid = %ld: run "
                "it as root, or lower it (sysctl kernel.perf_event_paranoid=2)", value);
    return true;
}

/* uprobe.multi links need only CAP_PERFMON; perf events for uprobes need CAP_SYS_ADMIN. */
static bool explain_user_probes(struct text *sentence)
{
    if (refusal_has_capability(CAP_SYS_ADMIN))
        return false;
    text_add(sentence, "CAP_SYS_ADMIN is missing, which user probes need without uprobe.multi "
             "links (before Linux 6.6): run it as root, or give it CAP_SYS_ADMIN");
    return true;
}

/* EPERM and EACCES: causes, most certain first. */
static void explain_no_right(enum refused what, uint64_t map_bytes, struct text *sentence)
{
    bool maps = what == REFUSED_MAPS;

    if (explain_capabilities(sentence) || explain_user_namespace(sentence))
        return;
    if (!maps && explain_lockdown(sentence))
        return;
    if (explain_seccomp(maps ? "bpf(2)" : "bpf(2) or perf_event_open(2)", sentence))
        return;
    if (maps && explain_locked_memory(map_bytes, sentence))
        return;
    if (what == REFUSED_USER_PROBES && explain_user_probes(sentence))
        return;
    if (!maps && refusal_explain_paranoid(sentence))
        return;
    if (explain_lockdown(sentence))
        return;
    text_add(sentence, "the kernel refuses without saying why (it may be a security module): run "
             "it as root outside containers");
}

static void explain_tracefs(int error, struct text *sentence)
{
    if (error == -ENODEV) {
        text_add(sentence, "this kernel has no tracefs (CONFIG_FTRACE, "
                 "CONFIG_ENABLE_DEFAULT_TRACERS), which tracepoints need: boot one that has");
        return;
    }
    if ((error == -EPERM || error == -EACCES) && explain_lockdown(sentence))
        return;
    if (error != -EPERM && error != -EACCES)
        text_format(sentence, "tracefs cannot be opened (%s): mount it at /sys/kernel/tracing",
                    strerror(-error));
    else if (!refusal_has_capability(CAP_SYS_ADMIN) || !explain_user_namespace(sentence))
        text_add(sentence, "tracefs cannot be read: run it as root, or with CAP_SYS_ADMIN to "
                 "mount it");
}

static const char no_sampling[] =
    "this kernel cannot run BPF programs at perf events: that needs Linux 4.9 and "
    "CONFIG_BPF_EVENTS";
static const char no_probes[] =
    "this kernel has no kprobes (CONFIG_KPROBE_EVENTS): use tracepoints, such as "
    "t:sched:sched_switch";
static const char no_user_probes[] =
    "this kernel has no uprobes (CONFIG_UPROBE_EVENTS): use kernel functions or tracepoints";
const char refusal_too_old[] =
    "this kernel's bpf(2) runs no programs that read stacks (Linux 4.18, CONFIG_BPF_EVENTS): most "
    "applets collect by perf's rings instead";
const char refusal_no_frames[] =
    "kernel.perf_event_max_stack is 0, so stacks have no frames: sysctl "
    "kernel.perf_event_max_stack=127";
const char refusal_hidden_names[] =
    "the kernel hides its addresses, so kernel functions have no names: run as root or with "
    "CAP_SYSLOG, and with kernel.kptr_restrict below 2";

/*
 * Before 4.17 tracefs is the only way to probes, and we may lack access to it. The symbol of the
 * function that probes call then shows whether the kernel has any.
 */
static void explain_unsupported(enum refused what, struct text *sentence)
{
    const bool user = what == REFUSED_USER_PROBES;

    if (what == REFUSED_SAMPLING)
        text_add(sentence, no_sampling);
    else if (kallsyms_has(user ? "uprobe_dispatcher" : "kprobe_dispatcher"))
        explain_tracefs(-EPERM, sentence);
    else
        text_add(sentence, user ? no_user_probes : no_probes);
}

void refusal_explain(enum refused what, int error, uint64_t map_bytes, struct text *sentence)
{
    if (what == REFUSED_TRACEFS) {
        explain_tracefs(error, sentence);
        return;
    }
    /* If every user may call bpf(2), the kernel refuses unknown things before it checks rights. */
    if (error == -EINVAL && (explain_capabilities(sentence) || explain_user_namespace(sentence)))
        return;
    switch (error) {
    case -EPERM:
    case -EACCES:
        explain_no_right(what, map_bytes, sentence);
        break;
    case -ENOSYS:
        if (!explain_seccomp(what == REFUSED_MAPS ? "bpf(2)" : "perf_event_open(2)", sentence))
            text_format(sentence, "this kernel was built without %s: boot one that has it",
                        what == REFUSED_MAPS ? "bpf(2) (CONFIG_BPF_SYSCALL)"
                                             : "perf_event_open(2) (CONFIG_PERF_EVENTS)");
        break;
    case -EINVAL:
        text_add(sentence, what == REFUSED_MAPS || bpf_try_stacks() == -EINVAL ? refusal_too_old
                           : what == REFUSED_SAMPLING                          ? no_sampling
                                                                               : strerror(-error));
        break;
    case -EOPNOTSUPP:
        explain_unsupported(what, sentence);
        break;
    case -ENOMEM:
        text_format(sentence, "not enough memory%s",
                    what == REFUSED_MAPS ? " for the maps: ask for fewer stacks "
                                           "(--stack-storage-size), or fewer frames "
                                           "(--depth)" : "");
        break;
    case -EMFILE:
        text_add(sentence, "too many open files: raise the limit (ulimit -n)");
        break;
    case -EDOM:
        text_add(sentence, refusal_no_frames);
        break;
    case -ESHUTDOWN:
        text_add(sentence, "kernel.ftrace_enabled is 0, and then probes at functions are never "
                 "hit: sysctl kernel.ftrace_enabled=1");
        break;
    case -E2BIG:
        text_add(sentence, "too large for this kernel");
        break;
    default:
        text_add(sentence, strerror(-error));
    }
}

int refusal_of_maps(int error, uint64_t map_bytes, struct text *sentence)
{
    text_add(sentence, "cannot create maps: ");
    refusal_explain(REFUSED_MAPS, error, map_bytes, sentence);
    return error;
}

/* The last line of a verifier's log before its statistics, which come last. */
static bool last_words(const struct text *log, const char **begin, size_t *length)
{
    static const char *const figures[] = {"processed ", "verification time ", "stack depth "};
    const char *end = log->data + log->length;

    while (log->data && end > log->data) {
        const char *newline = memrchr(log->data, '\n', (size_t)(end - log->data));
        bool is_figure = false;
        *begin = newline ? newline + 1 : log->data;
        *length = (size_t)(end - *begin);
        for (size_t i = 0; i < COUNT_OF(figures); i++)
            is_figure = is_figure || (*length >= strlen(figures[i]) &&
                                      !memcmp(*begin, figures[i], strlen(figures[i])));
        if (*length && !is_figure)
            return true;
        end = newline ? newline : log->data;
    }
    return false;
}

bool refusal_explain_interpreter(int error, struct text *sentence)
{
    if (error != -KERNEL_ENOTSUPP || !kernel_jit_is_off())
        return false;
    text_add(sentence,
             "net.core.bpf_jit_enable is 0, and then this kernel refuses stacksnoop, --cpu and "
             "unwind tables: sysctl net.core.bpf_jit_enable=1");
    return true;
}

/* The interpreter cannot run some programs; the verifier's message then mentions the JIT. */
static bool explain_jit(int error, const char *words, size_t length, struct text *sentence)
{
    if (refusal_explain_interpreter(error, sentence))
        return true;
    if (!memmem(words, length, "JIT", 3))
        return false;
    text_format(sentence, "this kernel cannot interpret the program, and %s",
                kernel_jit_is_off()
                    ? "net.core.bpf_jit_enable is 0: sysctl net.core.bpf_jit_enable=1"
                                    : "has no JIT compiler: boot one with CONFIG_BPF_JIT");
    return true;
}

/*
 * "unknown func get_ns_current_pid_tgid#120", or without the name: in a container all programs
 * begin with that call.
 */
static bool explain_namespace(const char *words, size_t length, struct text *sentence)
{
    static const char helper[] = "#120";

    if (!memmem(words, length, " func ", 6) || !memmem(words, length, helper, strlen(helper)))
        return false;
    text_add(sentence, "in a container with its own PIDs this needs Linux 5.7: run it outside, "
             "where -p takes the host's PIDs");
    return true;
}

void refusal_explain_program(enum refused what, int error, const struct text *log,
                             struct text *sentence)
{
    const char *words = "";
    size_t length = 0;
    const bool has_words = last_words(log, &words, &length);

    if (explain_jit(error, words, has_words ? length : 0, sentence))
        return;
    if (has_words && explain_namespace(words, length, sentence))
        return;
    /* Without a log the kernel may have refused the event instead. */
    if ((error == -EACCES || error == -EINVAL) && has_words) {
        if (bpf_try_stacks() == -EINVAL) {
            text_add(sentence, refusal_too_old);
            return;
        }
        text_add(sentence, "the kernel's verifier rejects the program (\"");
        escape_bytes(sentence, words, length);
        text_add(sentence, "\"), which is a bug in stackbox: please report it with the output of "
                           "--debug");
        return;
    }
    refusal_explain(what, error, 0, sentence);
}
