/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Frames as compilers make them. */
#include "shape.h"

#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- small ones */

APART static void leaf(void)
{
    TELL();
    MARK();
    UNTELL();
}

APART static int chain4(int a, int b, int c, int d)
{
    TELL();
    MARK();
    UNTELL();
    return a + b + c + d;
}
APART static int chain3(int a, int b)
{
    TELL();
    int sum = chain4(a, b, a * b, a - b) + a * b;
    UNTELL();
    return sum;
}
APART static int chain2(int a)
{
    TELL();
    int sum = chain3(a, a + 1) ^ a;
    UNTELL();
    return sum;
}
APART static void chain(void)
{
    TELL();
    shape_zero = chain2(shape_one) & 0;
    UNTELL();
}

APART static int recursion(int depth)
{
    TELL();
    if (depth)
        depth += recursion(depth - 1);
    else
        MARK();
    UNTELL();
    return depth;
}
APART static void deep(void)
{
    TELL();
    recursion(60);
    UNTELL();
}
/* More than any walk has room for */
APART static void deeper(void)
{
    TELL();
    recursion(400);
    UNTELL();
}

static int (*volatile next)(int);
APART static int ping(int depth);
APART static int pong(int depth)
{
    char room[3 * 16];

    TELL();
    memset(room, depth, sizeof(room));
    shape_escape = room;
    int sum = ping(depth - 1) + room[1];
    UNTELL();
    return sum;
}
APART static int ping(int depth)
{
    TELL();
    if (depth <= 0)
        MARK();
    else
        depth = next(depth - 1);
    UNTELL();
    return depth + 1;
}
APART static void pointers(void)
{
    TELL();
    next = pong;
    ping(20);
    UNTELL();
}

/* So many values live across a call that all callee-saved registers are used. */
APART static long registers(const long *v)
{
    TELL();
    long a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
    for (int i = 0; i < shape_one; i++) {
        leaf();
        a ^= b, b += c, c ^= d, d += e, e ^= f, f += g, g ^= h, h += a;
    }
    UNTELL();
    return a + b + c + d + e + f + g + h;
}
APART static void saved(void)
{
    long values[8] = {1, 2, 3, 4, 5, 6, 7, shape_one};

    TELL();
    shape_zero = (int)registers(values) & 0;
    UNTELL();
}

/* ---- large ones, and ones of variable size */

APART static void huge(void)
{
    char room[200 << 10];

    TELL();
    memset(room, 1, sizeof(room));
    shape_escape = room;
    leaf();
    MARK();
    UNTELL();
}

APART static void with_alloca(void)
{
    TELL();
    for (int i = 1; i < 4; i++) {
        shape_escape = alloca((size_t)(1000 * shape_one * i));
        MARK();
        leaf();
    }
    UNTELL();
}

APART static int of_size(int size)
{
    int room[size];

    TELL();
    memset(room, 0, sizeof(room));
    shape_escape = room;
    MARK();
    leaf();
    UNTELL();
    return room[size / 2];
}
APART static void variable(void)
{
    TELL();
    shape_zero = of_size(777 * shape_one) & 0;
    UNTELL();
}

/* ---- aligned ones */

APART static void aligned(void)
{
    char room[128] __attribute__((aligned(64)));

    TELL();
    memset(room, 0, sizeof(room));
    shape_escape = room;
    MARK();
    leaf();
    UNTELL();
}
APART static void aligned_alloca(void)
{
    char room[128] __attribute__((aligned(128)));

    TELL();
    memset(room, 0, sizeof(room));
    shape_escape = alloca((size_t)(321 * shape_one));
    MARK();
    shape_escape = room;
    leaf();
    UNTELL();
}
/* Its arguments are on the stack that it leaves. */
APART static long aligned_arguments(long a, long b, long c, long d, long e, long f, long g, long h)
{
    long room[16] __attribute__((aligned(64))) = {a, b, c, d};

    TELL();
    shape_escape = alloca((size_t)(64 * shape_one));
    shape_escape = room;
    MARK();
    leaf();
    UNTELL();
    return room[3] + e + f + g + h;
}
APART static void many_arguments(void)
{
    TELL();
    shape_zero = (int)aligned_arguments(1, 2, 3, 4, 5, 6, 7, 8) & 0;
    UNTELL();
}
__attribute__((force_align_arg_pointer)) APART static void realigned(void)
{
    TELL();
    MARK();
    leaf();
    UNTELL();
}

/* ---- other ways to call */

