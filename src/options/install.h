/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* --install: a link to this binary for each applet. For main() only: it prints its own errors. */
#ifndef STACKBOX_OPTIONS_INSTALL_H
#define STACKBOX_OPTIONS_INSTALL_H

#include "options/applet.h"

/*
 * Makes links in `directory`, relative ones if the binary itself is there. Existing files stay,
 * which is an error unless they lead to this binary. `called` is argv[0], `all` are the applets, up
 * to a NULL. Returns the exit status.
 */
int install_links(const char *directory, const char *called, const struct applet *const *all);

#endif
