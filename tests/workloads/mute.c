/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * mute [-s MS] [-o] -w FILE DIR
 *
 * Mounts a FUSE file system at DIR, whose one file, DIR/program, has the contents of FILE, and
 * serves it until it is killed. From SIGUSR2 on, when it says `done`, it takes reads of the file
 * and never answers them, except reads by the program itself: a process that waits for an answer
 * cannot be killed. With -s it answers each read after so many milliseconds; with -o it answers no
 * other request either. When it is killed, the kernel ends all requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "word.h"

enum { ROOT = FUSE_ROOT_ID, PROGRAM };

static int fuse;
static char *contents;
static size_t size;
static struct timespec slow;
static bool answers_none; /* once it is mute */
static volatile sig_atomic_t is_mute;

static void become_mute(int signal)
{
    static const char done[] = "done\n";

    (void)signal;
    is_mute = 1;
    if (write(STDOUT_FILENO, done, sizeof(done) - 1) < 0)
        _exit(1);
}

static void answer(const struct fuse_in_header *request, int error, const void *bytes,
                   size_t count)
{
    char message[sizeof(struct fuse_out_header) + FUSE_MIN_READ_BUFFER];
    const struct fuse_out_header head = {
        .len = (uint32_t)(sizeof(head) + count), .error = error, .unique = request->unique,
    };

    memcpy(message, &head, sizeof(head));
    if (count)
        memcpy(message + sizeof(head), bytes, count);
    /* ENOENT: the requesting process has given up. */
    if (write(fuse, message, head.len) < 0 && errno != ENOENT)
        exit(1);
}

static struct fuse_attr attributes(uint64_t node)
{
    return (struct fuse_attr){
        .ino = node, .size = node == ROOT ? 0 : size, .blocks = (size + 511) / 512, .nlink = 1,
        .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0755, .blksize = 4096,
    };
}

/* Is it the program's own read? Which pages the program faults in varies from run to run. */
static bool is_program(uint32_t pid)
{
    static const char name[] = "/program";
    char path[32], target[4096];

    snprintf(path, sizeof(path), "/proc/%u/exe", pid);
    const ssize_t length = readlink(path, target, sizeof(target)), end = sizeof(name) - 1;
    return length > end && !memcmp(target + length - end, name, (size_t)end);
}

static void answer_read(const struct fuse_in_header *request, const struct fuse_read_in *wanted)
{
    const size_t from = wanted->offset < size ? (size_t)wanted->offset : size;
    const size_t left = size - from, count = wanted->size < left ? wanted->size : left;
    const bool waits = is_mute && !is_program(request->pid);

    if (waits && !slow.tv_nsec)
        return;
    if (waits)
        nanosleep(&slow, NULL);
    answer(request, 0, contents + from,
           count < FUSE_MIN_READ_BUFFER ? count : FUSE_MIN_READ_BUFFER);
}

static void serve(const struct fuse_in_header *request)
{
    const void *wanted = request + 1;
    const struct fuse_init_in *offered = wanted;
    const struct fuse_init_out init = {
        /* No readahead: only requested pages get into the page cache. */
        .major = FUSE_KERNEL_VERSION, .max_readahead = 0, .max_write = 4096,
        .minor = request->opcode == FUSE_INIT && offered->minor < FUSE_KERNEL_MINOR_VERSION
                     ? offered->minor : FUSE_KERNEL_MINOR_VERSION,
    };
    const struct fuse_entry_out entry = {
        .nodeid = PROGRAM, .entry_valid = 1, .attr_valid = 1, .attr = attributes(PROGRAM),
    };
    const struct fuse_attr_out about = {.attr_valid = 1, .attr = attributes(request->nodeid)};
    const struct fuse_open_out open = {.open_flags = FOPEN_KEEP_CACHE};
    const struct fuse_statfs_out statfs = {.st = {.bsize = 4096, .namelen = 255}};

    if (answers_none && is_mute && !is_program(request->pid))
        return;
    switch (request->opcode) {
    case FUSE_INIT: answer(request, 0, &init, sizeof(init)); break;
    case FUSE_LOOKUP:
        if (strcmp(wanted, "program"))
            answer(request, -ENOENT, NULL, 0);
        else
            answer(request, 0, &entry, sizeof(entry));
        break;
    case FUSE_GETATTR: answer(request, 0, &about, sizeof(about)); break;
    case FUSE_OPEN: answer(request, 0, &open, sizeof(open)); break;
    case FUSE_READ: answer_read(request, wanted); break;
    case FUSE_STATFS: answer(request, 0, &statfs, sizeof(statfs)); break;
    case FUSE_FLUSH:
    case FUSE_RELEASE: answer(request, 0, NULL, 0); break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: break;
    default: answer(request, -ENOSYS, NULL, 0);
    }
}

static void read_contents(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;

    if (fd < 0 || fstat(fd, &about) || !(contents = malloc((size_t)about.st_size)) ||
        read(fd, contents, (size_t)about.st_size) != about.st_size) {
        perror(path);
        exit(1);
    }
    size = (size_t)about.st_size;
    close(fd);
}

static void mount_at(const char *place)
{
    char options[100];

    fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof(options),
             "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
    if (fuse < 0 || mount("mute", place, "fuse.mute", MS_NOSUID | MS_NODEV, options)) {
        perror("FUSE");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static _Alignas(8) char request[2 * FUSE_MIN_READ_BUFFER];
    const struct sigaction action = {.sa_handler = become_mute, .sa_flags = SA_RESTART};
    sigset_t word;
    int option;

    while ((option = getopt(argc, argv, "s:ow")) != -1)
        if (option == 's')
            slow = (struct timespec){.tv_nsec = (long)number_of(optarg) * 1000000};
        else if (option == 'o')
            answers_none = true;
        else if (option != 'w')
            return 2;
    if (argc - optind != 2)
        return 2;
    begin(NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigemptyset(&word);
    sigaddset(&word, SIGUSR2);
    sigprocmask(SIG_UNBLOCK, &word, NULL);
    read_contents(argv[optind]);
    mount_at(argv[optind + 1]);
    printf("ready\n");
    for (;;) {
        const ssize_t got = read(fuse, request, sizeof(request));
        if (got >= (ssize_t)sizeof(struct fuse_in_header))
            serve((const struct fuse_in_header *)request);
        else if (got < 0 && errno != EINTR && errno != ENOENT && errno != EAGAIN)
            return errno != ENODEV;
    }
}
