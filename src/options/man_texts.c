/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What several man pages say, and no help: of a file of its own a build without them has nothing. */
#include "options/manual_texts.h"

const struct manual_row manual_exit_status[] = {
    {"0", "it is done, also when there was no event"},
    {"1", "it could not be done; what to do about it was said on stderr"},
    {"2", "the command line is wrong"},
    {0},
};

static const struct manual_row signals[] = {
    {"SIGINT, SIGTERM, SIGHUP", "end the tracing and print the report; a second one stops at once; "
     "one that was ignored at the start (nohup) stays ignored"},
    {"SIGUSR1", "a report now, and tracing goes on; each event is in one report; a file of -o without %n "
     "and %t in its name has the number before its ending then, such as out.00001.svg"},
    {"Enter", "ends the tracing where there is no controlling terminal, as in an initramfs, since "
     "Ctrl-C cannot arrive there; the first line printed says so"},
    {0},
};

static const struct manual_row commands[] = {
    {NULL, "After -- COMMAND that command is run and traced, with all that comes of it: from its "
     "first instruction, and until it ends itself. Nobody else is counted. What it does before it "
     "executes the command, such as looking for it, is not either."},
    {NULL, "While the report goes to stdout, the command's stdout is stderr. stdin is its own. -D "
     "ends the tracing, not the command. A signal that ends the tracing is passed on to the "
     "command, unless a terminal gave it to both."},
    {NULL, "It runs as who runs this; -- setpriv --reuid=USER --clear-groups COMMAND, or su, runs it "
     "as another user."},
    {NULL, "The exit status is then the command's own, or:"},
    {"128+N", "signal N ended it"},
    {"125", "tracing failed, and then the command was not run unless it had begun or --best-effort "
     "was said; or a report could not be written"},
    {"126", "the command cannot be executed"},
    {"127", "there is no such command"},
    {0},
};

static const struct manual_row files[] = {
    {"/usr/lib/debug", "debug files of programs that have no symbols of their own: .build-id/NN/REST.debug "
     "by build id, else by the name in .gnu_debuglink; in the root of the traced process and in ours, and "
     "below --symfs DIR first"},
    {"/tmp/perf-PID.map", "names that a just-in-time compiler gave to its functions; taken where the file "
     "belongs to the user of the process or to root"},
    {"/proc/kallsyms", "functions of the kernel; without CAP_SYSLOG, or where kernel.kptr_restrict is 2, it "
     "shows no addresses, and kernel frames have no names"},
    {"/sys/kernel/tracing", "tracefs, by which tracepoints are found; where it is not mounted it is mounted "
     "for this process alone"},
    {"/sys/kernel/btf/vmlinux", "the kernel's types, for waits and commands where tracefs is closed"},
    {0},
};

/* What all applets that trace share. */
const struct manual_section manual_tracing[] = {
    {"Signals", signals},
    {"Exit status", manual_exit_status},
    {"Commands", commands},
    {"Files", files},
    {0},
};

static const struct manual_row filter_status[] = {
    {"0", "it is done"},
    {"1", "it could not be done, or there was nothing in what was read; which was said on stderr"},
    {"2", "the command line is wrong"},
    {0},
};

const struct manual_section manual_filter[] = {
    {"Exit status", filter_status},
    {0},
};

const struct manual_row manual_main_notes[] = {
    {NULL, "It takes Linux 5.10 or newer, and root, or CAP_BPF and CAP_PERFMON with less: stackbox check "
     "says what is missing, and so does each applet that is refused something. Nothing of it stays in the "
     "kernel when it ends."},
    {NULL, "Names of programs and functions are text: control characters, escapes of terminals, and what "
     "is not valid UTF-8 stand as \\xNN."},
    {0},
};
