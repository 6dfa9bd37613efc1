/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * judge [OPTION...] SEED...
 *
 * Draws from each seed a life (life.c) and a command line of stackbox with an environment, runs
 * both, and compares the answer with the life's log. Prints a line per seed: `pass`, `refused`
 * (this kernel or this combination lacks something, and stackbox said so), or `FAIL SEED: what`,
 * with the command line and how to repeat it.
 *
 *   --from SEED --count N   N seeds, one after another
 *   --only STEP,STEP        only these steps of the life
 *   --without TRAIT,TRAIT   without these traits (judge_draw.h)
 *   --shrink                leaves out of a failing seed what it does not need to fail
 *   --tries N               a seed has failed if one of N runs does (1; 3 while shrinking)
 *   --plan                  prints what would be run
 *   --keep                  leaves the last seed's files in place, and says where
 *   --verbose               prints also seeds that pass
 *   --cpus                  lives may switch CPUs off and on
 *   --alone                 lives may reuse pids outside PID namespaces, too: this changes the pids
 *                           of all new processes of the machine
 *   --stalls                emulated CPUs can stall at any instruction: see may_have_stalled()
 *   --deaf                  this kernel hides switches from tracers: a run may report missed ones
 *   --limit S               seconds that a run may take (60)
 *
 * Judges $STACKBOX, or ./stackbox; needs root. Other workloads are where this one is.
 *
 * Exit: 0, or 1 if a seed failed.
 */
#include "judge_truth.h"

static struct place place;
static int keeps, plans;

static void copy_program(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    char block[65536];
    ssize_t got = -1;

    while (in >= 0 && out >= 0 && (got = read(in, block, sizeof(block))) > 0) {
        if (write(out, block, (size_t)got) != got)
            got = -1;
    }
    if (got) {
        perror(from);
        exit(2);
    }
    close(in);
    close(out);
}

static void make_place(void)
{
    const char *tmp = getenv("TMPDIR");
    char from[300];

    snprintf(place.directory, sizeof(place.directory), "%s/judge.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(place.directory) || chmod(place.directory, 0755)) {
        perror(place.directory);
        exit(2);
    }
    snprintf(place.log, sizeof(place.log), "%s/log", place.directory);
    snprintf(place.life, sizeof(place.life), "%s/life", place.directory);
    snprintf(place.out, sizeof(place.out), "%s/out", place.directory);
    snprintf(place.err, sizeof(place.err), "%s/err", place.directory);
    snprintf(place.more, sizeof(place.more), "%s/more", place.directory);
    snprintf(from, sizeof(from), "%s/life", place.workloads);
    copy_program(from, place.life);
}

static void remove_place(void)
{
    pid_t pid;

    if (keeps)
        return;
    pid = fork();
    if (!pid) {
        execlp("rm", "rm", "-rf", place.directory, (char *)NULL);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
}

static void print_words(FILE *out, const struct words *words)
{
    for (unsigned i = 1; i < words->count; i++)
        fprintf(out, " %s", words->word[i]);
    fprintf(out, "\n");
}

/* Runs and judges a seed, in a process of its own, as namespaces change; reports to `tell`. */
static void be_judge(const struct draw *draw, int tell)
{
    struct run run = {.status = 0};
    struct words words;
    char cgroup[300] = "", line[6000];
    int status = 0, length;

    setsid();
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
        perror("unshare");
        _exit(2);
    }
    mount_tracefs(draw->tracefs);
    if (draw->memory)
        limit_memory(draw->memory, cgroup, sizeof(cgroup));
    learn_clock_offset();
    if (enter_namespaces(draw, &status)) {
        if (draw->memory && *cgroup && killed_in(cgroup))
            _exit(3);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
    }
    life = map_life(place.log);
    if (!life)
        _exit(2);
    run_in_place(draw, &place, &run, &words);
    if (draw->memory && *cgroup && killed_in(cgroup))
        fails("the kernel killed within the limit of memory");
    int refused = judge_run(draw, &place, &run);
    length = snprintf(line, sizeof(line), "%s\n", failure);
    for (unsigned i = 1; i < words.count && length < (int)sizeof(line) - 300; i++)
        length += snprintf(line + length, sizeof(line) - (size_t)length, " %s", words.word[i]);
    if (write(tell, line, (size_t)length) < 0)
        _exit(2);
    _exit(refused ? 4 : failure[0] ? 1 : 0);
}

enum verdict { PASSES, REFUSED, FAILED };

static struct {
    char failure[7000], words[7000];
} found;

static enum verdict run_seed(const struct draw *draw)
{
    char text[7000] = "", *end;
    int pipes[2], status = 0;
    size_t used = 0;
    ssize_t got;
    pid_t pid;

