/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A year of an endless run, from hand-made records: a report per minute, ten million processes
 * whose pids wrap around many times, a hundred thousand programs and as many files, clocks that are
 * set back. Every name is right all along, and all memory is free at the end.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "processes/process_parts.h"
#include "report/report_files.h"
#include "test.h"
#include "unwind/objects.h"

/*
 * One minute of each hour is a storm of forks: 10,074,000 processes in all. Under sanitizers, the
 * run is one season.
 */
#ifdef __SANITIZE_ADDRESS__
#define SEASONS 1
#else
#define SEASONS 4
#endif
#define MINUTES (131400 * SEASONS)
#define FEW 10
#define STORM 560
#define MINUTE 60000000000ull

/* Pids beyond the kernel's limit, so that /proc has none of them. In a storm they wrap around twice. */
#define INIT 5000000
#define SERVER 5000001
#define FIRST 5000002
#define PIDS 300
#define LIVE 48

#define PROGRAMS 100000
/* Each of the 100,740 files comes this many forks after the one before; they share few names. */
#define BIRTHS_PER_FILE 100
#define FILE_NAMES 40

/* No real process maps anything from here on. */
#define CODE ((uint64_t)0x200000010000)
#define LIBRARY ((uint64_t)0x200000030000)

/* Which process has a pid, or had it last. */
struct expected {
    uint32_t pid, program;
    uint64_t generation, ended; /* ended 0: it lives */
};

static struct processes *processes;
static struct objects *objects;
static uint64_t now, births, files_made;
static uint64_t last_exit[PIDS]; /* by number */
static uint32_t live[LIVE], next_pid;
static struct expected who[PIDS], gone[64]; /* the last that ended */
static size_t gone_count;
static char place[] = "/dev/shm/year.XXXXXX"; /* or in /tmp, where files take longer */
static uint64_t file_serial; /* of the file that SERVER maps */

static uint32_t draw(uint32_t below)
{
    static uint64_t state = 0x2545f4914f6cdd1d;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % below;
}

static void tell(struct task_event event)
{
    event.time = now;
    event.tid = event.tid ? event.tid : event.pid;
    processes_take(processes, &event);
    now += 1000;
}

static void maps(uint32_t pid, uint64_t start, const char *path)
{
    tell((struct task_event){.kind = TASK_MAP, .pid = pid, .path = path, .start = start, .end = start + 0x1000});
}

/* ---- Births and ends ---- */

static void ends(uint32_t pid)
{
    struct expected *ended = &who[pid - FIRST];

    ended->ended = now;
    gone[gone_count++ % COUNT_OF(gone)] = *ended;
    last_exit[pid - FIRST] = now - 1; /* odd */
    tell((struct task_event){.kind = TASK_EXIT, .pid = pid});
}

static void has_threads(uint32_t pid)
{
    tell((struct task_event){.kind = TASK_FORK, .pid = pid, .tid = pid + 1000000, .parent = pid});
    tell((struct task_event){.kind = TASK_EXIT, .pid = pid, .tid = pid + 1000000});
}

static void name_program(char name[32], uint32_t program)
{
    snprintf(name, 32, "[program %u]", program);
}

static void executes(struct expected *process)
{
    char name[32];

    process->program = draw(PROGRAMS);
    name_program(name, process->program);
    tell((struct task_event){.kind = TASK_EXEC, .pid = process->pid, .path = name});
    process->generation = now; /* just after the exec's record */
    maps(process->pid, CODE, name);
    if (process->program % 4 == 0)
        maps(process->pid, LIBRARY, "[libc]");
}

static bool is_live(uint32_t pid)
{
    return who[pid - FIRST].pid && !who[pid - FIRST].ended;
}

static void is_born(void)
{
    uint32_t *slot = &live[draw(LIVE)], parent = live[draw(LIVE)];

    if (*slot) {
        if (parent == *slot)
            parent = 0;
        ends(*slot);
    }
    do
        *slot = FIRST + next_pid++ % PIDS;
    while (is_live(*slot));
    struct expected *process = &who[*slot - FIRST];
    *process = (struct expected){.pid = *slot, .generation = last_exit[*slot - FIRST]};
    if (parent)
        process->program = who[parent - FIRST].program;
    tell((struct task_event){.kind = TASK_FORK, .pid = *slot, .parent = parent ? parent : INIT});
    if (!parent || births % 4)
        executes(process);
    if (births % 16 == 3)
        has_threads(*slot);
    births++;
}

