/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Parts that a build may leave out: `make PARTS="unwind names"` builds these two and no others; by
 * default all are built. A part's entry point checks its HAS_, a constant: where it is 0, compiler
 * and linker drop everything behind it, which nothing else refers to.
 */
#ifndef STACKBOX_BASE_PARTS_H
#define STACKBOX_BASE_PARTS_H

#include "base/text.h"

/* The Makefile defines the HAS_ of each part left out as 0. */
#ifndef HAS_EXPORTS
#define HAS_EXPORTS 1    /* reports for pprof and speedscope */
#endif
#ifndef HAS_LISTINGS
#define HAS_LISTINGS 1   /* `--dump-program` */
#endif
#ifndef HAS_LIVE
#define HAS_LIVE 1       /* `--live`, which needs `shares` */
#endif
#ifndef HAS_MANUAL
#define HAS_MANUAL 1     /* `--man` */
#endif
#ifndef HAS_NAMES
#define HAS_NAMES 1      /* demangled C++ and Rust names, `--shorten` */
#endif
#ifndef HAS_PACKED
#define HAS_PACKED 1     /* symbols compressed by zlib or xz */
#endif
#ifndef HAS_PICTURES
#define HAS_PICTURES 1   /* flame graphs, .svg; `flamegraph` always has it */
#endif
#ifndef HAS_RECORDINGS
#define HAS_RECORDINGS 1 /* recordings, .sbx */
#endif
#ifndef HAS_RINGS
#define HAS_RINGS 1      /* `--collect rings`: without bpf(2), or without privileges */
#endif
#ifndef HAS_SHARES
#define HAS_SHARES 1     /* `--flat`, `--tree` */
#endif
#ifndef HAS_UNWIND
#define HAS_UNWIND 1     /* whole stacks of code without frame pointers */
#endif

/* Text that is there only if the part is. */
#if HAS_EXPORTS
#define OF_EXPORTS(text) text
#else
#define OF_EXPORTS(text) ""
#endif
#if HAS_PICTURES
#define OF_PICTURES(text) text
#else
#define OF_PICTURES(text) ""
#endif
#if HAS_RECORDINGS
#define OF_RECORDINGS(text) text
#else
#define OF_RECORDINGS(text) ""
#endif
#if HAS_SHARES
#define OF_SHARES(text) text
#else
#define OF_SHARES(text) ""
#endif

/*
 * Refuses what needs a part that was left out, by the part's name: -EINVAL, as from options'
 * parsers.
 */
int part_refuse(const char *part, struct text *error);

#endif