    make_place();
    if (pipe2(pipes, O_CLOEXEC))
        exit(2);
    pid = fork();
    if (!pid) {
        close(pipes[0]);
        be_judge(draw, pipes[1]);
    }
    close(pipes[1]);
    while (used + 1 < sizeof(text) && (got = read(pipes[0], text + used, sizeof(text) - 1 - used)) > 0)
        used += (size_t)got;
    close(pipes[0]);
    waitpid(pid, &status, 0);
    text[used] = 0;
    end = strchr(text, '\n');
    snprintf(found.words, sizeof(found.words), "%s", end ? end + 1 : "");
    if (end)
        *end = 0;
    snprintf(found.failure, sizeof(found.failure), "%s", text);
    if (!end || !WIFEXITED(status) || (WEXITSTATUS(status) != 4 && WEXITSTATUS(status) != 1 && WEXITSTATUS(status)))
        snprintf(found.failure, sizeof(found.failure), "the judge itself ended with status %d", as_shell(status));
    remove_place();
    return found.failure[0] ? FAILED : WEXITSTATUS(status) == 4 ? REFUSED : PASSES;
}

static enum verdict try_seed(const struct draw *draw, unsigned tries)
{
    enum verdict verdict = PASSES;

    while (tries-- && verdict != FAILED)
        verdict = run_seed(draw);
    return verdict;
}

static void print_options(FILE *out, const struct draw *draw)
{
    fprintf(out, "%s%s%s%s", place.alone ? " --alone" : "", place.switches_cpus ? " --cpus" : "",
            place.stalls ? " --stalls" : "", place.deaf ? " --deaf" : "");
    if (draw->only)
        fprintf(out, " --only %s", draw->only);
    for (size_t i = 0; i < COUNT_OF(traits); i++) {
        if (draw->without & (1u << i))
            fprintf(out, "%s%s", draw->without & ((1u << i) - 1) ? "," : " --without ", traits[i]);
    }
    fprintf(out, " %llu", (unsigned long long)draw->seed);
}

static struct draw drawn(uint64_t seed, const char *only, uint32_t without)
{
    struct draw draw = {.seed = seed, .only = only, .without = without};

    draw_all(&draw, &place);
    return draw;
}

static void print_failure(const struct draw *draw)
{
    printf("FAIL %llu: %s\n", (unsigned long long)draw->seed, found.failure);
    printf("    stackbox%s\n    in:", found.words);
    print_environment(stdout, draw);
    printf("\n    again: %s/judge", place.workloads);
    print_options(stdout, draw);
    printf("\n");
    if (keeps)
        printf("    files: %s\n", place.directory);
    fflush(stdout);
}

/* ---- shrinking a failing seed */

static void list_steps(char *text, size_t size, const int *kept, unsigned count)
{
    size_t length = 0;

    *text = 0;
    for (unsigned i = 0; i < count; i++) {
        if (kept[i])
            length += (size_t)snprintf(text + length, size - length, "%s%u", length ? "," : "", i);
    }
    if (!length)
        snprintf(text, size, "%u", MOST_STEPS);
}

static int is_same(struct draw one, const struct draw *other)
{
    one.without = other->without;
    return !memcmp(&one, other, sizeof(one));
}

/* The length of what failed, without the process, numbers or details behind it. */
static size_t kind_length(const char *text)
{
    const char *of = strstr(text, " of ");
    const size_t words = strcspn(text, "0123456789(:");

    return of && (size_t)(of - text) < words ? (size_t)(of - text) : words;
}

/* Does one of these tries fail in the same way? A different failure does not count. */
static int fails_alike(const struct draw *draw, unsigned tries, const char *kind)
{
    while (tries--) {
        if (run_seed(draw) == FAILED && kind_length(found.failure) == strlen(kind) &&
            !strncmp(found.failure, kind, strlen(kind)))
            return 1;
    }
    return 0;
}

/* Takes away traits, then the life's steps, one by one, as long as the seed fails alike. */
static struct draw shrink(struct draw draw, unsigned tries)
{
    static char only[200];
    struct step steps[MOST_STEPS];
    unsigned count = draw_plan(draw.seed, steps);
    int kept[MOST_STEPS];
    char candidate[200], kind[sizeof(found.failure)];

    snprintf(kind, sizeof(kind), "%.*s", (int)kind_length(found.failure), found.failure);
    for (size_t i = 0; i < COUNT_OF(traits); i++) {
        struct draw smaller = drawn(draw.seed, draw.only, draw.without | 1u << i);
        if (!is_same(smaller, &draw) && fails_alike(&smaller, tries, kind))
            draw = smaller;
    }
    for (unsigned i = 0; i < count; i++)
        kept[i] = is_chosen(draw.only, i);
    for (unsigned i = 0; i < count; i++) {
        if (!kept[i])
            continue;
        kept[i] = 0;
        list_steps(candidate, sizeof(candidate), kept, count);
        struct draw smaller = drawn(draw.seed, candidate, draw.without);
        kept[i] = !fails_alike(&smaller, tries, kind);
    }
    list_steps(only, sizeof(only), kept, count);
    draw = drawn(draw.seed, only, draw.without);
    return draw;
}

