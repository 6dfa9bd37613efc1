/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 *     test0:
 *         value = context[offset], with its sign            or get_current_comm(text)
 *         if (value > number)
 *             goto yes
 *         goto no
 *     test1:
 *         ...
 *     holds:
 *
 * `yes` and `no` are later tests, "holds" or "filtered". A register is always read as a whole word,
 * of which shifts take the lower bits: that is right in either byte order.
 */
#include "insns/condition.h"

#include "insns/fragments.h"

static uint8_t load_of(unsigned bytes)
{
    return BPF_LDX | BPF_MEM | (bytes == 1 ? BPF_B : bytes == 2 ? BPF_H : bytes == 4 ? BPF_W
                                : BPF_DW);
}

void emit_event_value(struct program *program, const struct event_value *value, unsigned target)
{
    const int32_t unused = 64 - value->bits;

    EMIT(program, INSN(load_of(value->size), target, R6, (int16_t)value->offset, 0));
    if (!unused || (!value->is_signed && value->bits == 8 * value->size))
        return;
    EMIT(program,
        LSH_IMM(target, unused),
        ALU64_IMM(value->is_signed ? BPF_ARSH : BPF_RSH, target, unused));
}

static void emit_comparison(struct program *program, const struct event_test *test, const char *yes)
{
    static const uint8_t codes[][2] = {
        [IS_EQUAL] = {BPF_JEQ, BPF_JEQ},
        [IS_NOT_EQUAL] = {BPF_JNE, BPF_JNE},
        [IS_LESS] = {BPF_JLT, BPF_JSLT},
        [IS_LESS_OR_EQUAL] = {BPF_JLE, BPF_JSLE},
        [IS_GREATER] = {BPF_JGT, BPF_JSGT},
        [IS_GREATER_OR_EQUAL] = {BPF_JGE, BPF_JSGE},
    };
    const uint8_t code = codes[test->comparison][test->value.is_signed];

    emit_event_value(program, &test->value, R1);
    EMIT(program,
        LD_IMM64(R2, test->number),
        JUMP_REG(code, R1, R2, yes));
}

/* Also compares the terminating NUL, if there is room for one. */
static void emit_text(struct program *program, const struct event_test *test, int16_t scratch,
                      const char *equal, const char *other)
{
    const struct event_value *value = &test->value;
    const int16_t from = value->is_comm ? scratch : (int16_t)value->offset;
    const unsigned base = value->is_comm ? R10 : R6;

    if (value->is_comm) {
        emit_zeros(program, R10, scratch, COMM_BYTES);
        emit_comm(program, R10, scratch);
    }
    for (int16_t i = 0; i < value->size; i++) {
        EMIT(program,
            LDX(B, R1, base, (int16_t)(from + i)),
            JNE_IMM(R1, (unsigned char)test->text[i], other));
        if (!test->text[i])
            break;
    }
    EMIT(program, JA(equal));
}

static const char *target(const struct event_condition *condition, uint8_t to)
{
    return to == TEST_HOLDS ? "holds" : to == TEST_FAILS ? "filtered" : condition->tests[to].label;
}

void emit_event_condition(struct program *program, const struct event_condition *condition,
                          int16_t scratch)
{
    for (size_t i = 0; i < condition->count; i++) {
        const struct event_test *test = &condition->tests[i];
        const char *yes = target(condition, test->yes), *no = target(condition, test->no);
        const bool differs = test->comparison == IS_NOT_EQUAL;

        EMIT(program, LABEL(test->label));
        if (test->is_text) {
            emit_text(program, test, scratch, differs ? no : yes, differs ? yes : no);
            continue;
        }
        emit_comparison(program, test, yes);
        EMIT(program, JA(no));
    }
    if (condition->count)
        EMIT(program, LABEL("holds"));
}
