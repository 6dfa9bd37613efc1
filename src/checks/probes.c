/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Probes on kernel and user functions: each way is tried by itself. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/util.h"
#include "checks/look.h"
#include "elf/elf.h"
#include "kernel/tracefs.h"
#include "machine/machine.h"
#include "rings/ring_attach.h"

/* Every kernel has it, as modules need it, and almost nobody calls it. */
static const char function[] = "vfs_mknod";

static int attach(const struct place *place, enum attach_way way, int tracefs)
{
    struct attach_request request = {
        .instead = check_rings ? &ring_attach : NULL,
        .context = check_rings,
        .program_name = "check",
        .tracefs = tracefs,
        .way = way,
    };
    struct places places = {0};
    struct attachment attachment;
    int result = check_rings && way == ATTACH_MULTI ? -EOPNOTSUPP : places_add(&places, place);

    for (size_t i = 0; i < ATTACH_PROGRAMS; i++)
        request.programs[i] = (struct linked){.insns = check_program, .count = COUNT_OF(check_program)};
    if (!result) {
        /* places_add has copied only the names. */
        result = attach_open(&attachment, &request, &places);
        (void)attach_close(&attachment);
    }
    places_free(&places);
    return result;
}

/* What attaching would use in the end, if neither links nor events work. */
static int attach_by_text(const struct place *place)
{
    int tracefs = tracefs_open();
    int result = attach(place, ATTACH_BEST, tracefs);

    if (tracefs >= 0)
        close(tracefs);
    return result;
}

/* An instruction that never runs: where any will do, the first one of this program. */
static uint64_t unused_instruction(void)
{
    const struct machine *ours = machine_ours();

    return ours->unused_instruction ? ours->unused_instruction() : getauxval(AT_ENTRY);
}

/* Its offset in our file, wherever the file was loaded. */
static int find_own_instruction(const char *path, uint64_t *offset)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    unsigned char header[sizeof(Elf64_Ehdr)];
    struct elf elf;

    if (fd < 0)
        return -errno;
    int result = elf_open(&elf, fd);
    if (!result) {
        result = elf_read(&elf, 0, header, sizeof(header));
        if (!result && !elf_offset_of(&elf, ELF_FIELD(&elf, header, Ehdr, e_entry) +
                                          (unused_instruction() - getauxval(AT_ENTRY)), offset))
            result = -ENOEXEC;
        elf_close(&elf);
    }
    close(fd);
    return result;
}

/* Without /proc: the kernel has told us which file we are from. */
static int find_own_file(struct place *place)
{
    const char *given = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    int result;

    place->file = place->path = "/proc/self/exe";
    result = find_own_instruction(place->file, &place->file_offset);
    if (!result || !given)
        return result;
    place->file = place->path = given;
    return find_own_instruction(given, &place->file_offset);
}

/*
 * A file that nobody runs. Our own is 32-bit where the kernel cannot probe that, but can probe
 * others.
 */
static int make_file(struct place *place, char *path, size_t room, int *file)
{
    static const uint32_t instruction = 0;

    *file = memfd_create("check", MFD_CLOEXEC);
    if (*file < 0 || write(*file, &instruction, sizeof(instruction)) != sizeof(instruction))
        return -errno;
    snprintf(path, room, "/proc/self/fd/%d", *file);
    place->file = place->path = path;
    return 0;
}

static void decide_way(struct check *check, enum refused what, int result, const char *without)
{
    if (result == -EOPNOTSUPP)
        check_refuse(check, without);
    else
        check_decide(check, what, result, 0);
}

/*
 * An applet takes the first way that exists; if that is refused, that is final. Rings use text
 * first.
 */
static int best_of(int multi, int pmu, const struct place *place)
{
    if (check_rings)
        return attach_by_text(place);
    if (multi != -EOPNOTSUPP)
        return multi;
    return pmu == -EOPNOTSUPP ? attach_by_text(place) : pmu;
}

/* Links to many functions at once: no 32-bit kernel has them. */
static const char *no_links(const char *otherwise)
{
    if (check_rings)
        return "perf's rings have none: functions are probed one by one";
    return machine_of_kernel()->bits == 32 ? "32-bit kernels have none: functions are probed one by one"
                                           : otherwise;
}

/* Code that programs here may contain but the kernel cannot probe: patterns for it are refused. */
static const char *unprobed(void)
{
    const struct machine *kernel = machine_of_kernel();

    return kernel->probes_wide_alone ? "but not in 32-bit ones"
           : kernel->marks.thumb     ? "but not in Thumb code"
                                     : "";
}

void check_kernel_functions(struct checks *checks)
{
    const struct place place = {
        .kind = PLACE_KERNEL_FUNCTION,
        .named = true,
        .name = (char *)(uintptr_t)function,
        .start = machine_has_link(machine_of_kernel()) ? START_LINK : START_NONE,
    };
    int multi = attach(&place, ATTACH_MULTI, -1), pmu = attach(&place, ATTACH_PMU, -1);

    decide_way(&checks->of[CHECK_KPROBE_MULTI], REFUSED_PROBES, multi,
               no_links("this kernel has none (Linux 5.18, CONFIG_FPROBE): functions are probed one by one"));
    if (!multi && machine_of_kernel()->links_lack_stacks)
        text_add(&checks->of[CHECK_KPROBE_MULTI].detail, "but without kernel stacks on this machine: "
                 "functions are probed one by one");
    decide_way(&checks->of[CHECK_KPROBE_PMU], REFUSED_PROBES, pmu,
               "this kernel has none (Linux 4.17, CONFIG_KPROBE_EVENTS): other ways are used");
    check_decide(&checks->of[CHECK_KERNEL_FUNCTIONS], REFUSED_PROBES, best_of(multi, pmu, &place), 0);
}

void check_user_functions(struct checks *checks)
{
    struct place place = {.kind = PLACE_USER, .name = (char *)(uintptr_t)"start"};
    char path[32];
    int made = -1;
    int found = machine_ours()->bits == 32 && machine_of_kernel()->probes_wide_alone
                    ? make_file(&place, path, sizeof(path), &made) : find_own_file(&place);
    int multi = found ? found : attach(&place, ATTACH_MULTI, -1);
    int pmu = found ? found : attach(&place, ATTACH_PMU, -1);

    decide_way(&checks->of[CHECK_UPROBE_MULTI], REFUSED_USER_PROBES, multi,
               no_links("this kernel has none (Linux 6.6): functions are probed one by one"));
    decide_way(&checks->of[CHECK_UPROBE_PMU], REFUSED_USER_PROBES, pmu,
               "this kernel has none (Linux 4.17, CONFIG_UPROBE_EVENTS): other ways are used");
    check_decide(&checks->of[CHECK_USER_FUNCTIONS], REFUSED_USER_PROBES,
                 found ? found : best_of(multi, pmu, &place), 0);
    if (checks->of[CHECK_USER_FUNCTIONS].yes)
        text_add(&checks->of[CHECK_USER_FUNCTIONS].detail, unprobed());
    if (made >= 0)
        close(made);
}
