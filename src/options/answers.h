/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What users of perf and bcc type out of habit, and what does that here. */
#ifndef STACKBOX_OPTIONS_ANSWERS_H
#define STACKBOX_OPTIONS_ANSWERS_H

/* For a word typed as an applet, or an option as it was typed ("--sort", "-G"): half a sentence, or NULL. */
const char *answer_to_applet(const char *word);
const char *answer_to_option(const char *shown);

#endif
