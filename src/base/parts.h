/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What a build may be without: `make PARTS="unwind names"` has these two, and others not; all, where nothing is
 * said. The door of a part looks at its HAS_, which is constant: where that is 0, compiler and linker drop what is
 * behind it, of which nothing else knows.
 */
#ifndef STACKBOX_BASE_PARTS_H
#define STACKBOX_BASE_PARTS_H

#include "base/text.h"

/* The Makefile says of each that is left out that it has 0. */
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
#define HAS_NAMES 1      /* names of C++ and Rust as people write them, `--shorten` */
#endif
#ifndef HAS_PACKED
#define HAS_PACKED 1     /* symbols that are compressed, by zlib or xz */
#endif
#ifndef HAS_PICTURES
#define HAS_PICTURES 1   /* flame graphs, .svg; `flamegraph` has it always */
#endif
#ifndef HAS_RECORDINGS
#define HAS_RECORDINGS 1 /* recordings, .sbx */
#endif
#ifndef HAS_RINGS
#define HAS_RINGS 1      /* `--collect rings`: without bpf(2), or without rights */
#endif
#ifndef HAS_SHARES
#define HAS_SHARES 1     /* `--flat`, `--tree` */
#endif
#ifndef HAS_UNWIND
#define HAS_UNWIND 1     /* whole stacks of code without frame pointers */
#endif

/* What a text has of a part where that is there. */
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

/* Refuses what needs a part that is not there, by its name: -EINVAL, as parsers of options have it. */
int part_refuse(const char *part, struct text *error);

#endif
