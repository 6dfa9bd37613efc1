/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A system call made where it is written. libc's syscall() would be one more function on the stack,
 * and one without a frame pointer, which hides its caller.
 */
#ifndef STACKBOX_WORKLOADS_ARCH_H
#define STACKBOX_WORKLOADS_ARCH_H

#include <sys/syscall.h>
#include <unistd.h>

static inline __attribute__((always_inline)) long call_kernel(long number, long argument)
{
#if defined(__x86_64__)
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(argument)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = argument;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8) : "memory");
    return x0;
#elif defined(__arm__)
    register long r0 __asm__("r0") = argument;

    /* r7 carries the number, and is the frame pointer of Thumb code: saved by hand. */
    __asm__ volatile("push {r7}\n\tmov r7, %1\n\tsvc 0\n\tpop {r7}"
                     : "+r"(r0)
                     : "r"(number)
                     : "memory");
    return r0;
#elif defined(__riscv)
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = argument;

    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
    return a0;
#else
    return syscall(number, argument);
#endif
}

#endif
