/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What demo.sh traces: a small server with something to compute and something to wait for.
 *
 * For three seconds at most the first thread sends requests through a pipe, eight in ten milliseconds, and two others serve
 * them: each request is parsed, sorted, searched and summed up, and then written to a log, which takes a while, and
 * only one thread at a time may.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
/* After a call: then it is not a tail call, and the caller stays on the stack. */
#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

#define WORDS 600
#define SERVERS 2

static int requests[2]; /* a pipe; the sender's end is the second */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned answers;

static APART void parse(unsigned *words, unsigned seed)
{
    for (int at = 0; at < WORDS; at++)
        words[at] = seed = seed * 1664525 + 1013904223;
}

static APART void sort(unsigned *words)
{
    for (int next = 1; next < WORDS; next++)
        for (int at = next; at && words[at] < words[at - 1]; at--) {
            unsigned word = words[at];

            words[at] = words[at - 1];
            words[at - 1] = word;
        }
}

static APART unsigned search(const unsigned *words)
{
    unsigned found = 0;

    for (int first = 0; first < WORDS; first++)
        for (int second = first; second < WORDS; second++)
            found += words[first] == (words[second] ^ found);
    return found;
}

static APART unsigned checksum(const unsigned *words)
{
    unsigned sum = 0;

    for (int round = 0; round < 100; round++)
        for (int at = 0; at < WORDS; at++)
            sum = (sum ^ words[at]) * 16777619;
    return sum;
}

static APART unsigned compute(unsigned seed)
{
    unsigned words[WORDS], answer;

    parse(words, seed);
    sort(words);
    answer = search(words);
    return answer + checksum(words);
}

static APART void write_log(unsigned answer)
{
    pthread_mutex_lock(&log_lock);
    answers += answer;
    nanosleep(&(struct timespec){.tv_nsec = 1500000}, NULL);
    pthread_mutex_unlock(&log_lock);
    NO_TAIL_CALL;
}

static APART int receive(unsigned *seed)
{
    return read(requests[0], seed, sizeof *seed) == sizeof *seed;
}

static void *server(void *unused)
{
    unsigned seed;

    while (receive(&seed))
        write_log(compute(seed));
    return unused;
}

static APART void send_requests(void)
{
    time_t end = time(NULL) + 3; /* two and a part of the third */

    for (unsigned seed = 0; time(NULL) < end; seed++) {
        nanosleep(&(struct timespec){.tv_nsec = 1200000}, NULL);
        if (write(requests[1], &seed, sizeof seed) != sizeof seed)
            break;
    }
    close(requests[1]);
}

int main(void)
{
    pthread_t threads[SERVERS];

    if (pipe(requests))
        return 1;
    for (int at = 0; at < SERVERS; at++)
        if (pthread_create(&threads[at], NULL, server, NULL))
            return 1;
    send_requests();
    for (int at = 0; at < SERVERS; at++)
        pthread_join(threads[at], NULL);
    return 0;
}
