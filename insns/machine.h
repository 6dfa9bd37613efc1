/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is known about an architecture: src/machine/ARCH.c fills in a row, which all other code
 * reads. A field that is left out means that the architecture has no such thing, or that it is
 * unknown.
 */
#ifndef STACKBOX_INSNS_MACHINE_H
#define STACKBOX_INSNS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program;
struct machine_plt;
struct machine_plt_entry;

/* Functions of this architecture's kernels that other architectures may lack. */
enum machine_names {
    MACHINE_INTERRUPTS, /* which handle interrupts */
    MACHINE_TIMER,      /* which show that an interrupt is a timer's */
    MACHINE_OTHER_CPU,  /* or another CPU's */
    MACHINE_OWN_WORK,   /* through which a thread resumes its own work after an interrupt */
    MACHINE_WAYS,       /* through which programs enter and leave the kernel */
    MACHINE_LANDINGS,   /* to whose start others return, though no call is just before it */
    MACHINE_BARE_CALLS, /* system calls whose sys_NAME is their __do_sys_NAME: without arguments */
    MACHINE_LOCAL,      /* other local ones that begin where a global one does */
    MACHINE_NAMES,
};

/* Either number may be MACHINE_NOWHERE. */
struct machine_register {
    uint8_t dwarf; /* its DWARF number */
    uint8_t word;  /* its word in struct pt_regs: see machine_place() */
};
#define MACHINE_NOWHERE UINT8_MAX

/*
 * Two instructions that build an address and load from it: their bits without the address's parts,
 * and where these are. The first one has what the second leaves of 32 bits.
 */
struct machine_pair {
    uint32_t upper, load;
    uint8_t upper_at, load_at, load_bits;
    bool relative; /* to the first instruction */
};

/*
 * What kernels map into all processes at a fixed address; whether /proc lists it depends on the
 * kernel.
 */
struct machine_fixed {
    const char *label; /* "[vsyscall]" */
    uint64_t start, end;
};

/*
 * How insns/unwind.c, for 64-bit programs, and src/unwind/walk.c unwind its programs' stacks by
 * tables. Distances are in bytes, and words are those of struct pt_regs.
 */
struct machine_walk {
    uint8_t registers; /* how many words are read, from the first on; 0: only rings can walk */
    uint8_t call;      /* the word with a system call's number, */
    uint16_t execs[2]; /* and those of execve() and execveat() */
    struct {
        uint8_t word;         /* these bits of this word have */
        uint64_t bits, value; /* this value in 64-bit user code */
    } mode;
    uint8_t numbered;  /* registers with lower DWARF numbers have words: */
    uint64_t words;    /* four bits each, lowest first; 0: the number is the word */
    uint64_t sampled;  /* PERF_SAMPLE_REGS_USER's bits: at least the numbered ones, and the pc; */
    const char *sampled_words; /* which word the n-th bit is; NULL: the n-th */
    uint8_t base;      /* one more register that walks track: UNWIND_BASE, ARM's r11; or 0 */
    uint64_t address;  /* address bits of a return address, others sign it; 0: not signed */
    int16_t record;    /* from the frame pointer to the saved one, before the return address; */
    bool sp_unknown;   /* it is unknown how far above that the caller's stack begins */
    struct {
        int16_t at, bytes;           /* this part of the signal frame, from sp, is read, */
        int16_t frame, sp, pc, link; /* where these are; link 0: none */
        int16_t base;                /* and `base`, if that is not UNWIND_BASE */
    } signal;
    /* after the code below, what handlers without siginfo_t return through; from one frame to the
       other: o32. 0: no such */
    int16_t plain;
    uint64_t sigreturn;   /* the code through which handlers return without tables; or 0 */
    bool (*moves_sp)(uint32_t instruction); /* may it change the stack pointer? With `sigreturn` */
    uint64_t thread_exit; /* and the code with which musl ends a thread */
    /* and with which glibc's __start_context begins, where makecontext()'s functions end, but for
       these bits; and the first byte of its table */
    uint64_t context_end, context_spare;
    uint8_t context_table;
    /*
     * CPython's trampolines for perf. If a call in memory without a file returns to these bytes,
     * lowest first, the CFA is sp + 16; the return address is just below it, and below that
     * perhaps the frame pointer. 0: none are known
     */
    struct {
        uint64_t code;
        uint8_t bytes, frame_kind; /* UNWIND_FRAME_SAME or _AT_CFA */
    } trampoline;
    bool is_sparse;       /* C long had no tables: without them, walk frame pointers */
};

