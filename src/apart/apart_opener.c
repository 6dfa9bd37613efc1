/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "apart/apart_opener.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apart/apart_places.h"
#include "base/pass_fd.h"

/* In the process apart: its socket to the opener. */
static int asks = -1;

static int open_plain(const char *root, const char *path)
{
    struct text resolved = {0};
    int fd = place_open(root ? root : "", path, &resolved);

    text_free(&resolved);
    return fd == -EISDIR ? -EINVAL : fd;
}

/* How, and "ROOT\0PATH\0", in one message; without a root it is "". */
struct request {
    unsigned char how;
    char names[2 * PATH_MAX];
};

/* However it was opened: a file from a place without programs is not handed over. */
static int open_for(const struct apart_job *job, const struct request *request, struct text *told)
{
    const char *root = request->names, *path = root + strlen(root) + 1;
    int fd = -EINVAL;

    if (!request->how)
        fd = open_plain(root, path);
    else if (job->open)
        fd = job->open(request->how, root, path, told);
    if (fd < 0 || place_has_programs(fd))
        return fd;
    close(fd);
    return -EINVAL;
}

static bool is_request(const struct request *request, ssize_t size)
{
    const ssize_t length = size - (ssize_t)offsetof(struct request, names);

    return length >= 2 && !request->names[length - 1] &&
           (ssize_t)strlen(request->names) < length - 1;
}

/* The descriptor is followed by the text about it, with its NUL. */
void opener_serve(const struct apart_job *job, int socket)
{
    struct request request;
    struct text told = {0};

    for (;;) {
        ssize_t size = recv(socket, &request, sizeof(request), 0);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 || !is_request(&request, size))
            break;
        text_clear(&told);
        int fd = open_for(job, &request, &told);
        int result = pass_fd(socket, told.failed ? -ENOMEM : fd);
        if (fd >= 0)
            close(fd);
        if (!result && request.how)
            result = send(socket, told.length ? told.data : "", told.length + 1, MSG_NOSIGNAL) < 0;
        if (result)
            break;
    }
    text_free(&told);
}

void opener_is_at(int socket)
{
    asks = socket;
}

bool apart_is_here(void)
{
    return asks >= 0;
}

static int send_request(unsigned char how, const char *root, const char *path)
{
    struct request request = {.how = how};
    int length = snprintf(request.names, sizeof(request.names), "%s%c%s", root, 0, path);
    ssize_t sent;

    if (length < 0 || (size_t)length >= sizeof(request.names))
        return -ENAMETOOLONG;
    struct iovec piece = {&request, offsetof(struct request, names) + (size_t)length + 1};
    const struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    do
        sent = sendmsg(asks, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

int apart_open(const char *root, const char *path)
{
    if (asks < 0)
        return open_plain(root, path);
    int result = send_request(0, root ? root : "", path);
    return result ? result : take_fd(asks);
}

int apart_ask(unsigned char how, const char *root, const char *path, struct text *told)
{
    char bytes[2 * PATH_MAX];
    struct iovec piece = {bytes, sizeof(bytes)};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    int fd = send_request(how, root, path);
    ssize_t got;

    if (fd)
        return fd;
    fd = take_fd(asks);
    do
        got = recvmsg(asks, &message, 0);
    while (got < 0 && errno == EINTR);
    text_clear(told);
    if (got > 0)
        text_append(told, bytes, strnlen(bytes, (size_t)got));
    if (fd >= 0 && (got <= 0 || told->failed)) {
        close(fd);
        fd = told->failed ? -ENOMEM : -EPIPE;
    }
    return fd;
}
