/* sha256.c: the Secure Hash Algorithm SHA-256, as in FIPS 180-4 (sections 4.1.2, 5.1.1 and 6.2.2). */
#include "sha256.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, LENGTH = 8 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotated(uint32_t x, int bits)
{
    return x >> bits | x << (32 - bits);
}

static void process_block(uint32_t h[8], const unsigned char *at)
{
    uint32_t w[64], s[8];
    for (int t = 0; t < 16; t++, at += 4)
        w[t] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    for (int t = 16; t < 64; t++) {
        const uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + w[t - 7] +
               (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
    }
    memcpy(s, h, sizeof s);
    for (int t = 0; t < 64; t += 8) {
        for (int i = 0; i < 8; i++) { /* a to h stay in place: the index of each goes down by one */
            const uint32_t a = s[(8 - i) & 7], b = s[(9 - i) & 7], c = s[(10 - i) & 7];
            const uint32_t e = s[(12 - i) & 7], f = s[(13 - i) & 7], g = s[(14 - i) & 7];
            const uint32_t t1 = s[(15 - i) & 7] + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                                (g ^ (e & (f ^ g))) + K[t + i] + w[t + i];
            s[(11 - i) & 7] += t1;
            s[(15 - i) & 7] = t1 + (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) | (c & (a | b)));
        }
    }
    for (int i = 0; i < 8; i++) h[i] += s[i];
}

void fm_sha256(const void *bytes, size_t count, unsigned char digest[FM_SHA256])
{
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char last[2 * BLOCK] = {0};
    const unsigned char *at = bytes;
    const uint64_t bits = (uint64_t)count * 8;
    size_t left = count;
    for (; left >= BLOCK; left -= BLOCK, at += BLOCK) process_block(h, at);
    memcpy(last, at, left);
    last[left] = 0x80;
    const size_t end = left + 1 + LENGTH <= BLOCK ? BLOCK : 2 * BLOCK;
    for (int i = 0; i < LENGTH; i++) last[end - 1 - (size_t)i] = (unsigned char)(bits >> 8 * i);
    for (size_t i = 0; i < end; i += BLOCK) process_block(h, last + i);
    for (int i = 0; i < FM_SHA256; i++) digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}
