/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * life SEED --log FILE --dir DIR [--only STEP,STEP...] [--hold] [--loads DIR] [--cpus] [--pids]
 * life SEED --plan                                prints the steps that SEED draws
 * life --show FILE                                prints a log, a line per part
 *
 * Runs the plan of SEED (life.h). FILE logs how often each thread has called life_alpha, life_deep
 * and getppid(2), how long it slept, spun and waited for others, its names, begin and end. DIR gets
 * the programs that it makes. With --hold it waits, once all standing steps are ready, until the
 * log's state is GOES. --loads: the directory of the dynamic `loads` and its libraries. --cpus: it
 * may switch CPUs off and on. --pids: it may reuse pids, by ns_last_pid of its PID namespace.
 */
#include "life_places.h"

static void act(void)
{
    switch (my_step->kind) {
    case THREADS: do_threads(NULL); break;
    case FORK: do_fork(); break;
    case FORKING_THREADS: do_forking_threads(NULL); break;
    case VFORK: do_vfork(); break;
    case SPAWN: do_spawn(); break;
    case EXEC: do_exec(); break;
    case THREAD_EXEC: do_thread_exec(); break;
    case LAST_EXEC: do_leader_gone(1); break;
    case LEADER_GONE: do_leader_gone(0); break;
    case SIGNALS: do_signals(); break;
    case STOPPED: do_stopped(); break;
    case KILLED: do_killed(); break;
    case SAME_PID: do_same_pid(0); break;
    case SAME_PID_LAST: do_same_pid(1); break;
    case PID_NAMESPACE: do_pid_namespace(); break;
    case MOUNT_NAMESPACE: do_mount_namespace(); break;
    case TIME_NAMESPACE: do_time_namespace(); break;
    case PINNED: do_pinned(); break;
    case SETUID: do_setuid(); break;
    case LOADS: do_loads(); break;
    case DELETED: do_deleted(); break;
    case BRIEF: do_brief(); break;
    case DEEP: do_deep(); break;
    case TURNS: do_turns(NULL); break;
    case TURNING_THREADS: do_turns(&dice); break;
    case DAEMON: do_daemon(); break;
    case CPUS: do_cpus(); break;
    default: break;
    }
}

/* ---- the whole */

static struct {
    struct thread_words words;
    pid_t pid;
    uint32_t process;
    int is_thread;
} running[MOST_STEPS];

static void start_actor(void *argument)
{
    unsigned step = (unsigned)((const struct step *)argument - steps);

    my_step = argument;
    running[step].pid = give_birth(&running[step].process);
    if (running[step].pid)
        return;
    dice.state = my_step->seed;
    act();
    end_process();
}

/* Does this step run in threads of the first process? All others run in processes. */
static int in_first_process(const struct step *step)
{
    return step->kind == THREADS || (step->kind == FORKING_THREADS && step->by_thread) ||
           (step->kind == TURNING_THREADS && step->by_thread);
}

static void act_as_thread(void *argument)
{
    const struct step *step = argument;

    if (step->kind == THREADS)
        do_threads(NULL);
    else if (step->kind == FORKING_THREADS)
        do_forking_threads(NULL);
    else
        do_turns(&dice);
}

static void start_step(struct step *step)
{
    unsigned index = (unsigned)(step - steps);
    struct thread_words words;

    my_step = step;
    dice.state = step->seed;
    if (in_first_process(step)) {
        running[index].is_thread = !start_thread(&running[index].words, act_as_thread, step);
    } else if (step->by_thread) {
        if (!start_thread(&words, start_actor, step))
            end_thread(&words);
    } else {
        start_actor(step);
    }
    my_step = NULL;
}

static uint64_t steal(void)
{
    unsigned long long number[8] = {0};
    FILE *file = fopen("/proc/stat", "re");

    if (file && fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &number[0], &number[1], &number[2],
                       &number[3], &number[4], &number[5], &number[6], &number[7]) != 8)
        number[7] = 0;
    if (file)
        fclose(file);
    return number[7] * (1000000000u / (unsigned long long)sysconf(_SC_CLK_TCK));
}

