/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is known of an architecture: a row, which src/machine/ARCH.c fills in, and which all others are
 * handed. A field that is left out says that there is no such thing, or that nobody knows.
 */
#ifndef STACKBOX_INSNS_MACHINE_H
#define STACKBOX_INSNS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program;
struct machine_plt;
struct machine_plt_entry;

/* Functions of the kernel that this architecture has, and not every one. */
enum machine_names {
    MACHINE_INTERRUPTS, /* by which it takes an interrupt */
    MACHINE_TIMER,      /* that show it to be one of a timer */
    MACHINE_OTHER_CPU,  /* or one that another CPU has sent */
    MACHINE_OWN_WORK,   /* by which a thread gets from one to its own work again */
    MACHINE_WAYS,       /* by which programs come into the kernel, and out */
    MACHINE_NAMES,
};

/* Either number may be MACHINE_NOWHERE. */
struct machine_register {
    uint8_t dwarf; /* its number in DWARF's tables */
    uint8_t word;  /* which word of struct pt_regs it is: machine_place() */
};
#define MACHINE_NOWHERE UINT8_MAX

/* What kernels show at one place to all programs; what /proc has of it depends on the kernel. */
struct machine_fixed {
    const char *label; /* "[vsyscall]" */
    uint64_t start, end;
};

/*
 * How stacks of its programs are walked by tables: by insns/unwind.c, if they are of 64 bits, and by
 * src/unwind/walk.c. Distances are in bytes; words are those of struct pt_regs.
 */
struct machine_walk {
    uint8_t registers; /* so many words are read, from the first on */
    uint8_t call;      /* the word that has the number of a system call */
    struct {
        uint8_t word;         /* of which these bits have */
        uint64_t bits, value; /* this value in 64-bit code of a user */
    } mode;
    uint8_t numbered;  /* registers whose DWARF numbers are below it have words: */
    uint64_t words;    /* four bits for each, from the lowest on; 0: the number is that of the word */
    uint64_t sampled;  /* PERF_SAMPLE_REGS_USER's bits for these words: at least those of numbers, and the pc; */
    const char *sampled_words; /* which of them the n-th is; NULL: the n-th */
    uint8_t base;      /* one more register that is followed, by its number: UNWIND_BASE, ARM's r11; or 0 */
    uint64_t address;  /* these bits of a return address are the address, others sign it; 0: it is not signed */
    int16_t record;    /* from the frame pointer to where the caller's is saved, and behind that the return address; */
    bool sp_unknown;   /* how far above that the caller's stack begins nobody knows */
    struct {
        int16_t at, bytes;           /* of the signal's frame at the stack pointer this part is read, */
        int16_t frame, sp, pc, link; /* where these are; link 0: none */
        int16_t base;                /* and `base`, if that is not UNWIND_BASE */
    } signal;
    uint64_t sigreturn;   /* the code by which a handler returns, where the vDSO has no tables; or 0 */
    bool (*moves_sp)(uint32_t instruction); /* may it change the stack pointer? Where `sigreturn` is */
    uint64_t thread_exit; /* and by which musl ends a thread */
    bool is_sparse;       /* compilers made no tables for C for long: what has none is walked by frame pointers */
};

struct machine {
    /* ---- Which it is ---- */
    uint16_t elf;     /* e_machine of its files; no two rows have this and `bits` in common */
    uint8_t bits;     /* 32 or 64 */
    bool is_big;      /* byte order; where there are two, that which this program was built for */
    bool is_ours;     /* this program was built for it: #if, in the row's own file alone */
    uint16_t family;  /* `elf` of the widest that may run each other's programs. 0: nobody knows what
                         runs there */
    const struct machine *wide; /* of 32 bits: that of 64 whose kernels run its programs, too */
    struct {
        uint8_t call, sp, mode; /* there, of such a program: the word of the call's number (machine_walk), that of the
                                   stack pointer, and the value of the bits of the mode. 0: nobody knows */
    } in_wide;
    const char *multiarch; /* Debian's name for it, and for the directories of its libraries */

    /* ---- Its kernels ---- */
    uint8_t least_page, greatest_page; /* of those that there are, in bits: 12 is 4096 bytes */
    uint32_t foreign_calls; /* the bit in numbers of calls by which alone seccomp tells another ABI: x32 */
    char call_prefix[10];   /* before sys_NAME, of functions that are system calls: "__x64_" */
    const char *const *names; /* [MACHINE_NAMES], each as base/name_list.h has it, or NULL; NULL: none */
    const struct machine_fixed *fixed;
    /*
     * Bytes at a function's start that belong to ftrace, where some kernels refuse probes for that: behind
     * them the function has done nothing yet. 0: none are refused.
     */
    uint8_t entry_patch;
    /*
     * Frames of the kernel's own code, on old ones: each thread's stack is so large, in bits, and ends with
     * struct pt_regs where a program has called; the code is from there on. 0: they cannot be walked.
     */
    uint8_t kernel_stack;
    int32_t kernel_code;
    bool probes_wide_alone; /* they put no probes into programs of 32 bits, and refuse none: nothing is hit */
    /*
     * A function of those whose own walk goes along tables. Others walk along frame pointers, and miss the caller
     * at a function's first instruction, where it is at the stack pointer. NULL: it is in a register, or unknown.
     */
    const char *kernel_tables;
    const char *unsaved;    /* the way into older kernels by which a system call saves no frame pointer */
    bool links_lack_stacks; /* programs of kprobe.multi links are not handed the kernel's stack */