struct machine {
    /* ---- Which it is ---- */
    uint16_t elf;     /* e_machine of its files; no two rows share this and `bits` */
    uint8_t bits;     /* 32 or 64 */
    bool is_big;      /* byte order; if there are two, the one that this program was built for */
    bool is_ours;     /* this program was built for it: #if, only in the row's own file */
    uint16_t family;  /* `elf` of the widest that may run each other's programs. 0: not known to run
                         any but its own */
    const struct machine *wide; /* for 32 bits: the 64-bit machine whose kernels run it, too */
    struct {
        uint8_t call, sp, mode; /* there, for such a program: the words of the call's number
                                   (machine_walk) and of the stack pointer, and the value of the
                                   mode's bits. 0: unknown */
    } in_wide;
    const char *multiarch; /* Debian's name for it, and for its library directories */

    /* ---- Its kernels ---- */
    uint8_t least_page, greatest_page; /* of those that exist, in bits: 12 is 4096 bytes */
    uint32_t foreign_calls; /* bit in system call numbers that tells seccomp another ABI: x32 */
    char call_prefix[10];   /* before sys_NAME, in functions that are system calls: "__x64_" */
    const char *const *names; /* [MACHINE_NAMES], each as for name_list_has(), or NULL; or NULL */
    const struct machine_fixed *fixed;
    /*
     * Bytes at a function's start that belong to ftrace, if some kernels refuse probes for that:
     * right after them the function has done nothing yet. 0: none are refused.
     */
    uint8_t entry_patch;
    /*
     * For walks of the kernel's own stack, on old kernels: the size of a thread's stack, in bits,
     * which ends with struct pt_regs after a system call; and where the kernel's code begins. 0: no
     * such walk.
     */
    uint8_t kernel_stack;
    int32_t kernel_code;
    bool probes_wide_alone; /* they cannot probe 32-bit programs, but accept the probes */
    /* 64-bit ones: their interpreter calls every BPF helper correctly */
    bool interprets_all;
    /*
     * A function of kernels whose own walk uses tables. Others walk by frame pointers, and miss the
     * caller at a function's first instruction, when the return address is at the stack pointer.
     * NULL: it is in a register, or unknown.
     */
    const char *kernel_tables;
    const char *unsaved;    /* older kernels' system call entry that saves no frame pointer */
    bool links_lack_stacks; /* programs of kprobe.multi links do not get the kernel's stack */

    /* ---- Registers ---- */
    uint8_t before; /* words of struct pt_regs that are not counted in those of registers */
    struct machine_register pc, sp, frame;
    struct machine_register link; /* has the return address at a function's first instruction */
    /* the kernel takes it for the first caller in each user stack, wherever the pc is */
    bool link_first;
    struct {
        uint8_t count, words[6], result;
    } args; /* of a function's first arguments, and of what it returns; count 0: unknown */
    /* after a ptrace(2) stop the kernel tells by a system call's result whether to restart it */
    bool restarts_late;
    /*
     * Emits *(u64 *)(r8 + place) = the return address, at a function's first instruction; left
     * unchanged if it cannot be told. r6 = struct pt_regs. r0 to r5 are lost. NULL: it is in
     * `link`, if that has a word.
     */
    void (*emit_load_caller)(struct program *program, int16_t place);
    const char *caller_text; /* the same, as an argument of a text probe; NULL: unknown how */
    const struct machine_walk *walk; /* NULL: unknown how */
    bool no_frames; /* the kernel cannot walk its compilers' frames: later ones are wrong */
    bool no_user_walk; /* the kernel walks no user stacks: rings copy them instead */
    bool calls_lack_frame; /* system calls do not save what the frame pointer was */

