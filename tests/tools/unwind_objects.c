/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unwind_objects [-v]: makes tables of everything that runs here, and prints what they cost:
 *
 *     files N tables N without N no_room N rows N bytes N cpu_ms N own_ms N wall_ms N turn_ms N look_ms N rss_kb N
 *     why PATH: REASON    (-v) each file without one
 *
 * look_ms: the time to find out what runs. wall_ms: the time after that. turn_ms: the longest call
 * of objects_make(). cpu_ms: the readers' CPU time; own_ms: our own after look_ms.
 * Exit: 0; 2 if it cannot tell.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "processes/image.h"
#include "processes/process.h"
#include "unwind/kernel_offsets.h"
#include "unwind/objects.h"

#define MOST_BYTES (1u << 30)
#define KEPT_NS 10000000000

static struct objects *objects;
static bool says_why;

static void see(void *context, uint32_t pid, const struct mapping *mapping)
{
    (void)context, (void)pid;
    (void)objects_see(objects, mapping->file, true);
}

static void say_why(void *context, uint32_t pid, const struct mapping *mapping)
{
    const int why = mapping->file->kind == MAPPED_FILE ? objects_error(objects, mapping->file) : 0;

    (void)context;
    if (why)
        printf("why %u %s: %s\n", pid, mapping->file->path, strerror(-why));
}

static unsigned long own_kb(const char *field)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long kb = 0;

    while (status && fgets(line, sizeof(line), status))
        if (!strncmp(line, field, strlen(field)))
            sscanf(line + strlen(field), ": %lu", &kb);
    if (status)
        fclose(status);
    return kb;
}

static uint64_t own_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Makes all tables, polling every 0.5 ms; returns the longest turn (ns). */
static uint64_t make_all(void)
{
    const struct timespec pause = {.tv_nsec = 500000};
    uint64_t longest = 0;
    size_t left;

    do {
        const uint64_t begin = now_ns();
        left = objects_make(objects);
        const uint64_t took = now_ns() - begin;
        longest = took > longest ? took : longest;
        nanosleep(&pause, NULL);
    } while (left);
    return longest;
}

static void print(uint64_t look_ns, uint64_t wall_ns, uint64_t used_ns, uint64_t turn_ns)
{
    const struct objects_figures figures = objects_figures(objects);

    printf("files %zu tables %zu without %zu no_room %zu rows %llu bytes %llu cpu_ms %.1f own_ms %.1f wall_ms %.1f turn_ms %.1f look_ms %.1f "
           "rss_kb %lu\n", figures.files, figures.tables, figures.without, figures.no_room,
           (unsigned long long)figures.counts.rows, (unsigned long long)figures.bytes, (double)figures.cpu_ns / 1e6,
           (double)used_ns / 1e6, (double)wall_ns / 1e6, (double)turn_ns / 1e6, (double)look_ns / 1e6, own_kb("VmRSS"));
}

int main(int count, char **words)
{
    struct kernel_offsets offsets;
    struct text log = {0};
    struct processes *processes;
    const struct processes_options everything = {0};
    const uint64_t begin = now_ns();

    says_why = count > 1 && !strcmp(words[1], "-v");
    if (processes_open(&processes, &everything) || kernel_offsets_open(&offsets, &log))
        return 2;
    const struct objects_options config = {
        .key = kernel_offsets_key,
        .context = &offsets,
        .files = processes_files(processes),
        .most_bytes = MOST_BYTES,
        .unused_ns = KEPT_NS,
    };
    if (objects_open(&objects, &config))
        return 2;
    processes_watch(processes, see, NULL);
    const uint64_t seen = now_ns(), used = own_ns();
    const uint64_t turn = make_all();
    print(seen - begin, now_ns() - seen, own_ns() - used, turn);
    if (says_why)
        processes_watch(processes, say_why, NULL);
    processes_watch(processes, NULL, NULL);
    objects_close(objects);
    processes_close(processes);
    kernel_offsets_close(&offsets);
    return 0;
}
