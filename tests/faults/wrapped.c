/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The linker redirects our own code's calls of these C library functions here (--wrap). */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

#include "fault.h"

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__real_strdup(const char *string);
char *__wrap_strdup(const char *string);
char *__real_strndup(const char *string, size_t length);
char *__wrap_strndup(const char *string, size_t length);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
int __real_regcomp(regex_t *regex, const char *pattern, int flags);
int __wrap_regcomp(regex_t *regex, const char *pattern, int flags);
void *__real_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument);
pid_t __real_fork(void);
pid_t __wrap_fork(void);
int __real_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before);

/* Makes the call, or sets errno and returns the value for failure. */
#define WRAP(kind, failed, made)                                                                  \
    do {                                                                                          \
        int wrap_error = count_call(kind, __builtin_frame_address(0));                                                           \
        if (wrap_error <= 0)                                                                      \
            return made;                                                                          \
        errno = wrap_error;                                                                       \
        return failed;                                                                            \
    } while (0)

void *__wrap_malloc(size_t size)
{
    WRAP(KIND_MALLOC, NULL, __real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    WRAP(KIND_MALLOC, NULL, __real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    WRAP(KIND_MALLOC, NULL, __real_realloc(old, size));
}

char *__wrap_strdup(const char *string)
{
    WRAP(KIND_MALLOC, NULL, __real_strdup(string));
}

char *__wrap_strndup(const char *string, size_t length)
{
    WRAP(KIND_MALLOC, NULL, __real_strndup(string, length));
}

DIR *__wrap_opendir(const char *path)
{
    WRAP(KIND_MALLOC, NULL, __real_opendir(path));
}

DIR *__wrap_fdopendir(int fd)
{
    WRAP(KIND_MALLOC, NULL, __real_fdopendir(fd));
}

int __wrap_regcomp(regex_t *regex, const char *pattern, int flags)
{
    WRAP(KIND_MALLOC, REG_ESPACE, __real_regcomp(regex, pattern, flags));
}

void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    WRAP(KIND_MMAP, MAP_FAILED, __real_mmap(at, length, protection, flags, fd, offset));
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument)
{
    WRAP(KIND_THREAD, errno, __real_pthread_create(thread, how, run, argument));
}

pid_t __wrap_fork(void)
{
    WRAP(KIND_FORK, -1, __real_fork());
}

/* Keeps SIGSYS unblocked: the kernel kills a process whose call is trapped while it is blocked. */
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t allowed;

    if (!set || how == SIG_UNBLOCK)
        return __real_sigprocmask(how, set, before);
    allowed = *set;
    sigdelset(&allowed, SIGSYS);
    return __real_sigprocmask(how, &allowed, before);
}