/* A library replaces another with its name, and may get its inode number. */
static void loads_file(void)
{
    char path[64];
    struct stat about;
    const uint64_t serial = ++files_made;

    snprintf(path, sizeof(path), "%s/lib%llu.so", place, (unsigned long long)serial % FILE_NAMES);
    (void)unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, &serial, sizeof(serial)) != sizeof(serial) || fstat(fd, &about)) {
        WRONG("no file");
        return;
    }
    close(fd);
    mapped_files_look_again(processes->files);
    tell((struct task_event){.kind = TASK_MAP, .pid = SERVER, .path = path, .start = CODE, .end = CODE + 0x1000,
                             .device = about.st_dev, .inode = about.st_ino});
    file_serial = serial;
}

/* ---- The names expected of them ---- */

static const char *at(uint32_t pid, uint64_t generation, uint64_t address)
{
    struct process_place found;

    if (processes_find(processes, pid, generation, 0, &address, 1, &found))
        return "-";
    return found.label;
}

static int wrong_names;

static void expect(const struct expected *one)
{
    char name[32];

    name_program(name, one->program);
    const char *code = at(one->pid, one->generation, CODE + 16);
    const bool is_right = !strcmp(code, name) &&
                          !strcmp(at(one->pid, one->generation, LIBRARY), one->program % 4 ? "" : "[libc]");
    if (!is_right && !wrong_names++)
        printf("  the first wrong one: pid %u has %s, should have %s\n", one->pid, code, name);
}

/* The file that SERVER had mapped at the time of an event. */
static void expect_file(void)
{
    uint64_t address = CODE, serial = 0;
    const struct mapped_file *file = processes_code_at(processes, SERVER, now, &address);

    if (!file || file->fd < 0 || pread(file->fd, &serial, sizeof(serial), 0) != sizeof(serial) || serial != file_serial)
        wrong_names++;
}

static void report(uint64_t before)
{
    uint32_t pid = live[draw(LIVE)];

    if (pid)
        expect(&who[pid - FIRST]);
    /* Processes that ended recently, even if their pid is reused by now. */
    for (size_t i = 0; i < 2 && gone_count; i++) {
        const struct expected *one = &gone[draw((uint32_t)COUNT_OF(gone))];
        if (one->pid && one->ended > before)
            expect(one);
    }
    if (files_made)
        expect_file();
    processes->read = now;
    processes_forget(processes);
    processes->reported = now; /* as if it were that time */
}

/* ---- The year ---- */

