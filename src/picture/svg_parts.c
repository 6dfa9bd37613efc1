/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "picture/svg_parts.h"

/*
 * The assembler includes the files that make has stripped of comments and margins. The labels are
 * global: GNU's linker for aarch64 turns local ones into one address, the section's.
 */
#define PART(name, path)                              \
    __asm__(".pushsection .rodata." #name ",\"a\"\n" \
            ".globl " #name "_start, " #name "_end\n" \
            #name "_start:\n"                         \
            ".incbin \"" path "\"\n"                  \
            #name "_end:\n"                           \
            ".byte 0\n"                               \
            ".popsection\n");                         \
    extern __attribute__((visibility("hidden"))) const char name##_start[], name##_end[]

PART(flame_css, "flame.css");
PART(flame_js, "flame.js");

struct svg_part svg_style(void)
{
    return (struct svg_part){flame_css_start, (size_t)(flame_css_end - flame_css_start)};
}

struct svg_part svg_script(void)
{
    return (struct svg_part){flame_js_start, (size_t)(flame_js_end - flame_js_start)};
}
