/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Linked into a build of stackbox for tests (`make faulty`): it fails one call of a run, as the
 * environment says.
 *
 *     FAULT=KIND:N:HOW        the N-th call of this kind fails; N+: and all after it
 *     FAULT=KIND@SITE:N:HOW   the N-th of those that come by this way
 *     FAULT_COUNTS=FILE       at the end `count KIND N` goes there for each kind, and `site KIND SITE
 *                             N` for each way by which calls of it came, as said by the stack
 *     FAULT_FRAMES=N          so many frames of the stack tell a way (16)
 *     FAULT_LOG=FILE          `KIND ADDRESS...` of a call that failed: its stack, as addr2line takes it
 *
 * HOW is the name of an error, or `short`: of files and pipes half of what was asked is read or
 * written. Memory and threads are failed where our own code asks the C library for them, by the
 * linker's --wrap. System calls are failed wherever in the C library they are made, stdio's too: a
 * seccomp filter turns them into signals, whose handler answers or makes the call itself. The filter
 * goes by where the C library is mapped, so that it is without effect in a program that is executed. A
 * child that was forked counts on where its parent does, in memory that both have.
 *
 * There is no ptrace in it: LeakSanitizer needs that for itself.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if !defined(__x86_64__) || !defined(__GLIBC__)
#error "written for x86-64 and glibc, which LeakSanitizer needs, too"
#endif

enum kind {
    KIND_MALLOC,
    KIND_MMAP,
    KIND_THREAD,
    KIND_FORK,
    KIND_BPF,
    KIND_PERF,
    KIND_READ,
    KIND_WRITE,
    KIND_OPEN,
    KIND_DESCRIPTOR,
    KIND_IOCTL,
    KIND_OTHER,
    KINDS,
};

static const char *const kind_names[KINDS] = {
    "malloc", "mmap", "thread", "fork", "bpf", "perf", "read", "write", "open", "descriptor",
    "ioctl", "other",
};

static const struct {
    int number;
    enum kind kind;
} calls[] = {
    {SYS_bpf, KIND_BPF},
    {SYS_perf_event_open, KIND_PERF},
    {SYS_read, KIND_READ},
    {SYS_pread64, KIND_READ},
    {SYS_readv, KIND_READ},
    {SYS_getdents64, KIND_READ},
    {SYS_write, KIND_WRITE},
    {SYS_pwrite64, KIND_WRITE},
    {SYS_writev, KIND_WRITE},
    {SYS_open, KIND_OPEN},
    {SYS_openat, KIND_OPEN},
    {SYS_epoll_create1, KIND_DESCRIPTOR},
    {SYS_timerfd_create, KIND_DESCRIPTOR},
    {SYS_pipe2, KIND_DESCRIPTOR},
    {SYS_socketpair, KIND_DESCRIPTOR},
    {SYS_pidfd_open, KIND_DESCRIPTOR},
    {SYS_fsopen, KIND_DESCRIPTOR},
    {SYS_fsmount, KIND_DESCRIPTOR},
    {SYS_fsconfig, KIND_OTHER},
    {SYS_ioctl, KIND_IOCTL},
    {SYS_poll, KIND_OTHER},
    {SYS_epoll_ctl, KIND_OTHER},
    {SYS_epoll_wait, KIND_OTHER},
    {SYS_timerfd_settime, KIND_OTHER},
    {SYS_newfstatat, KIND_OTHER},
    {SYS_fstat, KIND_OTHER},
    {SYS_fstatfs, KIND_OTHER},
    {SYS_lseek, KIND_OTHER},
    {SYS_readlink, KIND_OTHER},
    {SYS_readlinkat, KIND_OTHER},
    {SYS_mount, KIND_OTHER},
    {SYS_waitid, KIND_OTHER},
    {SYS_wait4, KIND_OTHER},
    {SYS_sched_setscheduler, KIND_OTHER},
    {SYS_sendmsg, KIND_OTHER},
    {SYS_recvmsg, KIND_OTHER},
};

static const struct {
    const char *name;
    int value;
} errors[] = {
    {"EPERM", EPERM},   {"EACCES", EACCES}, {"EINVAL", EINVAL}, {"ENOMEM", ENOMEM},
    {"EINTR", EINTR},   {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE},
    {"EAGAIN", EAGAIN}, {"EPIPE", EPIPE},   {"E2BIG", E2BIG},   {"EBUSY", EBUSY},
    {"ENOENT", ENOENT}, {"ENODEV", ENODEV}, {"ENOSYS", ENOSYS},
};

#define ALWAYS_SHORT (-1)