static size_t resident(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%*u %zu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t descriptors(void)
{
    size_t count = 0;

    for (int fd = 0; fd < 10000; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void see_mapping(void *context, uint32_t pid, const struct mapping *mapping)
{
    (void)context, (void)pid;
    (void)objects_see(objects, mapping->file, true);
}

static void open_all(void)
{
    static const struct processes_options silent = {.silent = true};

    CHECK_NUMBER(processes_open(&processes, &silent), 0);
    processes->begin = processes->reported = processes->window = now = MINUTE;
    CHECK_NUMBER(objects_open(&objects, &(struct objects_options){.files = processes->files, .most_bytes = 64 << 20}),
                 0);
    processes_watch(processes, see_mapping, NULL);
    tell((struct task_event){.kind = TASK_FORK, .pid = INIT, .parent = INIT + 9000000});
    tell((struct task_event){.kind = TASK_FORK, .pid = SERVER, .parent = INIT});
    /* As if it had mapped 4,000,000,000 before: these counters wrap around, too. */
    maps(SERVER, CODE, "[first]");
    history_newest(&processes->history, SERVER)->programs->replaced.forgotten = UINT32_MAX - 50000;
}

static void live_minute(uint64_t minute)
{
    const uint64_t begun = now;
    const unsigned count = minute % 60 ? FEW : STORM;

    for (unsigned i = 0; i < count; i++) {
        is_born();
        if (births % BIRTHS_PER_FILE == 0)
            loads_file();
    }
    if (minute % 1200 == 0)
        objects_make(objects);
    now = begun + MINUTE;
    report(begun);
}

static void all_end(void)
{
    for (size_t i = 0; i < LIVE; i++)
        if (live[i])
            ends(live[i]);
    maps(SERVER, CODE, "[last]");
    for (size_t i = 0; i < 3; i++) {
        now += MINUTE;
        processes->read = now;
        processes_forget(processes);
        processes->reported = now;
        for (unsigned tries = 0; objects_make(objects) && tries < 1000; tries++)
            usleep(1000);
    }
}

TEST(a_year)
{
    const size_t files_before = descriptors();
    const uint64_t minutes = (uint64_t)rounds(MINUTES);
    size_t month = 0;

    open_all();
    for (uint64_t minute = 0; minute < minutes && !test_failures_here; minute++) {
        live_minute(minute);
        if (minute == minutes / 12)
            month = resident();
    }
    const size_t year = resident();
    printf("  processes: %llu, files: %llu, resident after a month: %zu KB, after a year: %zu KB\n",
           (unsigned long long)births, (unsigned long long)files_made, month / 1024, year / 1024);
    CHECK(births > (uint64_t)rounds(2500000 * SEASONS) && files_made > (uint64_t)rounds(25000 * SEASONS));
    CHECK_NUMBER(wrong_names, 0);
#ifndef __SANITIZE_ADDRESS__ /* ASan keeps freed memory for a while */
    /* A leak of malloc's minimum, 16 bytes, per file would exceed this. */
    CHECK(month && year < month + files_made * 16);
#endif
    all_end();
    CHECK_NUMBER(processes->history.count, 2);
    CHECK_NUMBER(processes->history.past_bytes, 0);
    CHECK_NUMBER(processes->lent.count, 0);
    CHECK_NUMBER(mapped_files_count(processes->files), 0);
    CHECK_NUMBER(objects_figures(objects).files, 0);
    const struct processes_lost lost = processes_lost(processes);
    CHECK_NUMBER(lost.forgotten, 0);
    CHECK_NUMBER(lost.unread, 0);
    objects_close(objects);
    processes_close(processes);
    CHECK_NUMBER(descriptors(), files_before);
}

/* ---- Which reports are kept ---- */

static int write_hour(void *context, FILE *out, enum report_format format)
{
    (void)format;
    fprintf(out, "%llu\n", (unsigned long long)*(uint64_t *)context);
    return 0;
}

/* The hours of the newest reports that are there, read from their contents. */
static uint64_t hours_there(uint64_t newest, uint64_t most, char kept[])
{
    char command[128];
    unsigned long long hour;
    uint64_t count = 0;

    memset(kept, 0, (size_t)most);
    snprintf(command, sizeof(command), "cat %s/*.txt", place);
    FILE *all = popen(command, "r");
    while (all && fscanf(all, "%llu", &hour) == 1) {
        count++;
        if (hour <= newest && newest - hour < most)
            kept[newest - hour]++;
    }
    if (all)
        pclose(all);
    return count;
}

/*
 * A report each hour; in autumn local time goes back by an hour, and in summer the
 * clock is set back by a day. In the end the newest hundred are there, and none was overwritten.
 */
TEST(a_year_of_files)
{
    const uint64_t hour = 3600000000000ull, newest = 365 * 24;
    const struct report_files_options config = {
        .paths = &(struct string_list){{"%t.txt"}, 1}, .interval = hour, .keep = {.files = 100}};
    struct report_files files;
    AUTO_TEXT error = {0};
    uint64_t clock = 1767225600ull * 1000000000; /* 2026 */
    char kept[100];

    CHECK(!setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1));
    tzset();
    CHECK_NUMBER(report_files_choose(&files, &config, &error), 0);
    for (uint64_t turn = 1; turn <= newest; turn++, clock += hour) {
        if (turn == 4000)
            clock -= 24 * hour;
        const struct report_turn now_then = {.number = turn, .began = clock};
        CHECK_NUMBER(report_files_write(&files, &now_then, write_hour, &turn), 0);
        /* Before and after each jump: spring, summer, autumn. */
        if (turn == 100 || turn == 2150 || turn == 4026 || turn == 4150 || turn == 7150 || turn == newest) {
            CHECK_NUMBER(hours_there(turn, 100, kept), 100);
            CHECK_NUMBER(strnlen(kept, 100), 100);
        }
    }
    CHECK(!files.failed && !files.unwritten);
}

/* What is at an address at each of its times, while the counters wrap around. */
TEST(numbers_come_round)
{
    static const uint32_t ends[] = {UINT32_MAX, INT32_MAX};
    const uint64_t address = CODE + 16;
    struct process_place found;
    char name[32];

    for (uint32_t i = 0; i < 2 * 8; i++) {
        open_all();
        history_newest(&processes->history, SERVER)->programs->replaced.forgotten = ends[i % 2] - i / 2;
        const uint64_t first = now;
        for (uint32_t which = 0; which < 8; which++) {
            name_program(name, which);
            maps(SERVER, CODE, name);
        }
        for (uint32_t which = 0; which < 8; which++) {
            const uint32_t epoch = processes_epoch(processes, SERVER, 0, first + which * 1000 + 500);
            CHECK(epoch);
            CHECK_NUMBER(processes_find(processes, SERVER, 0, epoch, &address, 1, &found), 0);
            name_program(name, which);
            CHECK_STRING(found.label, name);
        }
        objects_close(objects);
        processes_close(processes);
    }
}

static void clear(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", place);
    CHECK_NUMBER(system(command), 0);
}

int main(void)
{
    if (!mkdtemp(place)) {
        snprintf(place, sizeof(place), "/tmp/year.XXXXXX");
        if (!mkdtemp(place))
            return 1;
    }
    if (chdir(place))
        return 1;
    run_tests();
    clear();
    return tests_done();
}