APART static int sum_of(int count, ...)
{
    va_list list;
    int sum = 0;

    TELL();
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += i % 2 ? (int)va_arg(list, double) : va_arg(list, int);
    va_end(list);
    MARK();
    leaf();
    UNTELL();
    return sum;
}
APART static void variadic(void)
{
    TELL();
    shape_zero = sum_of(10, 1, 2.0, 3, 4.0, 5, 6.0, 7, 8.0, 9, 10.0) & 0;
    UNTELL();
}

struct large {
    long words[40];
};
APART static struct large by_value(struct large in, long a)
{
    TELL();
    in.words[3] += a;
    MARK();
    leaf();
    UNTELL();
    return in;
}
APART static void values(void)
{
    struct large one = {{shape_one}};

    TELL();
    one = by_value(by_value(one, 1), 2);
    shape_escape = &one;
    UNTELL();
}

__attribute__((ms_abi)) APART static long others_abi(long a, long b, long c, long d, long e)
{
    TELL();
    MARK();
    leaf();
    UNTELL();
    return a + b + c + d + e;
}
APART static void foreign(void)
{
    TELL();
    shape_zero = (int)others_abi(1, 2, 3, 4, 5) & 0;
    UNTELL();
}

/* A tail call leaves no frame of it. */
APART static int jumped_to(int a)
{
    TELL();
    MARK();
    UNTELL();
    return a;
}
#if __has_attribute(musttail)
#define JUMP __attribute__((musttail)) return
#else
#define JUMP return
#endif
APART static int jumps(int a)
{
    JUMP jumped_to(a + 1);
}
/* Without optimization it is a call, and jumps() would need a mark. */
APART static void tail(void)
{
    TELL();
#ifdef __OPTIMIZE__
    shape_zero = jumps(shape_one) & 0;
#else
    (void)jumps;
    shape_zero = jumped_to(shape_one) & 0;
#endif
    UNTELL();
}

/* ---- parts that are placed elsewhere */

__attribute__((cold)) APART static void rare(int a)
{
    TELL();
    MARK();
    shape_zero = a & 0;
    UNTELL();
}
APART static int divided(int a, const int *v)
{
    TELL();
    int sum = a;
    for (int i = 0; i < a; i++)
        sum += v[i] * a;
    if (__builtin_expect(sum > 3, 0)) {
        rare(sum);
        MARK();
        leaf();
        rare(sum + 1);
        sum ^= v[1];
    }
    UNTELL();
    return sum * 3;
}
APART static void cold(void)
{
    const int v[4] = {7 * shape_one, 8, 9, 10};

    TELL();
    shape_zero = divided(4 * shape_one, v) & 0;
    UNTELL();
}

/* It has a frame on only one path. */
APART static int wrapped(int a, const int *v)
{
    if (a < 100)
        return a;
    TELL();
    int sum = v[0] + v[1];
    leaf();
    MARK();
    UNTELL();
    return sum * a + v[2];
}
APART static void shrunk(void)
{
    const int v[3] = {shape_one, 2, 3};

    TELL();
    shape_zero = (wrapped(99 * shape_one, v) + wrapped(100 * shape_one, v)) & 0;
    UNTELL();
}

/* A call that does not return is its last instruction: another function follows. */
static jmp_buf back;
__attribute__((noreturn)) APART static void never_returns(int a)
{
    TELL();
    MARK();
    longjmp(back, a);
}
__attribute__((noreturn)) APART static void calls_never(int a)
{
    TELL();
    never_returns(a + 1);
}
APART static void noreturn(void)
{
    TELL();
    const uint64_t count = shape.count;

    if (!setjmp(back))
        calls_never(shape_one);
    shape.count = count;
    MARK();
    leaf();
    UNTELL();
}

#ifdef WITH_NESTED
APART static void calls_nested(void (*function)(void))
{
    TELL();
    function();
    UNTELL();
}
APART static void nested(void)
{
    int count = 1;
    auto void inner(void);
    void inner(void)
    {
        TELL();
        count += shape_one;
        MARK();
        UNTELL();
    }

    TELL();
    calls_nested(inner);
    shape_zero = count & 0;
    UNTELL();
}
#endif

const struct shape_row frame_shapes[] = {
    {"leaf", leaf},
    {"chain", chain},
    {"deep", deep},
    {"deeper", deeper},
    {"pointers", pointers},
    {"saved", saved},
    {"huge", huge},
    {"with_alloca", with_alloca},
    {"variable", variable},
    {"aligned", aligned},
    {"aligned_alloca", aligned_alloca},
    {"many_arguments", many_arguments},
    {"realigned", realigned},
    {"variadic", variadic},
    {"values", values},
    {"foreign", foreign},
    {"tail", tail},
    {"cold", cold},
    {"shrunk", shrunk},
    {"noreturn", noreturn},
#ifdef WITH_NESTED
    {"nested", nested},
#endif
    {NULL, NULL},
};