static struct {
    enum kind kind; /* KINDS: nothing fails */
    uint32_t site;  /* 0: any */
    uint32_t first;
    bool on;  /* all after it fail as well */
    int how;  /* an errno, or ALWAYS_SHORT */
    int log;  /* below 0: none */
    int frames; /* so many tell a way */
    pid_t counter; /* the process that writes the counts */
} fault = {.kind = KINDS, .log = -1};

#define MOST_SITES 4096 /* a power of two */
#define MOST_FRAMES 16

struct site {
    uint32_t name; /* 0: free */
    uint32_t kind, calls;
};

/* Shared with children. Before start() nothing is counted. */
static struct counted {
    uint32_t calls[KINDS];
    struct site sites[MOST_SITES];
} *counted;

static _Noreturn void die(const char *why)
{
    fprintf(stderr, "inject: %s\n", why);
    _exit(88);
}

/* ---- One call ---- */

/*
 * The one place whose calls the filter lets through. `inject_made` stands behind the instruction,
 * which is where the filter sees them come from.
 */
long inject_call(long number, long a, long b, long c, long d, long e, long f);
extern const char inject_made[];
__asm__(".text\n"
        ".type inject_call, @function\n"
        "inject_call:\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "inject_made:\n"
        "    ret\n"
        ".size inject_call, . - inject_call\n");

/*
 * Where our own code is in the stack, as addresses in the program. It keeps its frame pointers, the C
 * library does not: what that left in the register may be anything, and is believed where it is an
 * address of the stack.
 */
static int walk(const void *const *frame, uint32_t *addresses)
{
    extern const char __executable_start[], etext[];
    extern void *__libc_stack_end;
    const void *const *least = (const void *const *)__builtin_frame_address(0);
    int count = 0;

    while (count < MOST_FRAMES && frame > least &&
           frame < (const void *const *)__libc_stack_end && !((uintptr_t)frame & 7)) {
        const char *returned = frame[1];
        if (returned >= __executable_start && returned < etext)
            addresses[count++] = (uint32_t)(returned - __executable_start);
        least = frame;
        frame = (const void *const *)frame[0];
    }
    return count;
}

static void log_failure(const uint32_t *addresses, int count)
{
    char line[16 + MOST_FRAMES * 16];
    int length = snprintf(line, sizeof(line), "%s", kind_names[fault.kind]);

    for (int i = 0; i < count; i++)
        length += snprintf(line + length, sizeof(line) - (size_t)length, " %#x", addresses[i]);
    line[length++] = '\n';
    if (fault.log >= 0)
        inject_call(SYS_write, fault.log, (long)line, length, 0, 0, 0);
}

/* The same in every run of one program. */
static uint32_t name_site(enum kind kind, const uint32_t *addresses, int count)
{
    uint32_t name = kind + 1;

    for (int i = 0; i < count && i < fault.frames; i++)
        name = (name ^ addresses[i]) * 0x9e3779b1;
    return name ? name : 1;
}

/* How many calls came by this way, with this one. */
static uint32_t count_site(enum kind kind, uint32_t name)
{
    for (uint32_t i = 0; i < MOST_SITES; i++) {
        struct site *site = &counted->sites[(name + i) & (MOST_SITES - 1)];
        uint32_t none = 0;

        if (__atomic_compare_exchange_n(&site->name, &none, name, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            site->kind = kind;
        if (__atomic_load_n(&site->name, __ATOMIC_SEQ_CST) == name)
            return __atomic_add_fetch(&site->calls, 1, __ATOMIC_SEQ_CST);
    }
    die("there are too many sites");
}

/* Counts a call of a kind. 0: it is to be made, else how it fails. */
static int count_call(enum kind kind, const void *frame)
{
    uint32_t addresses[MOST_FRAMES];

    if (!counted)
        return 0;
    int depth = walk(frame, addresses);
    uint32_t name = name_site(kind, addresses, depth), by_site = count_site(kind, name);
    uint32_t number = __atomic_add_fetch(&counted->calls[kind], 1, __ATOMIC_SEQ_CST);
    if (fault.site)
        number = fault.site == name ? by_site : 0;
    if (kind != fault.kind || number < fault.first || (number > fault.first && !fault.on))
        return 0;
    log_failure(addresses, depth);
    return fault.how;
}

/* ---- What our own code asks the C library for ---- */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__real_strdup(const char *string);
char *__wrap_strdup(const char *string);
char *__real_strndup(const char *string, size_t length);
char *__wrap_strndup(const char *string, size_t length);
int __real_vasprintf(char **made, const char *format, va_list list);
int __wrap_vasprintf(char **made, const char *format, va_list list);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
int __real_regcomp(regex_t *regex, const char *pattern, int flags);
int __wrap_regcomp(regex_t *regex, const char *pattern, int flags);
void *__real_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument);
pid_t __real_fork(void);
pid_t __wrap_fork(void);
int __real_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before);