    /* ---- Registers ---- */
    struct machine_register pc, sp, frame;
    struct machine_register link; /* has the return address at a function's first instruction */
    bool link_first;              /* the kernel takes it for a program's first caller, wherever that is */
    struct {
        uint8_t count, words[6], result;
    } args; /* which have a function's first arguments, and what it returns; count 0: nobody knows */
    /*
     * Emits *(u64 *)(r8 + place) = where the function at whose first instruction we are returns to; it is
     * left as it is where that cannot be told. r6 = struct pt_regs. r0 to r5 are lost.
     */
    void (*emit_load_caller)(struct program *program, int16_t place);
    const char *caller_text; /* the same, as an argument of a probe in text; NULL: nobody knows how */
    const struct machine_walk *walk; /* NULL: nobody knows how */
    bool no_frames; /* its compilers make none that the kernel walks: behind the first there are false ones */

    /* ---- Code ---- */
    uint8_t instruction; /* bytes, of which the address of each is a multiple; Thumb's are not meant */
    /* First instructions by which kernels from 6.13 on know a function's start, or some of them. */
    uint8_t push;        /* its first byte */
    uint32_t mark;       /* the first four, as a little-endian number */
    /*
     * Letters behind the $ of symbols that tell what begins there: code, Thumb code, data. Where there is
     * Thumb code the lowest bit of a function's address tells that, too.
     */
    struct {
        char code, thumb, data;
    } marks;
    bool wide_hash;      /* the words of .hash have 64 bits in files of 64 */
    bool local_entries;  /* a function has two entries, and st_other tells how far its own file's calls go in */
    /*
     * Finds the entry of a procedure linkage table that has this address, by its instructions. False:
     * there is none, as far as it knows. NULL: entries are not known.
     */
    bool (*plt_entry)(const struct machine_plt *plt, uint64_t address, struct machine_plt_entry *entry);
    uint16_t irelative;  /* the relocation of an entry whose function is chosen by another (IFUNC) */

    /* ---- Where the row is ours ---- */
    /*
     * For a library in a directory like glibc-hwcaps/x86-64-v3: how much it asks of the processor, 1 and
     * more, of several of which the dynamic linker takes the greatest; 0: this one does not have it, or
     * it is not known whether.
     */
    int (*level_of)(const char *path);
    /* An instruction of ours that nobody comes to. NULL: that which this program began with will do. */
    uintptr_t (*unused_instruction)(void);
};

/* A section of a file that has such entries. */
struct machine_plt {
    const struct machine *machine; /* of the file */
    uint64_t address, size, entry_size;
    uint64_t table; /* the address of the file's global offset table; 0: it has none */
    const void *file, *section;
    /* Reads what is in the section `skip` bytes behind its start. False: it cannot be read. */
    bool (*read)(const struct machine_plt *plt, uint64_t skip, void *to, size_t size);
};

struct machine_plt_entry {
    uint64_t start; /* its first instruction */
    uint64_t word;  /* of data, which has the address that it jumps to */
};

/* Instructions have their own byte order, which is little wherever one is looked at. */
static inline uint32_t machine_little32(const unsigned char *bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* What seccomp calls it (AUDIT_ARCH_...); 0: nobody knows. */
static inline uint32_t machine_audit(const struct machine *machine)
{
    const uint32_t wide = machine->bits == 64 ? 0x80000000 : 0, little = machine->is_big ? 0 : 0x40000000;

    return machine->elf ? machine->elf | wide | little : 0;
}

/* Has it a register with the return address, before a function saves that? */
static inline bool machine_has_link(const struct machine *machine)
{
    return machine->link.dwarf && machine->link.word != MACHINE_NOWHERE;
}

/* Which word of struct pt_regs the register of that DWARF number is. */
static inline unsigned machine_word_of(const struct machine_walk *walk, unsigned number)
{
    return walk->words ? (unsigned)(walk->words >> 4 * number & 15) : number;
}

/* Where in struct pt_regs it is. */
static inline int16_t machine_place(const struct machine *machine, struct machine_register of)
{
    return (int16_t)(of.word * machine->bits / 8);
}

#endif