static void print_plan(const struct draw *draw)
{
    struct step steps[MOST_STEPS];
    unsigned count = draw_plan(draw->seed, steps);
    struct run run = {.pids = {11, 22}, .tid = 33, .targets = 2};
    struct words words;

    write_words(draw, &place, &run, &words);
    printf("%llu: stackbox", (unsigned long long)draw->seed);
    print_words(stdout, &words);
    printf("    in:");
    print_environment(stdout, draw);
    printf("\n");
    for (unsigned i = 0; i < count; i++)
        if (is_chosen(draw->only, i))
            printf("    step %u: %s, size %u%s%s, %u us\n", i, step_names[steps[i].kind], steps[i].size,
                   steps[i].stands ? ", stands" : "", steps[i].by_thread ? ", by a thread" : "", steps[i].delay);
}

static int is_there(const char *path)
{
    return !access(path, R_OK);
}

/* A run has another working directory, and needs absolute paths. */
static void look_around(void)
{
    static char stackbox[4096], workloads[4096], dynamic[4200], loads[4300];
    const char *from = getenv("STACKBOX");
    char *symbols = read_whole("/proc/kallsyms", NULL);
    ssize_t length = readlink("/proc/self/exe", workloads, sizeof(workloads) - 1);

    if (!realpath(from ? from : "stackbox", stackbox)) {
        perror(from ? from : "stackbox");
        exit(2);
    }
    workloads[length > 0 ? length : 0] = 0;
    *strrchr(workloads, '/') = 0;
    snprintf(dynamic, sizeof(dynamic), "%s/dynamic", workloads);
    snprintf(loads, sizeof(loads), "%s/loads", dynamic);
    place.stackbox = stackbox;
    place.workloads = workloads;
    place.loads = is_there(loads) ? dynamic : NULL;
    place.kprobes = is_there("/sys/bus/event_source/devices/kprobe") || strstr(symbols, " register_kprobe\n");
    free(symbols);
}

static uint32_t read_traits(const char *list)
{
    uint32_t bits = 0;

    for (size_t length; *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        bits |= trait_bit(list, length);
    }
    return bits;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    uint32_t without = 0;
    uint64_t from = 0, count = 0, failed = 0, passed = 0, refused = 0;
    unsigned tries = 0;
    int shrinks = 0, at = 1;

    place.limit = 60;
    for (; at < argc && argv[at][0] == '-'; at++) {
        const char *word = argv[at], *next = at + 1 < argc ? argv[at + 1] : "";
        if (!strcmp(word, "--shrink")) shrinks = 1;
        else if (!strcmp(word, "--plan")) plans = 1;
        else if (!strcmp(word, "--keep")) keeps = 1;
        else if (!strcmp(word, "--cpus")) place.switches_cpus = 1;
        else if (!strcmp(word, "--alone")) place.alone = 1;
        else if (!strcmp(word, "--stalls")) place.stalls = 1;
        else if (!strcmp(word, "--deaf")) place.deaf = 1;
        else if (!strcmp(word, "--verbose")) place.verbose = 1;
        else if (at++, !strcmp(word, "--from")) from = strtoull(next, NULL, 0);
        else if (!strcmp(word, "--count")) count = strtoull(next, NULL, 0);
        else if (!strcmp(word, "--only")) only = next;
        else if (!strcmp(word, "--without")) without = read_traits(next);
        else if (!strcmp(word, "--tries")) tries = (unsigned)atoi(next);
        else if (!strcmp(word, "--limit")) place.limit = (unsigned)atoi(next);
        else return 2;
    }
    look_around();
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = 0; i < count + (uint64_t)(argc - at); i++) {
        struct draw draw = drawn(i < count ? from + i : strtoull(argv[at + (int)(i - count)], NULL, 0), only, without);
        if (plans) {
            print_plan(&draw);
            continue;
        }
        enum verdict verdict = try_seed(&draw, tries ? tries : 1);
        passed += verdict == PASSES;
        refused += verdict == REFUSED;
        failed += verdict == FAILED;
        if (verdict == FAILED)
            print_failure(&draw);
        else if (place.verbose)
            printf("%s %llu\n", verdict == PASSES ? "pass" : "refused", (unsigned long long)draw.seed);
        if (verdict == FAILED && shrinks) {
            draw = shrink(draw, tries ? tries : 3);
            if (try_seed(&draw, tries ? tries : 3) == FAILED) {
                printf("  smaller:\n");
                print_failure(&draw);
                print_plan(&draw);
            }
        }
    }
    if (!plans)
        printf("%llu passed, %llu refused, %llu failed\n", (unsigned long long)passed, (unsigned long long)refused,
               (unsigned long long)failed);
    return failed != 0;
}
