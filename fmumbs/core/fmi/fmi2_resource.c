/* fmi2_resource.c: finds the model image from fmi2Instantiate's resource location.
 *
 * RFC 3986 and RFC 8089 define file URIs: file:/path, file:///path, file://localhost/path, file://host/share/path, with
 * %XX for bytes of UTF-8. Importers also pass plain paths, percent signs that are not escapes, and file://C:/path. The
 * possible interpretations are tried in order, the standard's first.
 *
 * With FM_EMBEDDED_IMAGE the image is an array in the binary, and no file is read.
 */
#if defined(_MSC_VER) && !defined(_CRT_SECURE_NO_WARNINGS)
#define _CRT_SECURE_NO_WARNINGS
#endif
#include "fmi2_component.h"
#include "../maths/text.h"
#include "fmi2_resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FM_EMBEDDED_IMAGE

int fmu_image_find(fmu_image *image, fmi2String resources, char *why, size_t capacity)
{
    (void)resources, (void)why, (void)capacity;
    image->bytes = fm_embedded_image;
    image->size = (size_t)fm_embedded_image_size;
    image->owned = NULL;
    return 1;
}

#else

static const char IMAGE_NAME[] = "/model.fmb";

/* Opening a file whose path is UTF-8 -------------------------------------------------------------------- */

#ifdef _WIN32

#include <wchar.h>

/* One code point of UTF-8; an invalid byte stands for itself. */
static unsigned long code_point(const unsigned char **next)
{
    const unsigned char *s = *next;
    int more = s[0] >= 0xF0 ? 3 : s[0] >= 0xE0 ? 2 : s[0] >= 0xC0 ? 1 : 0;
    unsigned long code = s[0] & (more ? 0x3FUL >> more : 0x7FUL);
    int i;
    for (i = 1; i <= more; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            *next = s + 1;
            return s[0];
        }
        code = code << 6 | (s[i] & 0x3FUL);
    }
    *next = s + more + 1;
    return more || s[0] < 0x80 ? code : s[0];
}

static FILE *open_utf8(const char *path)
{
    const unsigned char *next = (const unsigned char *)path;
    wchar_t *wide = calloc(2 * strlen(path) + 1, sizeof *wide);
    FILE *file;
    size_t n = 0;
    if (!wide) return NULL;
    while (*next) {
        unsigned long code = code_point(&next);
        if (code > 0xFFFFUL) {
            wide[n++] = (wchar_t)(0xD800UL + ((code - 0x10000UL) >> 10));
            code = 0xDC00UL + ((code - 0x10000UL) & 0x3FFUL);
        }
        wide[n++] = (wchar_t)code;
    }
    wide[n] = 0;
    file = _wfopen(wide, L"rb");
    free(wide);
    return file;
}

#else

static FILE *open_utf8(const char *path)
{
    return fopen(path, "rb");
}

#endif

/* Interpretations of a resource location -------------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The length of `prefix` if `text` begins with it, ignoring case, else 0. */
static size_t begins(const char *text, const char *prefix)
{
    size_t n = 0;
    while (prefix[n] && lower(text[n]) == prefix[n]) n++;
    return prefix[n] ? 0 : n;
}

static int is_drive(const char *text)
{
    return lower(text[0]) >= 'a' && lower(text[0]) <= 'z' && (text[1] == ':' || text[1] == '|');
}

static int hex_digit(char c)
{
    c = lower(c);
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Copies with %XX decoded; a percent sign that is not an escape, or escapes a zero, is kept. */
static void decode(char *to, const char *from)
{
    while (*from) {
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        if (low >= 0 && high * 16 + low > 0) {
            *to++ = (char)(high * 16 + low);
            from += 3;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

static void copy(char *to, const char *from)
{
    memcpy(to, from, strlen(from) + 1);
}

/* The path in a file URI, still encoded; a plain path as it is. A host is kept: //host/path. */
static const char *encoded_path(const char *location)
{
    size_t scheme = begins(location, "file:");
    const char *rest = location + scheme;
    size_t authority;
    if (!scheme || strncmp(rest, "//", 2) != 0) return rest;
    authority = begins(rest, "//localhost/");
    if (authority) return rest + authority - 1;
    return rest[2] == '/' || is_drive(rest + 2) ? rest + 2 : rest;
}

/* Appends the image's name to a folder's path. */
static void add_name(char *path)
{
    size_t n = strlen(path);
    while (n > 0 && (path[n - 1] == '/' || path[n - 1] == '\\')) n--;
    memcpy(path + n, IMAGE_NAME, sizeof IMAGE_NAME);
}

static FILE *open_path(char *path)
{
    FILE *file;
    add_name(path);
    file = open_utf8(path);
    if (file || path[0] != '/' || !is_drive(path + 1)) return file;
    path[2] = ':'; /* /C:/path and /C|/path are C:/path */
    return open_utf8(path + 1);
}

/* `path` must have room for the location and the image's name. */
static FILE *open_image(const char *location, char *path)
{
    const char *encoded = encoded_path(location);
    void (*meaning)(char *, const char *) = begins(location, "file:") ? decode : copy;
    FILE *file;
    meaning(path, encoded);
    file = open_path(path);
    if (file || !strchr(encoded, '%')) return file;
    meaning = meaning == decode ? copy : decode;
    meaning(path, encoded);
    return open_path(path);
}

/* Reading ----------------------------------------------------------------------------------------------- */

static const char *read_all(fmu_image *image, FILE *file)
{
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size <= 0 || fseek(file, 0, SEEK_SET) != 0) return "is empty or cannot be read";
    image->size = (size_t)size;
    image->owned = malloc(image->size);
    if (!image->owned) return "does not fit into memory";
    if (fread(image->owned, 1, image->size, file) != image->size) return "cannot be read to its end";
    image->bytes = image->owned;
    return NULL;
}

int fmu_image_find(fmu_image *image, fmi2String resources, char *why, size_t capacity)
{
    const char *problem = "cannot be opened";
    char *path;
    FILE *file = NULL;
    image->bytes = image->owned = NULL;
    image->size = 0;
    if (!resources || !*resources) {
        (void)fm_print(why, capacity, "no resource location was given; pass the URI of 'resources'");
        return 0;
    }
    path = malloc(strlen(resources) + sizeof IMAGE_NAME);
    if (path) file = open_image(resources, path);
    if (file) {
        problem = read_all(image, file);
        (void)fclose(file);
    }
    if (problem) {
        (void)fm_print(why, capacity, "the file '%s' in '%s' %s; unzip the FMU with its folder 'resources'",
                       IMAGE_NAME + 1, resources, problem);
        fmu_image_free(image);
    }
    free(path);
    return problem == NULL;
}

#endif

void fmu_image_free(fmu_image *image)
{
    free(image->owned);
    image->bytes = image->owned = NULL;
    image->size = 0;
}
