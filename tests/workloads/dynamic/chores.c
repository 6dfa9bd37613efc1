/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * chores [-n N] [-N COMM] [-w] [-k] CHORE
 *
 * Does one thing N times (100), each time through main > chore > CHORE, and prints the count:
 *
 *   mallocs     calls the libc's malloc
 *   threads     starts a thread, and waits for its end
 *   datagrams   sends a UDP datagram to itself, over the loopback device
 *   sends       sends 100 bytes by TCP to itself
 *   naps        waits 2 ms in semtimedop(2), which hardly any other process uses
 *   reads       reads 4 KB from a block device past the page cache, the one that $DEVICE names
 *   syncs       syncs the file system that $DIRECTORY is on
 *   copies      copies N MB from a file in memory: `count kernel_us` is the CPU time of that in the kernel
 *
 * `count switches N` is how often the thread left its CPU meanwhile, as the kernel counts it.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../word.h"

#define COPIED (1 << 20)

static int from, to, semaphores = -1;
static struct sockaddr_in self = {.sin_family = AF_INET};
static char *page, *memory;

static void *nothing(void *unused)
{
    return unused;
}

static APART void mallocs(void)
{
    void *volatile got;

    FRAME;
    got = malloc(1000);
    free(got);
}

static APART void threads(void)
{
    pthread_t thread;

    FRAME;
    if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
        exit(2);
}

static APART void datagrams(void)
{
    char text[100] = "";

    FRAME;
    if (sendto(to, text, sizeof(text), 0, (struct sockaddr *)&self, sizeof(self)) < 0 ||
        recv(from, text, sizeof(text), 0) < 0)
        die("a datagram");
}

static APART void sends(void)
{
    char text[100] = "";

    FRAME;
    if (send(to, text, sizeof(text), 0) < 0 || recv(from, text, sizeof(text), MSG_WAITALL) < 0)
        die("send");
}

static APART void naps(void)
{
    struct timespec time = {.tv_nsec = 2000000};
    struct sembuf one = {.sem_op = -1};

    FRAME;
    semtimedop(semaphores, &one, 1, &time);
    NO_TAIL_CALL;
}

static APART void reads(void)
{
    FRAME;
    if (pread(from, page, 4096, 0) != 4096)
        die("a read");
}

static APART void syncs(void)
{
    FRAME;
    if (syncfs(from))
        die("syncfs");
}

static APART void copies(void)
{
    FRAME;
    if (pread(from, memory, COPIED, 0) != COPIED)
        die("a copy");
}

static void open_datagrams(void)
{
    socklen_t size = sizeof(self);

    from = socket(AF_INET, SOCK_DGRAM, 0);
    to = socket(AF_INET, SOCK_DGRAM, 0);
    self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(from, (struct sockaddr *)&self, size) || getsockname(from, (struct sockaddr *)&self, &size))
        die("a socket");
}

static void open_sends(void)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t size = sizeof(self);

    self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&self, size) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&self, &size) ||
        connect(to, (struct sockaddr *)&self, size) || (from = accept(listener, NULL, NULL)) < 0)
        die("a connection");
}

static void open_naps(void)
{
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    if (semaphores < 0)
        die("semget");
}

static void open_reads(void)
{
    page = aligned_alloc(4096, 4096);
    from = open(getenv("DEVICE") ?: "", O_RDONLY | O_DIRECT);
    if (from < 0)
        die("$DEVICE");
}

static void open_syncs(void)
{
    from = open(getenv("DIRECTORY") ?: "", O_RDONLY | O_DIRECTORY);
    if (from < 0)
        die("$DIRECTORY");
}

static void open_copies(void)
{
    from = memfd_create("copied", 0);
    memory = malloc(COPIED);
    memset(memory, 1, COPIED);
    if (from < 0 || pwrite(from, memory, COPIED, 0) != COPIED)
        die("memfd_create");
}

static void open_nothing(void)
{
}

static const struct chore {
    const char *name;
    void (*prepare)(void), (*once)(void);
} chores[] = {
    {"mallocs", open_nothing, mallocs}, {"threads", open_nothing, threads},
    {"datagrams", open_datagrams, datagrams}, {"sends", open_sends, sends},
    {"naps", open_naps, naps}, {"reads", open_reads, reads}, {"syncs", open_syncs, syncs},
    {"copies", open_copies, copies},
};

static APART void chore(const struct chore *it, unsigned long times)
{
    FRAME;
    while (times--)
        it->once();
    NO_TAIL_CALL;
}

int main(int argc, char **argv)
{
    unsigned long wanted = 100;
    int option;
    const struct chore *it = chores;
    struct rusage before, after;

    while ((option = next_option(argc, argv, "n:")) != -1) {
        switch (option) {
        case 'n': wanted = number_of(optarg); break;
        default: return 2;
        }
    }
    while (it < chores + sizeof(chores) / sizeof(*chores) && strcmp(it->name, argv[optind] ?: ""))
        it++;
    if (it == chores + sizeof(chores) / sizeof(*chores))
        return 2;
    begin(asked.comm);
    it->prepare();
    wait_if_asked();
    getrusage(RUSAGE_SELF, &before);
    chore(it, wanted);
    getrusage(RUSAGE_SELF, &after);
    say_count("switches", (uint64_t)(after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw));
    say_count("kernel_us", (uint64_t)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1000000 +
        (uint64_t)after.ru_stime.tv_usec - (uint64_t)before.ru_stime.tv_usec);
    if (semaphores >= 0)
        semctl(semaphores, 0, IPC_RMID);
    say_done(wanted);
    return 0;
}
