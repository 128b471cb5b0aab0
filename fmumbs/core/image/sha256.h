/* sha256.h: the Secure Hash Algorithm SHA-256 (FIPS 180-4). */
#ifndef FM_SHA256_H
#define FM_SHA256_H

#include <stddef.h>

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

enum { FM_SHA256 = 32 }; /* bytes of a digest */

void fm_sha256(const void *bytes, size_t count, unsigned char digest[FM_SHA256]);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
