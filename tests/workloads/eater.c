/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * eater [-l MB] [-m MB] [-c] [-w]
 *
 * Takes memory until only MB are available, by the kernel's own figure, and prints `ready`. Then it
 * keeps the memory until SIGUSR2; with -c it gives back half of it and takes it again all the time.
 * It is the first process that the kernel would kill for memory.
 *
 *   -l MB    8: how much is left
 *   -m MB    takes this much instead, and is not the first to go
 *   -c       churns
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "word.h"

#define PIECE (256 << 10)
#define MOST_PIECES 65536

static void *pieces[MOST_PIECES];
static size_t count;

static void be_first_to_go(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY);

    if (file < 0 || write(file, "1000", 4) != 4)
        die("/proc/self/oom_score_adj");
    close(file);
}

static unsigned long available_kb(void)
{
    char text[4096];
    int file = open("/proc/meminfo", O_RDONLY);
    ssize_t size = read(file, text, sizeof(text) - 1);
    const char *at;

    if (size <= 0)
        die("/proc/meminfo");
    close(file);
    text[size] = '\0';
    at = strstr(text, "MemAvailable:");
    return at ? strtoul(at + strlen("MemAvailable:"), NULL, 10) : 0;
}

static size_t most = MOST_PIECES;

static void eat(unsigned long left)
{
    while (count < most && available_kb() > left) {
        void *piece = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (piece == MAP_FAILED)
            return;
        memset(piece, 1, PIECE);
        pieces[count++] = piece;
    }
}

static void give_back(size_t kept)
{
    while (count > kept)
        munmap(pieces[--count], PIECE);
}

/* Gives back memory and takes it again, until SIGUSR2, which is blocked, comes. */
static void churn(unsigned long left)
{
    struct timespec moment = { 0, 20000000 };
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    while (sigtimedwait(&set, NULL, &moment) != SIGUSR2) {
        give_back(count / 2);
        eat(left);
    }
}

int main(int argc, char **argv)
{
    unsigned long left = 8;
    int option, churns = 0;

    while ((option = getopt(argc, argv, "l:m:cw")) != -1) {
        switch (option) {
        case 'l': left = number_of(optarg); break;
        case 'm': most = (size_t)number_of(optarg) * 4; break;
        case 'c': churns = 1; break;
        case 'w': break; /* it always waits */
        default: return 2;
        }
    }
    begin(NULL);
    if (most == MOST_PIECES)
        be_first_to_go();
    eat(left * 1024);
    printf("ready\n");
    if (churns)
        churn(left * 1024);
    else
        wait_for_word();
    return 0;
}