    /* ---- Code ---- */
    uint8_t instruction; /* size in bytes, of which addresses are multiples; not for Thumb */
    /*
     * First instructions by which kernels since 6.13 recognize a function's start, or some of them.
     */
    uint8_t push;        /* its first byte */
    uint32_t mark;       /* the first four, as a little-endian number */
    /*
     * Letters after the $ of mapping symbols, which tell what begins there: code, Thumb code, data.
     * If there is Thumb code, the lowest bit of a function's address tells it, too.
     */
    struct {
        char code, thumb, data;
    } marks;
    /*
     * These bits of e_flags: the file may have code of another kind, which cannot be probed, as
     * Thumb code cannot. A function's st_other tells by its highest bit.
     */
    uint32_t compressed;
    bool wide_hash;      /* the words of .hash have 64 bits in 64-bit files */
    bool local_entries;  /* a function has two entries; st_other tells where local calls enter */
    /*
     * Finds the PLT entry with this address, by its instructions. False: there is none, as far as
     * it knows. NULL: entries are unknown.
     */
    bool (*plt_entry)(const struct machine_plt *plt, uint64_t address,
                      struct machine_plt_entry *entry);
    struct machine_pair plt_pair; /* or how each begins, if all have 16 bytes */
    uint16_t irelative;  /* the relocation of an entry whose function another one chooses (IFUNC) */

    /* ---- If the row is ours ---- */
    /*
     * For a library in a directory like glibc-hwcaps/x86-64-v3: the processor level it needs, 1 or
     * more, of which the dynamic linker prefers the greatest; 0: this processor does not have it,
     * or it is unknown.
     */
    int (*level_of)(const char *path);
    /* An instruction of ours that never runs. NULL: the first one of this program will do. */
    uintptr_t (*unused_instruction)(void);
};

/* A section of a file with PLT entries. */
struct machine_plt {
    const struct machine *machine; /* of the file */
    uint64_t address, size, entry_size;
    uint64_t table; /* the address of the file's global offset table; 0: none */
    const void *file, *section;
    /* Reads the section's bytes at `skip`. False: they cannot be read. */
    bool (*read)(const struct machine_plt *plt, uint64_t skip, void *to, size_t size);
};

struct machine_plt_entry {
    uint64_t word;  /* of data, which holds the address it jumps to */
    uint64_t start; /* its first instruction */
};

/* Instructions have their own byte order, which is little endian wherever this is used. */
static inline uint32_t machine_little32(const unsigned char *bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* seccomp's name for it (AUDIT_ARCH_...); 0: unknown. */
static inline uint32_t machine_audit(const struct machine *machine)
{
    const uint32_t wide = machine->bits == 64 ? 0x80000000 : 0,
        little = machine->is_big ? 0 : 0x40000000;

    return machine->elf ? machine->elf | wide | little : 0;
}

/* Does it have a register with the return address, before a function saves that? */
static inline bool machine_has_link(const struct machine *machine)
{
    return machine->link.dwarf && machine->link.word != MACHINE_NOWHERE;
}

/* Which word of struct pt_regs the register with that DWARF number is. */
static inline unsigned machine_word_of(const struct machine_walk *walk, unsigned number)
{
    return walk->words ? (unsigned)(walk->words >> 4 * number & 15) : number;
}

/* Its offset in struct pt_regs. */
static inline int16_t machine_place(const struct machine *machine, struct machine_register of)
{
    return (int16_t)((machine->before + of.word) * machine->bits / 8);
}

#endif
