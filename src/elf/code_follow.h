/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Follows code instruction by instruction, with a state before each, and undoes a trial that runs
 * into a contradiction. Part of code_rows.
 */
#ifndef STACKBOX_ELF_CODE_FOLLOW_H
#define STACKBOX_ELF_CODE_FOLLOW_H

#include "base/index.h"
#include "elf/code_rows.h"

/* Flags of a place; most are those of the instruction there. */
enum code_flag {
    START = 1,      /* a function begins here */
    ENDLESS = 2,    /* and the function does not return */
    ENDS = 4,       /* a call that does not return */
    SUSPECTED = 8,  /* ENDS was set only to resolve a contradiction */
    PADDING = 16,   /* code_flow.is_padding; of a call: padding follows it */
    PLAIN = 32,     /* code_flow.is_plain */
    TRIED = 64,     /* the current trial has set its state */
    DATA = 128,     /* with two kinds of code: these two bytes are data; with one: */
    OVERLAPS = DATA, /* another instruction may begin within this one */
};
#define KIND_SHIFT 8
/* In the bits above: the length of the instruction, if it was decoded. */
#define LENGTH_SHIFT 11

#define CODE_MOST_SUSPECTS 24

/* Numbers of states. */
enum { NONE, UNKNOWN, FIRST, SIGNAL, THREAD_END };

struct code_place {
    uint16_t state; /* before the instruction there */
    uint16_t flags;
};

struct code_area {
    struct code_gap gap;
    uint64_t place; /* all bytes of all gaps have places, one after another */
    bool is_data;   /* it is in the middle of code */
};

struct code_call {
    uint64_t target;
    uint32_t place, after; /* `after`: the place of the next instruction that is no padding */
};

struct code_change {
    uint32_t place;
    uint16_t before;
};

struct code_work {
    uint32_t place, via;
};

struct code_finding {
    const struct elf *elf;
    const struct code_machine *machine;
    struct code_area *areas;
    size_t area_count;
    uint64_t size;        /* of all together */
    unsigned char *bytes; /* by place, as are */
    struct code_place *places;
    uint64_t *noted; /* a bit for each that is START, or whose address code takes */
    struct code_state *states;
    size_t state_count, state_room;
    struct index state_index;
    struct code_call *calls; /* found by the linear sweep */
    size_t call_count, call_room;
    struct index endless; /* functions that do not return: numbers of calls to them */
    struct code_work *work;
    size_t work_count, work_room;
    struct code_change *changes; /* of the current trial, to undo it */
    size_t change_count, change_room;
    bool is_trial, is_refuted;
    bool has_switch; /* or a trap, which a handler may skip: the code may return */
    bool is_proven; /* code returned as it should, or met known code */
    uint64_t via;     /* the place of the last call on this way, + 1; 0: none */
    uint64_t suspect; /* as `via`, at the contradiction: this call may not return */
    uint8_t has_two; /* 1: two kinds of code, those of Thumb at odd places; or 0 */
    bool thumb;      /* the kind of the last code that was decided */
    uint64_t steps; /* instructions that may still be followed */
    uint64_t functions, unknown; /* stretches of code without a state */
    int error;
};

static inline size_t code_length_at(const struct code_finding *finding, uint64_t place)
{
    return finding->places[place].flags >> LENGTH_SHIFT;
}

static inline enum code_kind code_kind_at(const struct code_finding *finding, uint64_t place)
{
    return finding->places[place].flags >> KIND_SHIFT & 7;
}

static inline bool code_ends(enum code_kind kind)
{
    return (1 << CODE_RETURN | 1 << CODE_JUMP | 1 << CODE_STOP | 1 << CODE_INDIRECT) >> kind & 1;
}

static inline bool code_is_entry(const struct code_finding *finding, const struct code_state *state)
{
    return state->sp == finding->machine->start.sp;
}

/* The gap that holds an address; NULL: none. */
const struct code_area *code_area_at(const struct code_finding *finding, uint64_t address);
/* The gap that holds a place. */
const struct code_area *code_area_of(const struct code_finding *finding, uint64_t place);
/* The place of an address, most likely in the gap `near`. False: it is in no gap. */
bool code_place_of(const struct code_finding *finding, const struct code_area *near,
                   uint64_t address, uint64_t *place);

/* Decodes the instruction at a place in the area and sets the place's flags. 0: it is unknown. */
size_t code_step_at(struct code_finding *finding, const struct code_area *area, uint64_t place,
                    struct code_state *state, struct code_flow *flow);
uint16_t code_number_of(struct code_finding *finding, const struct code_state *state);

/* The call that returns to this place, or to padding before it; NULL: none. */
const struct code_call *code_call_before(const struct code_finding *finding, uint64_t place);

/* Follows all ways from there on. */
void code_begin(struct code_finding *finding, uint64_t place, uint16_t state);
/*
 * Does the code from `place` on run into no contradiction in this state? After one, takes the call
 * before it not to return and tries again, for up to `most` calls (CODE_MOST_SUSPECTS at most).
 */
bool code_try(struct code_finding *finding, uint64_t place, uint16_t state, bool needs_proof,
              unsigned most);
bool code_may_return(struct code_finding *finding, uint64_t start);

#endif
