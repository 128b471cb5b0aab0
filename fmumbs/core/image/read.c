/* read.c: reads a model image. The layout is defined in table.h alone; every size and every index is checked. */
#include "read.h"
#include "../maths/text.h"

#include "check.h"
#include "image.h"
#include "sha256.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FM_MOST_ROWS 100000000 /* most rows of any array */

uint64_t fm_checksum(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t sum = 0xcbf29ce484222325u;
    for (; count >= 8; at += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        sum = (sum ^ word) * 0x100000001b3u;
        sum ^= sum >> 29;
    }
    for (; count > 0; at++, count--) sum = (sum ^ *at) * 0x100000001b3u;
    return sum;
}

int fm_hash_fits(const void *image, size_t bytes)
{
    const unsigned char *at = image;
    unsigned char digest[FM_SHA256];
    if (bytes < sizeof(fm_header)) return 0;
    fm_sha256(at + sizeof(fm_header), bytes - sizeof(fm_header), digest);
    return memcmp(digest, at + offsetof(fm_header, hash), sizeof digest) == 0;
}

static const fm_array_info arrays[] = {
#define A(name, type, columns, rows, bound, lowest, unit, section) \
    {#name, unit, section, #type[0], columns, #rows, #bound},
    FM_IMAGE_ARRAYS(A)
#undef A
};

static const char *const size_names[] = {
#define S(name, meaning) #name,
    FM_SIZES(S)
#undef S
};

static const fm_scheme_info schemes[] = {
#define S(number, id, name, order, fixed, stages, terms, method, purpose) \
    {#name, method, purpose, order, fixed, stages},
    FM_SCHEMES(S)
#undef S
};

const fm_scheme_info *fm_scheme_at(uint32_t number)
{
    return number < FM_SCHEME_COUNT ? schemes + number : NULL;
}

uint32_t fm_size_count(void)
{
    return (uint32_t)(sizeof size_names / sizeof size_names[0]);
}

const char *fm_size_name(uint32_t index)
{
    return index < fm_size_count() ? size_names[index] : NULL;
}

uint32_t fm_array_count(void)
{
    return (uint32_t)(sizeof arrays / sizeof arrays[0]);
}

const fm_array_info *fm_array(uint32_t index)
{
    return index < fm_array_count() ? arrays + index : NULL;
}

uint32_t fm_image_version(void)
{
    return FM_IMAGE_VERSION;
}

static int refuse(char *why, size_t capacity, const char *sentence)
{
    (void)fm_print(why, capacity, "%s", sentence);
    return 0;
}

static int read_header(fm_image *image, const unsigned char *bytes, size_t size, char *why, size_t capacity)
{
    fm_header header;
    if (size < sizeof header || memcmp(bytes, FM_IMAGE_MAGIC, sizeof header.magic) != 0)
        return refuse(why, capacity, "this is not a model image: it does not begin with FMUMBS");
    memcpy(&header, bytes, sizeof header);
    memcpy(image->hash, header.hash, sizeof image->hash);
    if (header.byte_order != FM_BYTE_ORDER)
        return refuse(why, capacity, "the model image was made for another byte order");
    if (header.version != FM_IMAGE_VERSION) {
        (void)fm_print(why, capacity, "the model image has version %lu, this library reads version %lu: export again",
                       (unsigned long)header.version, (unsigned long)FM_IMAGE_VERSION);
        return 0;
    }
    if (header.size != size) {
        (void)fm_print(why, capacity, "the model image is damaged: %llu bytes, its header says %llu",
                       (unsigned long long)size, (unsigned long long)header.size);
        return 0;
    }
    if (header.checksum != fm_checksum(bytes + sizeof header, size - sizeof header))
        return refuse(why, capacity, "the model image is damaged: its checksum is wrong");
    return 1;
}

/* The position of the next array. */
typedef struct cursor {
    const unsigned char *at;
    size_t left;
    const char *section;
} cursor;

static const void *read_bytes(cursor *c, uint64_t bytes)
{
    const void *here = c->at;
    uint64_t padded = (bytes + 7u) & ~(uint64_t)7u;
    if (padded > c->left) return NULL;
    c->at += padded;
    c->left -= (size_t)padded;
    return here;
}

static const void *read_array(cursor *c, const char *section, uint64_t bytes)
{
    if (c->section == NULL || strcmp(c->section, section) != 0) {
        char tag[9] = "        ";
        const void *found = read_bytes(c, 8);
        memcpy(tag, section, strlen(section));
        if (found == NULL || memcmp(found, tag, 8) != 0) return NULL;
        c->section = section;
    }
    return read_bytes(c, bytes);
}

static int indices_fit(const int32_t *value, size_t count, int32_t lowest, int32_t end)
{
    for (size_t i = 0; i < count; i++)
        if (value[i] < lowest || value[i] >= end) return 0;
    return 1;
}

static int all_finite(const double *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(value[i])) return 0;
    return 1;
}

#define CHECK_i(name, count, lowest, end) ((end) < 0 || indices_fit(image->name, count, lowest, end))
#define CHECK_d(name, count, lowest, end) all_finite(image->name, count)
#define CHECK_b(name, count, lowest, end) 1

static int too_many(char *why, size_t capacity, const char *of_what, int32_t number)
{
    (void)fm_print(why, capacity,
                   "the model has too many %s: %ld, the limit is %ld; divide the model, or declare "
                   "only the signals that are needed",
                   of_what, (long)number, (long)FM_MOST_ROWS);
    return 0;
}

int fm_image_read(fm_image *image, const void *bytes, size_t size, char *why, size_t capacity)
{
    struct {
#define S(name, meaning) int32_t name;
        FM_SIZES(S)
#undef S
        int32_t free;
    } end;
    cursor c = {bytes, size, NULL};
    if (!read_header(image, bytes, size, why, capacity)) return 0;
    (void)read_bytes(&c, sizeof(fm_header));
    const void *sizes = read_bytes(&c, sizeof image->n);
    if (sizes == NULL) return refuse(why, capacity, "the model image is damaged: it ends within its sizes");
    memcpy(&image->n, sizes, sizeof image->n);
#define S(name, meaning)                                                                                  \
    if (image->n.name < 0)                                                                                \
        return refuse(why, capacity, "the model image is damaged: impossible number of " meaning);        \
    if (image->n.name > FM_MOST_ROWS)                                                                       \
        return too_many(why, capacity, meaning, image->n.name);                                           \
    end.name = image->n.name;
    FM_SIZES(S)
#undef S
    end.free = -1;
    if (image->n.one != 1) return refuse(why, capacity, "the model image is damaged: its sizes are shifted");
#define A(name, type, columns, rows, bound, lowest, unit, section)                                        \
    {                                                                                                     \
        size_t count = (size_t)image->n.rows * columns;                                                   \
        image->name = read_array(&c, section, (uint64_t)count * sizeof(FM_C_TYPE_##type));                \
        if (image->name == NULL) return refuse(why, capacity, "the model image is damaged: it ends within " #name); \
        if (!CHECK_##type(name, count, lowest, end.bound))                                                \
            return refuse(why, capacity, "the model image is damaged: a value of " #name " is out of bounds"); \
    }
    FM_IMAGE_ARRAYS(A)
#undef A
    if (c.left != 0) return refuse(why, capacity, "the model image is damaged: it has bytes after its last array");
    return fm_image_check(image, why, capacity);
}