/* The call with its errno set when it is to fail, else made for real. */
#define WRAP(kind, failed, made)                                                                  \
    do {                                                                                          \
        int wrap_error = count_call(kind, __builtin_frame_address(0));                                                           \
        if (wrap_error <= 0)                                                                      \
            return made;                                                                          \
        errno = wrap_error;                                                                       \
        return failed;                                                                            \
    } while (0)

void *__wrap_malloc(size_t size)
{
    WRAP(KIND_MALLOC, NULL, __real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    WRAP(KIND_MALLOC, NULL, __real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    WRAP(KIND_MALLOC, NULL, __real_realloc(old, size));
}

char *__wrap_strdup(const char *string)
{
    WRAP(KIND_MALLOC, NULL, __real_strdup(string));
}

char *__wrap_strndup(const char *string, size_t length)
{
    WRAP(KIND_MALLOC, NULL, __real_strndup(string, length));
}

int __wrap_vasprintf(char **made, const char *format, va_list list)
{
    WRAP(KIND_MALLOC, -1, __real_vasprintf(made, format, list));
}

DIR *__wrap_opendir(const char *path)
{
    WRAP(KIND_MALLOC, NULL, __real_opendir(path));
}

DIR *__wrap_fdopendir(int fd)
{
    WRAP(KIND_MALLOC, NULL, __real_fdopendir(fd));
}

int __wrap_regcomp(regex_t *regex, const char *pattern, int flags)
{
    WRAP(KIND_MALLOC, REG_ESPACE, __real_regcomp(regex, pattern, flags));
}

void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    WRAP(KIND_MMAP, MAP_FAILED, __real_mmap(at, length, protection, flags, fd, offset));
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument)
{
    WRAP(KIND_THREAD, errno, __real_pthread_create(thread, how, run, argument));
}

pid_t __wrap_fork(void)
{
    WRAP(KIND_FORK, -1, __real_fork());
}

/* A call that is trapped while its signal is held ends the process. */
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t allowed;

    if (!set || how == SIG_UNBLOCK)
        return __real_sigprocmask(how, set, before);
    allowed = *set;
    sigdelset(&allowed, SIGSYS);
    return __real_sigprocmask(how, &allowed, before);
}

/* ---- System calls ---- */

/* Files and pipes alone give and take less than was asked. */
static bool can_be_short(long fd)
{
    struct stat about;

    return !inject_call(SYS_fstat, fd, (long)&about, 0, 0, 0, 0) &&
           (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

static void on_call(int signal, siginfo_t *about, void *context)
{
    ucontext_t *user = context;
    greg_t *registers = user->uc_mcontext.gregs;
    int before = errno, how = 0;
    size_t which = 0;

    (void)signal;
    while (which < sizeof(calls) / sizeof(*calls) && calls[which].number != about->si_syscall)
        which++;
    if (which == sizeof(calls) / sizeof(*calls))
        die("a call was trapped that is not in the table");
    how = count_call(calls[which].kind, (const void *)(uintptr_t)registers[REG_RBP]);
    long size = (long)registers[REG_RDX];
    bool sized = about->si_syscall == SYS_read || about->si_syscall == SYS_pread64 ||
                 about->si_syscall == SYS_write || about->si_syscall == SYS_pwrite64;
    if (how == ALWAYS_SHORT && sized && size > 1 && can_be_short((long)registers[REG_RDI]))
        size /= 2;
    if (how > 0)
        registers[REG_RAX] = -how;
    else
        registers[REG_RAX] = inject_call(about->si_syscall, (long)registers[REG_RDI],
                                         (long)registers[REG_RSI], size,
                                         (long)registers[REG_R10], (long)registers[REG_R8],
                                         (long)registers[REG_R9]);
    errno = before;
}

struct range {
    uintptr_t start, end;
};

static int find_libc(struct dl_phdr_info *object, size_t size, void *context)
{
    struct range *range = context;

    (void)size;
    if (!object->dlpi_name || !strstr(object->dlpi_name, "/libc.so"))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            range->start = object->dlpi_addr + segment->p_vaddr;
            range->end = range->start + segment->p_memsz;
        }
    }
    return 1;
}

#define DATA(member) ((uint32_t)offsetof(struct seccomp_data, member))
#define HIGH 4 /* of a word of 8 bytes */
#define MOST_INSTRUCTIONS 128

struct filter {
    struct sock_filter instructions[MOST_INSTRUCTIONS];
    unsigned short count;
};

static void add(struct filter *filter, struct sock_filter instruction)
{
    if (filter->count == MOST_INSTRUCTIONS)
        die("the filter is too long");
    filter->instructions[filter->count++] = instruction;
}

