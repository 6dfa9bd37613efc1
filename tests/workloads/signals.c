/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * signals FILE
 *
 * Writes a line to FILE for each SIGINT, SIGTERM, SIGHUP and SIGUSR1 that it gets, the first being
 * `begun`. Ends with status 5 when there is a file FILE.end, or FILE is removed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file;

static void on_signal(int number)
{
    const char *line = number == SIGINT ? "INT\n" : number == SIGTERM ? "TERM\n"
                     : number == SIGHUP ? "HUP\n" : "USR1\n";

    if (write(file, line, strlen(line)) < 0)
        _exit(2);
}

int main(int argc, char **argv)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    struct stat about;
    char end[4096];

    if (argc != 2 || snprintf(end, sizeof(end), "%s.end", argv[1]) >= (int)sizeof(end))
        return 2;
    file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    if (file < 0)
        return 2;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &action, NULL);
    if (write(file, "begun\n", 6) != 6)
        return 2;
    while (access(end, F_OK) && !fstat(file, &about) && about.st_nlink)
        usleep(20000);
    return 5;
}
