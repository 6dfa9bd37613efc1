/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "attach/attach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define TRIES 10

/* In memory (tmpfs), as probes, too, are gone after a reboot. */
static const char *const places[] = {"/run/stackbox", "/dev/shm/stackbox"};

/* The names of all makers of this process begin with this. */
static char own[MAKER_NAME_ROOM - 8];
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

/* Root alone may write there: others could make a dead maker look alive. */
static int open_place(const char *path)
{
    struct stat about;

    if (mkdir(path, 0700) && errno != EEXIST)
        return -errno;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int result = fstat(fd, &about)                                       ? -errno
                 : about.st_uid || (about.st_mode & (S_IWGRP | S_IWOTH)) ? -EACCES
                                                                         : 0;
    if (result)
        close(fd);
    return result ? result : fd;
}

static int open_makers(void)
{
    int fd = -ENOENT;

    for (size_t i = 0; i < COUNT_OF(places) && fd < 0; i++)
        fd = open_place(places[i]);
    return fd;
}

/*
 * A lock of the process, which its children do not inherit. -ENOENT: another process, which looked
 * for dead makers, was first and has removed the file.
 */
static int lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat about;

    if (fcntl(fd, F_SETLK, &whole) || fstat(fd, &about))
        return -errno;
    return about.st_nlink ? 0 : -ENOENT;
}

static void make_own(void)
{
    uint64_t number;

    /*
     * A machine that has just started may have no random numbers: no other process has this time
     * and this pid.
     */
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
        number = now_ns();
    snprintf(own, sizeof(own), "%d_%012llx", (int)getpid(), (unsigned long long)number >> 16);
}

static void make_name(struct maker *maker)
{
    static atomic_uint count;

    pthread_once(&own_once, make_own);
    snprintf(maker->name, sizeof(maker->name), "%s%04x", own, atomic_fetch_add(&count, 1) & 0xffff);
}

static int hold_lock(struct maker *maker, int makers)
{
    int fd = openat(makers, maker->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    int result = lock(fd);
    if (!result) {
        maker->lock = fd;
        return 0;
    }
    unlinkat(makers, maker->name, 0); /* the kernel may not support locks at all */
    close(fd);
    return result;
}

const char *maker_name(struct maker *maker)
{
    if (maker->name[0])
        return maker->name;
    maker->lock = -1;
    int makers = open_makers(), result = makers < 0 ? makers : -EAGAIN;
    for (unsigned attempt = 0; attempt < TRIES && makers >= 0 && result; attempt++) {
        make_name(maker);
        result = hold_lock(maker, makers);
    }
    /*
     * Without a lock there is no file of that name: no other run takes it for dead, or cleans up
     * after it.
     */
    if (result)
        make_name(maker);
    close_fd(makers);
    return maker->name;
}

static bool is_name(const char *name)
{
    size_t digits = strspn(name, "0123456789");

    return digits && name[digits] == '_' && strlen(name) < MAKER_NAME_ROOM &&
           strspn(name + digits + 1, "0123456789abcdef") == 16 && !name[digits + 17];
}

static void look_at(int makers, const char *name, maker_dead *dead, void *context)
{
    int fd = openat(makers, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return;
    if (!lock(fd) && !dead(context, name))
        unlinkat(makers, name, 0);
    close(fd);
}

void makers_each_dead(maker_dead *dead, void *context)
{
    pthread_once(&own_once, make_own);
    int makers = open_makers();
    DIR *names = makers < 0 ? NULL : fdopendir(makers);

    for (struct dirent *name; names && (name = readdir(names));)
        /* This process's own lock could be taken, and would be lost when the file is closed. */
        if (is_name(name->d_name) && !starts_with(name->d_name, own))
            look_at(makers, name->d_name, dead, context);
    if (names)
        closedir(names);
    else
        close_fd(makers);
}

void maker_end(struct maker *maker)
{
    bool locked = maker->name[0] && maker->lock >= 0;
    int makers = locked ? open_makers() : -1;

    if (makers >= 0) {
        unlinkat(makers, maker->name, 0);
        close(makers);
    }
    if (locked)
        close(maker->lock);
    *maker = (struct maker){0};
}