#define LOAD(offset) (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define ANSWER(action) (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (action))
#define UNLESS(how, value) (struct sock_filter)BPF_JUMP(BPF_JMP | (how) | BPF_K, (value), 1, 0)

/* A listed call that comes from the C library is trapped; all others are made. */
static void make_filter(struct filter *filter, const struct range *libc)
{
    add(filter, LOAD(DATA(arch)));
    add(filter, UNLESS(BPF_JEQ, AUDIT_ARCH_X86_64));
    add(filter, ANSWER(SECCOMP_RET_ALLOW));
    add(filter, LOAD(DATA(instruction_pointer) + HIGH));
    add(filter, UNLESS(BPF_JEQ, (uint32_t)(libc->start >> 32)));
    add(filter, ANSWER(SECCOMP_RET_ALLOW));
    add(filter, LOAD(DATA(instruction_pointer)));
    add(filter, UNLESS(BPF_JGE, (uint32_t)libc->start));
    add(filter, ANSWER(SECCOMP_RET_ALLOW));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)libc->end, 0, 1));
    add(filter, ANSWER(SECCOMP_RET_ALLOW));
    add(filter, LOAD(DATA(nr)));
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 (uint32_t)calls[i].number, 0, 1));
        add(filter, ANSWER(SECCOMP_RET_TRAP));
    }
    add(filter, ANSWER(SECCOMP_RET_ALLOW));
}

static void install_filter(void)
{
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct filter filter = {.count = 0};
    struct range libc = {0};

    dl_iterate_phdr(find_libc, &libc);
    if (!libc.start || libc.start >> 32 != libc.end >> 32)
        die("the C library is not found, or crosses a border of 4 GB");
    make_filter(&filter, &libc);
    const struct sock_fprog program = {.len = filter.count, .filter = filter.instructions};
    if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        die("no filter can be installed");
}

/* ---- The beginning and the end ---- */

static void parse_how(const char *how)
{
    if (!strcmp(how, "short"))
        fault.how = ALWAYS_SHORT;
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
        if (!strcmp(how, errors[i].name))
            fault.how = errors[i].value;
    if (!fault.how)
        die("FAULT: no such way to fail");
}

/* KIND[@SITE]:N[+]:HOW */
static void parse_fault(const char *wish)
{
    size_t length = strcspn(wish, "@:");
    char *rest = (char *)(uintptr_t)wish + length;

    for (size_t i = 0; i < KINDS; i++)
        if (strlen(kind_names[i]) == length && !strncmp(wish, kind_names[i], length))
            fault.kind = (enum kind)i;
    if (fault.kind == KINDS)
        die("FAULT: no such kind of calls");
    if (*rest == '@')
        fault.site = (uint32_t)strtoul(rest + 1, &rest, 16);
    if (*rest == ':')
        fault.first = (uint32_t)strtoul(rest + 1, &rest, 10);
    fault.on = *rest == '+';
    rest += fault.on;
    if (!fault.first || *rest != ':')
        die("FAULT: must be KIND:N:HOW or KIND@SITE:N:HOW");
    parse_how(rest + 1);
}

static int open_out_of_the_way(const char *path)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 500);

    if (fd >= 0)
        close(fd);
    if (path && high < 0)
        die("a file cannot be written");
    return high;
}

static void write_counts(FILE *file, const struct counted *counts)
{
    for (int i = 0; i < KINDS; i++)
        fprintf(file, "count %s %u\n", kind_names[i], counts->calls[i]);
    for (int i = 0; i < MOST_SITES; i++)
        if (counts->sites[i].name)
            fprintf(file, "site %s %x %u\n", kind_names[counts->sites[i].kind],
                    counts->sites[i].name, counts->sites[i].calls);
}

/* What comes after this, LeakSanitizer's look, is not counted. */
static void finish(void)
{
    const char *path = getenv("FAULT_COUNTS");
    const struct counted *counts = counted;

    counted = NULL;
    if (!path || getpid() != fault.counter)
        return;
    FILE *file = fopen(path, "w");
    if (!file)
        die("the counts cannot be written");
    write_counts(file, counts);
    fclose(file);
}

static __attribute__((constructor)) void start(void)
{
    const char *wish = getenv("FAULT");
    void *shared;

    if (!wish && !getenv("FAULT_COUNTS"))
        return;
    fault.log = open_out_of_the_way(getenv("FAULT_LOG"));
    fault.frames = getenv("FAULT_FRAMES") ? atoi(getenv("FAULT_FRAMES")) : MOST_FRAMES;
    fault.counter = getpid();
    if (wish)
        parse_fault(wish);
    shared = __real_mmap(NULL, sizeof(*counted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                         -1, 0);
    if (shared == MAP_FAILED || atexit(finish))
        die("no memory");
    install_filter();
    counted = shared;
}
