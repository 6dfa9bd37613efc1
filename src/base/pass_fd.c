/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/pass_fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

struct envelope {
    int error; /* 0: there is a descriptor with it */
    struct iovec piece;
    struct msghdr message;
    union {
        struct cmsghdr header; /* for its alignment */
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
};

static void make_envelope(struct envelope *envelope)
{
    *envelope = (struct envelope){0};
    envelope->piece = (struct iovec){&envelope->error, sizeof(envelope->error)};
    envelope->message = (struct msghdr){
        .msg_iov = &envelope->piece,
        .msg_iovlen = 1,
        .msg_control = envelope->control.bytes,
        .msg_controllen = sizeof(envelope->control.bytes),
    };
}

int pass_fd(int socket, int fd)
{
    struct envelope envelope;

    make_envelope(&envelope);
    if (fd < 0) {
        envelope.error = fd;
        envelope.message.msg_control = NULL;
        envelope.message.msg_controllen = 0;
    } else {
        struct cmsghdr *header = CMSG_FIRSTHDR(&envelope.message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &envelope.message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

int take_fd(int socket)
{
    struct envelope envelope;
    ssize_t got;
    int fd;

    make_envelope(&envelope);
    do
        got = recvmsg(socket, &envelope.message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got != sizeof(envelope.error))
        return -EPIPE;
    struct cmsghdr *header = CMSG_FIRSTHDR(&envelope.message);
    if (!header)
        return envelope.error < 0 && envelope.error >= -4095 ? envelope.error : -EPIPE;
    if (header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
        return -EPIPE;
    memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return fd;
}
