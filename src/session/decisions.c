/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/decisions.h"

#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "insns/dump.h"

void decisions_say_machine(const struct trace_options *options)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {{0}};
    struct utsname machine;

    if (!options->debug || uname(&machine))
        return;
    (void)syscall(SYS_capget, &header, held);
    say("Linux %s, %s, %ld CPUs; user %u with the capabilities 0x%llx", machine.release,
        machine.machine, sysconf(_SC_NPROCESSORS_ONLN), (unsigned)geteuid(),
        (unsigned long long)held[1].effective << 32 | held[0].effective);
}

void decisions_say_program(const char *what, const struct program *program,
                           const struct linked *linked, bool listing)
{
    struct text dump = {0};

    say("%s, %zu instructions%s", what, linked->count, listing ? ":" : "");
    if (listing)
        dump_insns(&dump, linked->insns, linked->count, program);
    if (dump.length && !dump.failed)
        fprintf(stderr, "%s", dump.data);
    text_free(&dump);
}
