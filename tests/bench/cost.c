/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * cost FILE COMMAND...
 *
 * Runs COMMAND and writes to FILE what the kernel says it took: `cpu_ms wall_ms peak_kb`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    struct timespec start, end;
    struct rusage usage;
    int status;

    if (argc < 3)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (!child) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    wait4(child, &status, 0, &usage);
    clock_gettime(CLOCK_MONOTONIC, &end);

    FILE *out = fopen(argv[1], "w");
    if (!out)
        return 1;
    fprintf(out, "%.3f %.3f %ld\n", (seconds(usage.ru_utime) + seconds(usage.ru_stime)) * 1e3,
            (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6,
            usage.ru_maxrss);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
