/* mutate.h: changes an input slightly, as an accident or an attacker would: bits, bytes, indices and numbers replaced
 * by extreme ones, parts moved, copied from another input, removed or inserted. */
#ifndef MUTATE_H
#define MUTATE_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct input {
    uint8_t *data;
    size_t size;
} input;

static uint64_t mutation_seed = 1;

static uint64_t any(void)
{
    mutation_seed ^= mutation_seed << 13;
    mutation_seed ^= mutation_seed >> 7;
    mutation_seed ^= mutation_seed << 17;
    return mutation_seed;
}

static size_t below(size_t end)
{
    return end == 0 ? 0 : (size_t)(any() % end);
}

static void put(uint8_t *data, size_t size, const void *bytes, size_t width)
{
    if (size < width) return;
    const size_t step = below(8) == 0 ? 1 : width;
    memcpy(data + below((size - width) / step + 1) * step, bytes, width);
}

static void put_integer(uint8_t *data, size_t size)
{
    static const int32_t extreme[] = {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 65535, INT32_MAX, INT32_MIN, 0x7ff00000};
    const int32_t value = extreme[below(sizeof extreme / sizeof *extreme)];
    put(data, size, &value, 4);
}

static void put_number(uint8_t *data, size_t size)
{
    static const double extreme[] = {0.0,    -0.0,   1.0,     -1.0,   0.5,   1e-3,   1e3,      1e-9,
                                     1e9,    1e-20,  1e20,    1e-160, 1e160, -1e160, 1e-300,   1e300,
                                     -1e300, 5e-324, DBL_MAX, -1e12,  1e12,  NAN,    INFINITY, -INFINITY};
    const double value = extreme[below(sizeof extreme / sizeof *extreme)];
    put(data, size, &value, 8);
}

/* Adds a small number to an integer. */
static void nudge(uint8_t *data, size_t size)
{
    uint32_t value;
    if (size < 4) return;
    uint8_t *at = data + 4 * below(size / 4);
    memcpy(&value, at, 4);
    value += (uint32_t)below(9) - 4u;
    memcpy(at, &value, 4);
}

static void copy_part(uint8_t *data, size_t size)
{
    const size_t width = 4 * (1 + below(16));
    if (size < width) return;
    const size_t from = 4 * below((size - width) / 4 + 1), to = 4 * below((size - width) / 4 + 1);
    memmove(data + to, data + from, width);
}

/* Appends the end of another input to the beginning of this one, or copies a part of it to the same position. */
static size_t splice(uint8_t *data, size_t size, const input *other)
{
    const size_t common = size < other->size ? size : other->size, at = 4 * below(common / 4);
    if (common == 0) return size;
    if (below(2)) {
        const size_t width = 1 + below(common - at);
        memcpy(data + at, other->data + at, width);
        return size;
    }
    memcpy(data + at, other->data + at, other->size - at);
    return other->size;
}

/* Removes or inserts some bytes. */
static size_t shift(uint8_t *data, size_t size, size_t longest)
{
    const size_t width = (below(2) ? 1 : 4) * (1 + below(4)), at = below(size);
    if (below(2)) {
        if (at + width > size) return size;
        memmove(data + at, data + at + width, size - at - width);
        return size - width;
    }
    if (size + width > longest) return size;
    memmove(data + at + width, data + at, size - at);
    for (size_t i = 0; i < width; i++) data[at + i] = (uint8_t)any();
    return size + width;
}

/* Makes one change; `data` has room for `longest` bytes and for `other`. Returns the new size. */
static size_t mutate(uint8_t *data, size_t size, size_t longest, const input *other)
{
    switch (below(12)) {
    case 0:
    case 1:
        if (size > 0) data[below(size)] ^= (uint8_t)(1u << below(8));
        return size;
    case 2:
        if (size > 0) data[below(size)] = (uint8_t)any();
        return size;
    case 3:
    case 4: put_integer(data, size); return size;
    case 5:
    case 6: put_number(data, size); return size;
    case 7: nudge(data, size); return size;
    case 8: copy_part(data, size); return size;
    case 9: return splice(data, size, other);
    case 10: return below(4) ? size : shift(data, size, longest);
    default: return below(8) ? size : below(size + 1);
    }
}

#endif
