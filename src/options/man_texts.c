/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts for man pages only: a separate file, so that builds without man pages do not have them. */
#include "options/manual_texts.h"

const struct manual_row manual_exit_status[] = {
    {"0", "success, even if there were no events"},
    {"1", "failure; stderr says what to do about it"},
    {"2", "invalid command line"},
    {0},
};

static const struct manual_row signals[] = {
    {"SIGINT, SIGTERM, SIGHUP", "stop tracing and print the report. Another one a second "
     "later or more exits at once, unless the same process sends the same signal again. A signal "
     "ignored at startup (nohup) stays ignored"},
    {"SIGUSR1", "print a report now and go on tracing; each event is in exactly one report; if "
     "the FILE of -o has neither %n nor %t, the number goes before its extension: out.00001.svg"},
    {"Enter", "stops tracing if there is no controlling terminal for Ctrl-C, as in an "
     "initramfs; the first line says so"},
    {0},
};

static const struct manual_row commands[] = {
    {NULL, "-- COMMAND runs a command and traces it and all its descendants, from its first "
     "instruction until it exits. Nothing else is counted, nor is the search for the command in "
     "PATH."},
    {NULL, "If the report goes to stdout, the command's stdout is redirected to stderr; its stdin "
     "is unchanged. -D stops tracing, not the command. A signal that stops tracing is passed on "
     "to the command, unless the terminal sent it to both."},
    {NULL, "The command runs as the user who starts stackbox; to run it as another, use su or -- "
     "setpriv --reuid=USER --clear-groups COMMAND."},
    {NULL, "The exit status is the command's own, or:"},
    {"128+N", "the command was killed by signal N"},
    {"125", "tracing failed (the command is not run, unless it had started or --best-effort was "
     "given), or a report could not be written"},
    {"126", "the command could not be executed"},
    {"127", "command not found"},
    {0},
};

static const struct manual_row files[] = {
    {"/usr/lib/debug", "debug files of stripped programs: .build-id/NN/REST.debug by build id, "
     "else by the name in .gnu_debuglink; searched below --symfs DIR, in the traced process's "
     "root, then in ours"},
    {"/tmp/perf-PID.map", "names of JIT-compiled functions; used only if the file belongs to the "
     "process's user or to root"},
    {"/proc/kallsyms", "names of kernel functions; without CAP_SYSLOG, or with "
     "kernel.kptr_restrict=2, it hides addresses, and kernel frames have no names"},
    {"/sys/kernel/tracing", "tracefs, used to find tracepoints; if it is not mounted, stackbox "
     "mounts it for itself alone"},
    {"/sys/kernel/btf/vmlinux", "the kernel's types, used for waits and commands when tracefs is "
                                "not accessible"},
    {0},
};

const struct manual_row manual_output[] = {
    {"NAME (PID)", "a process, below its stack (after - in some applets), above its count; "
     "NAME (PID/TID) is a thread other than the first; (host PID), or [host PID] in events, is one outside "
     "this container, as the host numbers it; [outside] is any of those, where the kernel has no number for it"},
    {"file+0xADDR", "code without a symbol: ADDR, for addr2line -e, is where its function begins; if that is "
     "not known, its own address, or [file] in formats other than text"},
    {"[anon], [heap], [vdso]", "code not mapped from a file, named as in /proc/PID/maps; [anon] is often "
     "JIT-compiled code without /tmp/perf-PID.map"},
    {"[unknown]", "nothing is mapped at this address; [unknown] (7 frames) is seven in a row, which -v lists"},
    {"[truncated]", "the stack goes on, but could not be unwound further; stderr says why"},
    {"[exec]", "within exec, where the program before has no stack any more, and the next one none yet"},
    {"[no stack], [no user stack], [no kernel stack]", "the event had none, or it is not known"},
    {"[stack storage full], [table full]", "there was no room for these events: raise --stack-storage-size"},
    {"--", "with -d, between kernel and user stack; - in folded output"},
    {"_[k]", "with -a, follows the names of kernel functions"},
    {"seen, counted, filtered out, lost", "--debug ends with an account of events: seen is the sum of the "
     "others; those missed by the kernel are not among them"},
    {"us, bytes", "times are in microseconds, sums in their unit, everything else is a count of events"},
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
    {"0", "success"},
    {"1", "failure, or nothing in the input; stderr says which"},
    {"2", "invalid command line"},
    {"3", "flamegraph --fail-above: a share grew by more"},
    {0},
};

const struct manual_section manual_filter[] = {
    {"Exit status", filter_status},
    {0},
};

const struct manual_row manual_main_notes[] = {
    {NULL, "Requires Linux 4.4 or later and root; with just CAP_BPF and CAP_PERFMON, or on kernels "
     "before 5.10, some things are missing: stackbox check says which, and so do the applets. "
     "Nothing stays in the kernel when it exits."},
    {NULL, "In names of programs and functions, control characters, terminal escapes and invalid "
     "UTF-8 are printed as \\xNN."},
    {0},
};
