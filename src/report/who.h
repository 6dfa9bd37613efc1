/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How events are told apart: --by, the same in every applet. */
#ifndef STACKBOX_REPORT_WHO_H
#define STACKBOX_REPORT_WHO_H

enum who {
    WHO_UNSAID,  /* by process; in lines, which are for comparing, without its number */
    WHO_PROCESS, /* comm (PID), comm being the process's own name */
    WHO_THREAD,  /* comm (PID/TID), or comm (PID) if they are the same number */
    WHO_NAME,    /* comm: threads of the same name are one */
};

#endif
