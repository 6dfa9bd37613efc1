/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sums FILE
 *
 * Calls functions with arguments whose sums it knows, and does the same in the kernel, and writes
 * the sums to FILE: `NAME NUMBER`, one per line.
 *
 *   takes   1000 calls from two callers, with an int, a byte and a short, whose registers hold something else
 *           above them, and a long
 *   gives   takes returns an int, and gives a long: both are sometimes negative
 *   huge    numbers whose sum overflows 64 bits
 *   write   writes of different lengths, some to an invalid descriptor
 *   signals to itself, some with a negative si_code
 *   names   that the thread takes in turn, and calls under one of them
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FD 77
#ifdef __clang__ /* which makes no clones */
#define NOINLINE __attribute__((noinline, used))
#else
#define NOINLINE __attribute__((noinline, noclone, used))
#endif
#define HERE __asm__ volatile("" ::: "memory")

static uint64_t even_sum, odd_sum, below, below_sum, above_sum, bytes_high, shorts_below, both, either, named,
    returned, returned_below, given, given_below, huge_wraps, huge_sum, written, writes, large, refused, signals,
    queued, renamed;
static char block[65536];

int takes(int number, unsigned char byte, short small, long length);
long gives(long number);
void huge(unsigned long number);
int even(int i);
int odd(int i);

NOINLINE int takes(int number, unsigned char byte, short small, long length)
{
    HERE;
    return number + byte + small + (int)length - 5000;
}

NOINLINE long gives(long number)
{
    HERE;
    return number * 3 - 100;
}

NOINLINE void huge(unsigned long number)
{
    (void)number;
    HERE;
}

/*
 * No compiler does this, but ABIs let each: a caller may leave garbage above an int, byte or short.
 */
static int (*volatile take)(unsigned long, unsigned long, unsigned long, long) = (void *)takes;

static int call(int i)
{
    const unsigned long above = 0xdeadbeef00000000ull >> (sizeof(long) == 8 ? 0 : 32);
    const int number = i % 9 - 4;
    const unsigned char byte = (unsigned char)(i * 7);
    const short small = (short)(i * 131);
    const long length = i * 10L;
    const unsigned long wide = sizeof(long) == 8 ? (above | (uint32_t)number) : (unsigned long)number;

    below += number < 0;
    below_sum += number < 0 ? 0 : (uint64_t)number;
    above_sum += number > 1 ? (uint64_t)length : 0;
    bytes_high += byte >= 0x80;
    shorts_below += small < -1000;
    both += number == -3 && byte != 0x11 && small >= 0;
    either += (number == 4 || length <= 50) && !(byte < 16);
    *(i % 2 ? &odd_sum : &even_sum) += (uint64_t)length;
    return take(wide, above | 0xab00 | byte, (above | 0xcd0000 | (unsigned short)small), length);
}

NOINLINE int even(int i)
{
    int result = call(i);

    HERE;
    return result;
}

NOINLINE int odd(int i)
{
    int result = call(i);

    HERE;
    return result;
}

static void call_functions(void)
{
    for (int i = 0; i < 1000; i++) {
        const int result = i % 2 ? odd(i) : even(i);
        returned_below += result < 0;
        returned += result < 0 ? 0 : (uint64_t)result;
        const long other = gives(i % 100);
        given_below += other < 0;
        given += other < 0 ? 0 : (uint64_t)other;
    }
    for (int i = 0; i < 7; i++) {
        const unsigned long number = ~0ul / 2 + (unsigned long)i;
        huge(number);
        huge_wraps += __builtin_add_overflow(huge_sum, (uint64_t)number, &huge_sum);
    }
}

static void write_blocks(void)
{
    for (int i = 1; i <= 200; i++) {
        const ssize_t done = write(FD, block, (size_t)i * 100);
        written += done > 0 ? (uint64_t)done : 0;
        writes++;
        large += i * 100 > 8192;
    }
    for (int i = 0; i < 11; i++)
        refused += write(-7, block, 1) < 0;
}

static void send_signals(void)
{
    const union sigval value = {.sival_int = 0};

    signal(SIGUSR2, SIG_IGN);
    for (int i = 0; i < 30; i++)
        signals += !kill(getpid(), SIGUSR2);
    for (int i = 0; i < 12; i++)
        queued += !sigqueue(getpid(), SIGUSR2, value);
}

static void take_names(void)
{
    static const char *const names[] = {"cc1", "cc1plus", "cc", "fifteen-letters"};

    for (int i = 0; i < 40; i++) {
        prctl(PR_SET_NAME, names[i % 4]);
        renamed += i % 4 == 0;
        named += i % 4 == 0;
        huge(1);
    }
    prctl(PR_SET_NAME, "sums");
}

#define TELL(name) fprintf(file, #name " %llu\n", (unsigned long long)name)

int main(int argc, char **argv)
{
    int null = open("/dev/null", O_WRONLY);
    FILE *file = argc == 2 ? fopen(argv[1], "w") : NULL;

    if (!file || null < 0 || dup2(null, FD) != FD)
        return 2;
    call_functions();
    write_blocks();
    send_signals();
    take_names();
    TELL(even_sum), TELL(odd_sum), TELL(below), TELL(below_sum), TELL(above_sum), TELL(bytes_high);
    TELL(shorts_below), TELL(both), TELL(either), TELL(named), TELL(returned), TELL(returned_below), TELL(given);
    TELL(given_below), TELL(huge_wraps), TELL(huge_sum), TELL(written), TELL(writes), TELL(large), TELL(refused);
    TELL(signals), TELL(queued), TELL(renamed);
    return fclose(file) ? 2 : 0;
}
