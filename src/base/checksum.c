/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/checksum.h"

#include <string.h>

#define CRC32_POLYNOMIAL 0xedb88320 /* bits reversed */

void crc32_begin(struct crc32 *crc)
{
    for (uint32_t i = 0; i < 256; i++) {
        crc->table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            crc->table[i] = crc->table[i] >> 1 ^ (crc->table[i] & 1 ? CRC32_POLYNOMIAL : 0);
    }
    crc32_again(crc);
}

void crc32_again(struct crc32 *crc)
{
    crc->state = UINT32_MAX;
}

void crc32_add(struct crc32 *crc, const unsigned char *bytes, size_t length)
{
    uint32_t state = crc->state;

    for (size_t i = 0; i < length; i++)
        state = state >> 8 ^ crc->table[(state ^ bytes[i]) & 0xff];
    crc->state = state;
}

uint32_t crc32_value(const struct crc32 *crc)
{
    return ~crc->state;
}

#define CRC64_POLYNOMIAL 0xc96c5795d7870f42

void crc64_prepare(struct crc64 *crc)
{
    for (size_t i = 0; i < 256; i++) {
        uint64_t state = i;
        for (int bit = 0; bit < 8; bit++)
            state = state >> 1 ^ (state & 1 ? CRC64_POLYNOMIAL : 0);
        crc->table[0][i] = state;
    }
    for (size_t zeros = 1; zeros < 4; zeros++)
        for (size_t i = 0; i < 256; i++) {
            uint64_t state = crc->table[zeros - 1][i];
            crc->table[zeros][i] = state >> 8 ^ crc->table[0][state & 0xff];
        }
}

/* Takes four bytes at a time: byte by byte, each lookup would wait for the one before it. */
uint64_t crc64_of(const struct crc64 *crc, uint64_t before, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t state = ~before;

    for (; length >= 4; length -= 4, at += 4)
        state = state >> 32 ^ crc->table[3][(state ^ at[0]) & 0xff] ^
                crc->table[2][(state >> 8 ^ at[1]) & 0xff] ^
                crc->table[1][(state >> 16 ^ at[2]) & 0xff] ^
                crc->table[0][(state >> 24 ^ at[3]) & 0xff];
    for (; length--; at++)
        state = state >> 8 ^ crc->table[0][(state ^ *at) & 0xff];
    return ~state;
}

#define BLOCK_BYTES 64
#define ROUNDS 64

/* The first 32 bits of the fractions of the first primes' cube roots. */
static const uint32_t of_cube_roots[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* And of the square roots. */
static const uint32_t of_square_roots[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static inline uint32_t turned(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static inline uint32_t mixed(uint32_t word, unsigned first, unsigned second, unsigned third)
{
    return turned(word, first) ^ turned(word, second) ^ turned(word, third);
}

static void spread(uint32_t words[ROUNDS])
{
    for (int i = 16; i < ROUNDS; i++) {
        uint32_t early = words[i - 15], late = words[i - 2];
        early = turned(early, 7) ^ turned(early, 18) ^ early >> 3;
        late = turned(late, 17) ^ turned(late, 19) ^ late >> 10;
        words[i] = words[i - 16] + early + words[i - 7] + late;
    }
}

/* The eight words do not move: each round shifts their names by one. */
static void add_block(uint32_t state[8], const unsigned char *bytes)
{
    uint32_t words[ROUNDS], now[8];

    for (int i = 0; i < 16; i++, bytes += 4)
        words[i] = (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
    spread(words);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t first = h + mixed(e, 6, 11, 25) + (g ^ (e & (f ^ g)));
        first += of_cube_roots[i] + words[i];
        uint32_t second = mixed(a, 2, 13, 22) + ((a & b) | (c & (a | b)));
        h = g, g = f, f = e, e = d + first;
        d = c, c = b, b = a, a = first + second;
    }
    now[0] = a, now[1] = b, now[2] = c, now[3] = d;
    now[4] = e, now[5] = f, now[6] = g, now[7] = h;
    for (int i = 0; i < 8; i++)
        state[i] += now[i];
}

void sha256(const void *bytes, size_t length, unsigned char digest[SHA256_BYTES])
{
    const unsigned char *at = bytes;
    unsigned char last[2 * BLOCK_BYTES] = {0};
    uint64_t bits = (uint64_t)length * 8;
    uint32_t state[8];

    memcpy(state, of_square_roots, sizeof(state));
    for (; length >= BLOCK_BYTES; length -= BLOCK_BYTES, at += BLOCK_BYTES)
        add_block(state, at);
    /* The rest, a one bit, and at the end of a block the number of bits. */
    memcpy(last, at, length);
    last[length] = 0x80;
    size_t size = length + 9 <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    for (size_t i = 1; i <= 8; i++, bits >>= 8)
        last[size - i] = (unsigned char)bits;
    for (size_t i = 0; i < size; i += BLOCK_BYTES)
        add_block(state, last + i);
    for (size_t i = 0; i < SHA256_BYTES; i++)
        digest[i] = (unsigned char)(state[i / 4] >> (24 - i % 4 * 8));
}
