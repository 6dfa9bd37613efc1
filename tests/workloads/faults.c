/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * faults [-n N] [-z N] [-N COMM] [-w] [-k]
 *
 * Touches N new pages, in touch(): each is one page fault. Then it sleeps N times, in nap(). Prints
 * `count faults N` with how many more faults its thread had after touch() by the kernel's own
 * count, and `done`.
 *
 *   -n N              1000
 *   -z N              how often it sleeps (0), for 2 ms each
 *   -N COMM, -w, -k   as in other workloads
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

void touch(volatile char *pages, unsigned long count, long size);
void nap(unsigned long count);

APART void touch(volatile char *pages, unsigned long count, long size)
{
    FRAME;
    for (unsigned long i = 0; i < count; i++)
        pages[i * (unsigned long)size] = 1;
}

APART void nap(unsigned long count)
{
    static const struct timespec time = {.tv_nsec = 2000000};

    FRAME;
    for (unsigned long i = 0; i < count; i++)
        call_kernel(SYS_nanosleep, (long)&time);
}

static uint64_t faults_so_far(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

int main(int argc, char **argv)
{
    unsigned long count = 1000, naps = 0;
    int option;
    long size = sysconf(_SC_PAGESIZE);

    while ((option = next_option(argc, argv, "n:z:")) != -1) {
        switch (option) {
        case 'n': count = number_of(optarg); break;
        case 'z': naps = number_of(optarg); break;
        default: return 2;
        }
    }
    begin(asked.comm);
    char *pages = mmap(NULL, count * (unsigned long)size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 2;
    madvise(pages, count * (unsigned long)size, MADV_NOHUGEPAGE); /* else one fault serves many */
    faults_so_far(); /* its own first accesses happen here */
    wait_if_asked();
    uint64_t before = faults_so_far();
    touch(pages, count, size);
    say_count("faults", faults_so_far() - before);
    nap(naps);
    say_done(count);
    return 0;
}