static void live(int holds)
{
    unsigned standing = 0;

    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    life->first_pid = me->pid;
    life->steal_begin = steal();
    for (unsigned i = 0; i < step_count; i++) {
        if (!steps[i].stands || !is_chosen(chosen, i))
            continue;
        start_step(&steps[i]);
        standing++;
        for (unsigned tries = 0; __atomic_load_n(&life->ready, __ATOMIC_ACQUIRE) < standing; tries++) {
            usleep(200);
            if (tries == 25000) {
                errno = 0;
                trouble(step_names[steps[i].kind]);
                _exit(5);
            }
        }
    }
    __atomic_store_n(&life->state, holds ? READY : GOES, __ATOMIC_RELEASE);
    if (holds)
        life_stand();
    else
        call_kernel_all(CALL_FUTEX, (long)&life->state, FUTEX_WAKE, 1 << 30, 0, 0, 0);
    life_calls(1);
    for (unsigned i = 0; i < step_count; i++) {
        if (steps[i].stands || !is_chosen(chosen, i))
            continue;
        if (steps[i].delay)
            life_nap(steps[i].delay * 1000);
        start_step(&steps[i]);
    }
    for (unsigned i = 0; i < step_count; i++) {
        if (running[i].is_thread)
            end_thread(&running[i].words);
        else if (running[i].pid > 0)
            await(running[i].pid, running[i].process, 0);
    }
    /* Reaps the daemons, as their subreaper. */
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
    life_calls(1);
    life->steal_end = steal();
    end_part();
    __atomic_store_n(&life->state, IS_OVER, __ATOMIC_RELEASE);
}

static void print_plan(void)
{
    for (unsigned i = 0; i < step_count; i++)
        printf("%2u %-16s size %u%s%s, %u us after the last\n", i, step_names[steps[i].kind], steps[i].size,
               steps[i].stands ? ", stands" : "", steps[i].by_thread ? ", by a thread" : "",
               steps[i].stands ? 0 : steps[i].delay);
}

static int show(const char *path)
{
    const struct life *shown = map_life(path);
    uint64_t base;

    if (!shown)
        return 1;
    base = shown->part[0].first;
    printf("state %u, %u parts, %u processes %s\n", shown->state, shown->parts, shown->processes, shown->trouble);
    for (uint32_t i = 0; i < shown->parts && i < MOST_PARTS; i++) {
        const struct part *part = &shown->part[i];
        printf("%3u step %2u process %3u (of %3u) %6d/%-6d %-15s program %u%s%s", i, part->step, part->process,
               part->parent, part->pid, part->tid, part->name, part->program, part->stood ? " stood" : "",
               part->ended ? " ended" : "");
        if (part->follows)
            printf(" follows %u", part->follows - 1);
        printf(" from %.3f..%.3f to %.3f..%.3f ms;", part->born_after ? (double)(int64_t)(part->born_after - base) / 1e6 : -1,
               (double)(int64_t)(part->first - base) / 1e6, (double)(int64_t)(part->last - base) / 1e6,
               part->gone_before ? (double)(int64_t)(part->gone_before - base) / 1e6 : -1);
        printf(" alpha %llu..%llu deep %llu..%llu getppid %llu..%llu;", (unsigned long long)part->done[0],
               (unsigned long long)part->begun[0], (unsigned long long)part->done[1], (unsigned long long)part->begun[1],
               (unsigned long long)part->done[2], (unsigned long long)part->begun[2]);
        printf(" %llu naps %.3f..%.3f; %llu waits %.3f..%.3f; spins %.3f cpu %.3f delay %.3f ms\n",
               (unsigned long long)part->naps.number, (double)part->naps.least / 1e6, (double)part->naps.most / 1e6,
               (unsigned long long)part->waits.number, (double)part->waits.least / 1e6, (double)part->waits.most / 1e6,
               (double)part->spins.least / 1e6, (double)part->cpu / 1e6, (double)part->delay / 1e6);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *member = NULL;
    int holds = 0, plans = 0;
    struct origin origin = {0};

    if (argc == 3 && !strcmp(argv[1], "--show"))
        return show(argv[2]);
    if (argc < 3)
        return 2;
    seed_text = argv[1];
    step_count = draw_plan(strtoull(seed_text, NULL, 0), steps);
    for (int i = 2; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--plan")) plans = 1;
        else if (!strcmp(argv[i], "--hold")) holds = 1;
        else if (!strcmp(argv[i], "--log")) log_path = next, i++;
        else if (!strcmp(argv[i], "--dir")) directory = next, i++;
        else if (!strcmp(argv[i], "--only")) chosen = next, i++;
        else if (!strcmp(argv[i], "--loads")) loads = next, i++;
        else if (!strcmp(argv[i], "--cpus")) switches_cpus = 1;
        else if (!strcmp(argv[i], "--pids")) chooses_pids = 1;
        else if (!strcmp(argv[i], "--member")) member = next, i++;
        else if (!strcmp(argv[i], "--step")) my_step = &steps[atoi(next) % MOST_STEPS], i++;
        else return 2;
    }
    if (plans) {
        print_plan();
        return 0;
    }
    if (!log_path || !directory || !(life = map_life(log_path)))
        return 2;
    learn_clock_offset();
    if (member)
        be_member(member);
    origin.process = new_process();
    begin_part(&origin);
    live(holds);
    return 0;
}
