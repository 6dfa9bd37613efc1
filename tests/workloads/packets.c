/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * packets DIRECTORY COMMAND...
 *
 * Runs COMMAND, and writes each of its writes to stdout to a file of its own, DIRECTORY/1, 2 and so
 * on.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
    perror(what);
    exit(125);
}

static void keep(const char *directory, unsigned number, const char *bytes, size_t size)
{
    char path[4096];
    int file;

    snprintf(path, sizeof(path), "%s/%u", directory, number);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        die(path);
    close(file);
}

int main(int argc, char **argv)
{
    static char bytes[1 << 20];
    int pair[2], most = sizeof(bytes), status;
    unsigned number = 0;
    ssize_t size;
    pid_t child;

    if (argc < 3)
        return 125;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        die("socketpair");
    if (setsockopt(pair[1], SOL_SOCKET, SO_SNDBUFFORCE, &most, sizeof(most)))
        die("SO_SNDBUFFORCE");
    child = fork();
    if (child < 0)
        die("fork");
    if (!child) {
        dup2(pair[1], STDOUT_FILENO);
        execvp(argv[2], argv + 2);
        die(argv[2]);
    }
    close(pair[1]);
    while ((size = recv(pair[0], bytes, sizeof(bytes), 0)) > 0)
        keep(argv[1], ++number, bytes, (size_t)size);
    if (waitpid(child, &status, 0) != child)
        die("waitpid");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
