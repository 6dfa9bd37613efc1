/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_cfi.h"

/* DW_EH_PE_ */
#define PE_FORM 0x0f
#define PE_BASE 0x70
#define PE_PC_RELATIVE 0x10
#define PE_DATA_RELATIVE 0x30
#define PE_INDIRECT 0x80
enum {
    PE_ABSOLUTE = 0,
    PE_ULEB = 1,
    PE_UDATA2 = 2,
    PE_UDATA4 = 3,
    PE_UDATA8 = 4,
    PE_SLEB = 9,
    PE_SDATA2 = 10,
    PE_SDATA4 = 11,
    PE_SDATA8 = 12,
};

uint64_t cfi_take(struct cfi_bytes *bytes, size_t size)
{
    if ((size_t)(bytes->end - bytes->at) < size) {
        bytes->bad = true;
        bytes->at = bytes->end;
        return 0;
    }
    uint64_t value = size == 1 ? *bytes->at : elf_get(bytes->elf, bytes->at, size);
    bytes->at += size;
    return value;
}

void cfi_skip(struct cfi_bytes *bytes, uint64_t size)
{
    bool fits = size <= (size_t)(bytes->end - bytes->at);

    bytes->bad = bytes->bad || !fits;
    bytes->at = fits ? bytes->at + size : bytes->end;
}

/* What is above 64 bits is lost: nobody produces that. */
static uint64_t take_leb(struct cfi_bytes *bytes, unsigned *shift, unsigned *last)
{
    uint64_t value = 0;

    *shift = 0;
    do {
        *last = (unsigned)cfi_take(bytes, 1);
        if (*shift < 64)
            value |= (uint64_t)(*last & 0x7f) << *shift;
        *shift += 7;
    } while (*last & 0x80 && !bytes->bad);
    return value;
}

uint64_t cfi_take_uleb(struct cfi_bytes *bytes)
{
    unsigned shift, last;

    return take_leb(bytes, &shift, &last);
}

int64_t cfi_take_sleb(struct cfi_bytes *bytes)
{
    unsigned shift, last;
    uint64_t value = take_leb(bytes, &shift, &last);

    if (last & 0x40 && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

static uint64_t take_form(struct cfi_bytes *bytes, unsigned form)
{
    switch (form) {
    case PE_ABSOLUTE:
        return cfi_take(bytes, elf_word_size(bytes->elf));
    case PE_ULEB:
        return cfi_take_uleb(bytes);
    case PE_SLEB:
        return (uint64_t)cfi_take_sleb(bytes);
    case PE_UDATA2:
        return cfi_take(bytes, 2);
    case PE_UDATA4:
        return cfi_take(bytes, 4);
    case PE_SDATA2:
        return (uint64_t)(int64_t)(int16_t)cfi_take(bytes, 2);
    case PE_SDATA4:
        return (uint64_t)(int64_t)(int32_t)cfi_take(bytes, 4);
    case PE_UDATA8:
    case PE_SDATA8:
        return cfi_take(bytes, 8);
    }
    bytes->bad = true;
    return 0;
}

uint64_t cfi_take_pointer(struct cfi_bytes *bytes, unsigned encoding, uint64_t data)
{
    const uint64_t here = bytes->address - (uint64_t)(bytes->end - bytes->at);
    uint64_t value = take_form(bytes, encoding & PE_FORM);

    switch (encoding & PE_BASE) {
    case 0:
        break;
    case PE_PC_RELATIVE:
        value += here;
        break;
    case PE_DATA_RELATIVE:
        value += data;
        break;
    default:
        bytes->bad = true;
    }
    if (encoding & PE_INDIRECT)
        bytes->bad = true;
    return bytes->elf->is_64 ? value : (uint32_t)value;
}
