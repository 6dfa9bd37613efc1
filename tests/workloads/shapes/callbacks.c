/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions called by libraries: libc, the dynamic linker, and one that is loaded. */
#include "shape.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* musl's functions have no tables. */
#ifdef __GLIBC__
static int marks;

/* One mark in 16 calls is enough. */
SHAPE_INLINE void mark_some(void)
{
    if (marks++ % 16 == 0)
        MARK();
}

APART static int compare(const void *left, const void *right)
{
    int a, b;

    tell(ANY, NULL);
    TELL();
    memcpy(&a, left, sizeof(a));
    memcpy(&b, right, sizeof(b));
    mark_some();
    UNTELL();
    UNTELL();
    return a < b ? -1 : a > b;
}
APART static void sorting(void)
{
    int numbers[64];

    TELL();
    for (int i = 0; i < 64; i++)
        numbers[i] = i * 37 % 64;
    qsort(numbers, 64, sizeof(numbers[0]), compare);
    UNTELL();
}
APART static void searching(void)
{
    int numbers[64], wanted = 5;

    TELL();
    for (int i = 0; i < 64; i++)
        numbers[i] = i;
    shape_escape = bsearch(&wanted, numbers, 64, sizeof(numbers[0]), compare);
    UNTELL();
}

APART static void visit(const void *node, VISIT order, int depth)
{
    (void)node, (void)order;
    tell(ANY, NULL);
    TELL();
    if (depth == 0)
        MARK();
    UNTELL();
    UNTELL();
}
APART static void tree(void)
{
    static int numbers[8] = {3, 1, 2, 7, 5, 6, 4, 0};
    void *root = NULL;

    TELL();
    for (int i = 0; i < 8; i++)
        tsearch(&numbers[i], &root, compare);
    twalk(root, visit);
    UNTELL();
}

APART static ssize_t write_cookie(void *cookie, const char *bytes, size_t size)
{
    (void)cookie, (void)bytes;
    tell(ANY, NULL);
    TELL();
    MARK();
    UNTELL();
    UNTELL();
    return (ssize_t)size;
}
APART static void printing(void)
{
    FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_cookie});

    TELL();
    fprintf(file, "%*d%f\n", 3000, 3, 1.5);
    fclose(file);
    UNTELL();
}

APART static int take_entry(const struct dirent *entry)
{
    (void)entry;
    tell(ANY, NULL);
    TELL();
    mark_some();
    UNTELL();
    UNTELL();
    return 0;
}
APART static void scanning(void)
{
    struct dirent **names = NULL;

    TELL();
    marks = 0;
    scandir("/", &names, take_entry, alphasort);
    free(names);
    UNTELL();
}

APART static void once_only(void)
{
    tell(ANY, NULL);
    TELL();
    MARK();
    UNTELL();
    UNTELL();
}
APART static void once(void)
{
    pthread_once_t made = PTHREAD_ONCE_INIT;

    TELL();
    pthread_once(&made, once_only);
    UNTELL();
}

/* Called by exit(), and also calls it */
APART static void at_exit(void)
{
    tell(ANY, NULL);
    TELL();
    MARK();
    UNTELL();
    UNTELL();
}
APART static void exiting(void)
{
    TELL();
    atexit(at_exit);
    exit(0);
}

/* Before main() */
__attribute__((constructor)) APART static void constructor(void)
{
    uint64_t before = tell_anew();

    tell(ANY, NULL);
    TELL();
    MARK();
    tell_again(before);
}
#endif

/* ---- during relocation, before any other code of the program */

#ifdef WITH_IFUNC
static int chosen(int a)
{
    return a + 1;
}
static int (*resolver(void))(int)
{
    uint64_t before = tell_anew();

    tell(ANY, NULL);
    TELL();
    MARK();
    tell_again(before);
    return chosen;
}
int resolved(int a) __attribute__((ifunc("resolver")));
APART static void ifunc(void)
{
    TELL();
    shape_zero = resolved(-1) & 0;
    MARK();
    UNTELL();
}
#endif

/* ---- libraries that are loaded at each other's addresses: libNAME.so, next to the program */

#ifdef WITH_LIBRARIES
typedef void library_function(volatile struct shape *, void (*)(void));

APART static void called_back(void)
{
    TELL();
    MARK();
    UNTELL();
}
APART static void call_in(const char *name)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);
    library_function *function;

    if (length < 0)
        abort();
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, name);
    void *library = dlopen(path, RTLD_NOW), *symbol = library ? dlsym(library, "in_library") : NULL;
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
    memcpy(&function, &symbol, sizeof(function));
    function(&shape, called_back);
    dlclose(library);
}
APART static void libraries(void)
{
    TELL();
    for (int i = 0; i < 3; i++) {
        tell("call_in", NULL);
        call_in("libeast.so");
        call_in("libwest.so");
        UNTELL();
    }
    UNTELL();
}
#endif

const struct shape_row callback_shapes[] = {
#ifdef __GLIBC__
    {"sorting", sorting},
    {"searching", searching},
    {"tree", tree},
    {"printing", printing},
    {"scanning", scanning},
    {"once", once},
    {"exiting", exiting},
#endif
#ifdef WITH_IFUNC
    {"ifunc", ifunc},
#endif
#ifdef WITH_LIBRARIES
    {"libraries", libraries},
#endif
    {NULL, NULL},
};
