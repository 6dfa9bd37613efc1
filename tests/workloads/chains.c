/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * chains [-n N] [-m M] [-l] [-x] [-N COMM] [-w] [-k]
 * chains -A
 *
 * Calls target() exactly N times through main > chain_a1 > chain_a2 and at the same time, in
 * another thread on another CPU, M times through thread_b > chain_b1 > chain_b2. Each call of
 * target() makes one getppid(2). Prints `count a N`, `count b M` and `done CALLS=` as it counted
 * itself.
 *
 *   -n N, -m M   1000 each
 *   -l           target() calls libc's getpgid(), too
 *   -x           the main thread ends first of all: the other one makes the M calls alone
 *   -N COMM, -w, -k   as in other workloads
 *   -A           prints the addresses of target and main, and that is all
 *
 * The Makefile makes this in many shapes. -DFAR_TEXT: the chains are in a section of their own,
 * which a linker script puts far away from main. -DWITH_IFUNC: target is chosen at the start.
 * -DMANGLED: the chains have names as compilers of C++ and Rust make them.
 */
#include <pthread.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

#ifdef FAR_TEXT
#define PLACED APART __attribute__((section("far_text")))
#else
#define PLACED APART
#endif

struct chain {
    uint64_t wanted, made;
};

static int calls_libc, leaderless;
static struct chain a = { 1000, 0 }, b = { 1000, 0 };

#ifdef MANGLED
#define CALLED(name) __asm__(name)
#else
#define CALLED(name)
#endif

void target(struct chain *chain) CALLED("_ZN7Monitor5IWaitEP6Threadl");
void chain_a1(struct chain *chain) CALLED("_ZN4core3ops6FnOnce9call_once17h0123456789abcdefE");
void chain_a2(struct chain *chain) CALLED("_ZNSt6vectorIiSaIiEE9push_backERKi.isra.0");
void chain_b1(struct chain *chain) CALLED("_ZZN1A1fEvENKUlPKcE_clES1_");
void chain_b2(struct chain *chain) CALLED("_RINvNtCs1234_7mycrate3foo3barmE");
void *thread_b(void *argument);

#ifdef WITH_IFUNC
#define TARGET target_chosen
void target_chosen(struct chain *chain);
#else
#define TARGET target
#endif

PLACED void TARGET(struct chain *chain)
{
    FRAME;
    chain->made++;
    call_kernel(SYS_getppid, 0);
    if (calls_libc)
        (void)!getpgid(0);
    NO_TAIL_CALL;
}

#ifdef WITH_IFUNC
typedef void target_function(struct chain *chain);

target_function *choose_target(void);

target_function *choose_target(void)
{
    return target_chosen;
}

void target(struct chain *chain) __attribute__((ifunc("choose_target")));
#endif

PLACED void chain_a2(struct chain *chain)
{
    FRAME;
    target(chain);
    NO_TAIL_CALL;
}

PLACED void chain_a1(struct chain *chain)
{
    FRAME;
    chain_a2(chain);
    NO_TAIL_CALL;
}

PLACED void chain_b2(struct chain *chain)
{
    FRAME;
    target(chain);
    NO_TAIL_CALL;
}

PLACED void chain_b1(struct chain *chain)
{
    FRAME;
    chain_b2(chain);
    NO_TAIL_CALL;
}

static pthread_barrier_t start;

static void say_counts(void)
{
    say_count("a", a.made);
    say_count("b", b.made);
    say_done(a.made + b.made);
}

/* Ends the leader: /proc/PID/maps is then empty, though the process still runs. */
static void wait_without_leader(void)
{
    char line[256], state = 0;
    FILE *status;

    while (state != 'Z') {
        status = fopen("/proc/self/status", "re");
        while (status && fgets(line, sizeof(line), status)) {
            if (sscanf(line, "State: %c", &state) == 1)
                break;
        }
        if (status)
            fclose(status);
    }
    wait_if_asked();
}

APART void *thread_b(void *argument)
{
    struct chain *chain = argument;

    FRAME;
    pin_to_cpu(1);
    if (leaderless)
        wait_without_leader();
    else
        pthread_barrier_wait(&start);
    for (uint64_t i = 0; i < chain->wanted; i++)
        chain_b1(chain);
    if (leaderless) {
        say_counts();
        exit(0);
    }
    return NULL;
}

int main(int argc, char **argv);

static int print_addresses(void)
{
    printf("at target 0x%lx\nat main 0x%lx\n", (unsigned long)(uintptr_t)TARGET,
           (unsigned long)(uintptr_t)main);
    return 0;
}

int main(int argc, char **argv)
{
    int option;
    pthread_t thread;

    while ((option = next_option(argc, argv, "n:m:lxA")) != -1) {
        switch (option) {
        case 'n': a.wanted = number_of(optarg); break;
        case 'm': b.wanted = number_of(optarg); break;
        case 'l': calls_libc = 1; break;
        case 'x': leaderless = 1; break;
        case 'A': return print_addresses();
        default: return 2;
        }
    }
    begin(asked.comm);
    pthread_barrier_init(&start, NULL, 2);
    if (pthread_create(&thread, NULL, thread_b, &b))
        return 2;
    pin_to_cpu(0);
    if (leaderless)
        pthread_exit(NULL);
    wait_if_asked();
    pthread_barrier_wait(&start);
    for (uint64_t i = 0; i < a.wanted; i++)
        chain_a1(&a);
    pthread_join(thread, NULL);
    say_counts();
    return 0;
}
