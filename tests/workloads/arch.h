/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An inline system call. libc's syscall() would add a frame without a frame pointer, and hide its
 * caller from the walk.
 */
#ifndef STACKBOX_WORKLOADS_ARCH_H
#define STACKBOX_WORKLOADS_ARCH_H

#include <sys/syscall.h>
#include <unistd.h>

/* The call that fills in libc's struct timespec, which has 64-bit time on 32-bit machines, too. */
#ifdef SYS_clock_gettime64
#define CALL_CLOCK_GETTIME SYS_clock_gettime64
#else
#define CALL_CLOCK_GETTIME SYS_clock_gettime
#endif

/* A system call with six arguments. */
static inline __attribute__((always_inline)) long call_kernel_all(long number, long a, long b,
                                                                  long c, long d, long e, long f)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#elif defined(__arm__)
    register long r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;
    register long r3 __asm__("r3") = d, r4 __asm__("r4") = e, r5 __asm__("r5") = f;

    /* r7 holds the number, and is Thumb's frame pointer. It is saved in ip, not on the stack, which
       the parent of a vfork(2) shares with its child. */
    __asm__ volatile("mov ip, r7\n\tmov r7, %1\n\tsvc 0\n\tmov r7, ip"
                     : "+r"(r0)
                     : "r"(number), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
                     : "ip", "memory");
    return r0;
#elif defined(__riscv)
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c, a3 __asm__("a3") = d, a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;

    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                     : "memory");
    return a0;
#elif defined(__loongarch__)
    register long a7 __asm__("$a7") = number, a0 __asm__("$a0") = a, a1 __asm__("$a1") = b;
    register long a2 __asm__("$a2") = c, a3 __asm__("$a3") = d, a4 __asm__("$a4") = e;
    register long a5 __asm__("$a5") = f;

    __asm__ volatile("syscall 0"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                     : "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7", "$t8", "memory");
    return a0;
#elif defined(__s390x__)
    register long r1 __asm__("r1") = number, r2 __asm__("r2") = a, r3 __asm__("r3") = b;
    register long r4 __asm__("r4") = c, r5 __asm__("r5") = d, r6 __asm__("r6") = e;
    register long r7 __asm__("r7") = f;

    __asm__ volatile("svc 0"
                     : "+r"(r2)
                     : "r"(r1), "r"(r3), "r"(r4), "r"(r5), "r"(r6), "r"(r7)
                     : "memory");
    return r2;
#elif defined(__powerpc64__)
    register long r0 __asm__("r0") = number, r3 __asm__("r3") = a, r4 __asm__("r4") = b;
    register long r5 __asm__("r5") = c, r6 __asm__("r6") = d, r7 __asm__("r7") = e;
    register long r8 __asm__("r8") = f;

    __asm__ volatile("sc\n\tbns+ 1f\n\tneg 3, 3\n1:"
                     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7), "+r"(r8)
                     :
                     : "r9", "r10", "r11", "r12", "cr0", "ctr", "xer", "memory");
    return r3;
#elif defined(__mips__)
    register long v0 __asm__("$2") = number, a0 __asm__("$4") = a, a1 __asm__("$5") = b;
    register long a2 __asm__("$6") = c, a3 __asm__("$7") = d;

    /* In o32 the last two are on the stack. */
    if (!__builtin_constant_p(e) || !__builtin_constant_p(f) || e || f)
        return syscall(number, a, b, c, d, e, f);
    __asm__ volatile("syscall"
                     : "+r"(v0), "+r"(a3)
                     : "r"(a0), "r"(a1), "r"(a2)
                     : "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24",
                       "$25", "hi", "lo", "memory");
    return a3 ? -v0 : v0;
#else
    return syscall(number, a, b, c, d, e, f);
#endif
}

static inline __attribute__((always_inline)) long call_kernel(long number, long argument)
{
    return call_kernel_all(number, argument, 0, 0, 0, 0, 0);
}

#endif
