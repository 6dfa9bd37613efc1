/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * brief [-c PROCESSES] [-n N] [-l MICROSECONDS] [-f | -v | -d DIRECTORY -o OTHER [-x PID]] [-N COMM]
 * [-w] [-k]
 *
 * Starts PROCESSES processes, one after another. Each calls brief_inner() N times through main >
 * live > brief_outer, or with -f main > run_one > live > brief_outer; each call makes one
 * getppid(2). Then it stays a moment and ends. Prints `done CALLS=` with the sum of the processes'
 * own counts.
 *
 *   -c PROCESSES     200
 *   -n N             10
 *   -l MICROSECONDS  how long each stays: 5000
 *   -f               they are only forked; otherwise they execute this program
 *   -v               they are made by vfork and execute this program
 *   -d DIRECTORY     each runs a copy of this program in DIRECTORY. When it has ended its copy is
 *                    removed, and the program OTHER gets its path.
 *   -x PID           the copy stays until this process has it open, too: a tracer that waits for a
 *                    CPU learns of the copy late. After 10 s the copy is removed anyway.
 *   -N COMM          the command name of all
 *   -w, -k           as in other workloads
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

struct brief_options {
    const char *n, *life, *directory, *other, *tracer;
    int forks_only, by_vfork;
};

DEFINE_CALLS(brief)

/* The work of a process: the parent learns from the pipe how many calls it made. */
static APART void live(unsigned long n, unsigned long life, int result)
{
    uint64_t made = 0;

    FRAME;
    while (made < n)
        brief_outer(&made);
    usleep((useconds_t)life);
    if (write(result, &made, sizeof(made)) != sizeof(made))
        _exit(2);
    _exit(0);
}

static void copy(const char *from, const char *to)
{
    static char bytes[65536];
    ssize_t size;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

    if (in < 0 || out < 0)
        die(to);
    while ((size = read(in, bytes, sizeof(bytes))) > 0) {
        if (write(out, bytes, (size_t)size) != size)
            die(to);
    }
    close(in);
    close(out);
}

static void become(const char *program, const struct brief_options *options, int result)
{
    char fd[16];

    snprintf(fd, sizeof(fd), "%d", result);
    execl(program, program, "-R", fd, "-n", options->n, "-l", options->life, "-N", asked.comm,
          (char *)NULL);
    die(program);
}

static int has_open(const char *pid, const char *path)
{
    char place[64], leads[4096];
    int found = 0;
    DIR *files;

    snprintf(place, sizeof(place), "/proc/%s/fd", pid);
    files = opendir(place);
    for (struct dirent *file; files && !found && (file = readdir(files));) {
        ssize_t length = readlinkat(dirfd(files), file->d_name, leads, sizeof(leads));
        found = length == (ssize_t)strlen(path) && !memcmp(leads, path, (size_t)length);
    }
    if (files)
        closedir(files);
    return found;
}

static void wait_until_open(const char *pid, const char *path)
{
    for (int i = 0; i < 2000 && !has_open(pid, path); i++)
        usleep(5000);
}

static APART uint64_t run_one(const struct brief_options *options, unsigned long number)
{
    static char program[4096]; /* on the stack it would fill a sample's whole copy */
    uint64_t made = 0;
    int result[2], status;
    pid_t child;

    strcpy(program, "/proc/self/exe");
    if (options->directory) {
        snprintf(program, sizeof(program), "%s/copy-%lu", options->directory, number);
        copy("/proc/self/exe", program);
    }
    if (pipe(result))
        die("pipe");
    child = options->by_vfork ? vfork() : fork();
    if (child < 0)
        die("fork");
    if (!child) {
        if (options->forks_only) {
            live(number_of(options->n), number_of(options->life), result[1]);
            NO_TAIL_CALL;
        }
        become(program, options, result[1]);
    }
    close(result[1]);
    if (read(result[0], &made, sizeof(made)) != sizeof(made))
        die("a process without a result");
    close(result[0]);
    if (waitpid(child, &status, 0) != child || status)
        die("a process ended badly");
    if (options->tracer)
        wait_until_open(options->tracer, program);
    if (options->directory) {
        unlink(program);
        copy(options->other, program);
    }
    return made;
}

int main(int argc, char **argv)
{
    struct brief_options options = { .n = "10", .life = "5000" };
    unsigned long processes = 200;
    int option, result = -1;
    uint64_t made = 0;

    asked.comm = "brief";
    while ((option = next_option(argc, argv, "c:n:l:fvd:o:x:R:")) != -1) {
        switch (option) {
        case 'c': processes = number_of(optarg); break;
        case 'n': options.n = optarg; break;
        case 'l': options.life = optarg; break;
        case 'f': options.forks_only = 1; break;
        case 'v': options.by_vfork = 1; break;
        case 'd': options.directory = optarg; break;
        case 'o': options.other = optarg; break;
        case 'x': options.tracer = optarg; break;
        case 'R': result = (int)number_of(optarg); break;
        default: return 2;
        }
    }
    if (options.directory && !options.other)
        return 2;
    begin(asked.comm);
    if (result >= 0)
        live(number_of(options.n), number_of(options.life), result);
    wait_if_asked();
    for (unsigned long i = 0; i < processes; i++)
        made += run_one(&options, i);
    say_done(made);
    return 0;
}
