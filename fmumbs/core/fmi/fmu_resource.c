/* fmu_resource.c: finds the model image from an importer's resource location.
 *
 * RFC 3986 and RFC 8089 define file URIs: file:/path, file:///path, file://localhost/path, file://host/share/path, with
 * %XX for bytes of UTF-8. Importers also pass plain paths, percent signs that are not escapes, file://C:/path, and
 * backslashes for slashes. The possible interpretations are tried in order, the standard's first.
 *
 * With FM_EMBEDDED_IMAGE the image is an array that stands before all of this in one file (export/sources.py), and no
 * file is read.
 */
#if defined(_MSC_VER) && !defined(_CRT_SECURE_NO_WARNINGS)
#define _CRT_SECURE_NO_WARNINGS
#endif
#include "../maths/text.h"
#include "fmu_resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FM_EMBEDDED_IMAGE

int fmu_image_find(fmu_image *image, const char *resources, char *why, size_t capacity)
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

static const wchar_t MARK[] = L"\\\\?\\"; /* of a path that Windows takes as it is */
enum { SHORT = 200 }; /* a relative path may become longer than MAX_PATH, 260 */

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

/* Decodes UTF-8 to UTF-16; `wide` has room for two units a byte. */
static void widen(const char *path, wchar_t *wide)
{
    const unsigned char *next = (const unsigned char *)path;
    while (*next) {
        unsigned long code = code_point(&next);
        if (code > 0xFFFFUL) {
            *wide++ = (wchar_t)(0xD800UL + ((code - 0x10000UL) >> 10));
            code = 0xDC00UL + ((code - 0x10000UL) & 0x3FFUL);
        }
        *wide++ = (wchar_t)code;
    }
    *wide = 0;
}

/* The path that Windows opens although it is longer than MAX_PATH: absolute, with backslashes, and marked. NULL: there
 * is no memory, or no such path. */
static wchar_t *long_path(const wchar_t *wide)
{
    wchar_t *full = _wfullpath(NULL, wide, 0), *marked = full ? malloc((wcslen(full) + 8) * sizeof *full) : NULL;
    const int shared = full && full[0] == L'\\' && full[1] == L'\\';
    if (marked) {
        wcscpy(marked, MARK);
        if (shared) wcscat(marked, L"UNC");
        wcscat(marked, full + (shared ? 1 : 0));
    }
    free(full);
    return marked;
}

static FILE *open_utf8(const char *path)
{
    wchar_t *wide = calloc(2 * strlen(path) + 1, sizeof *wide), *longer, *at;
    FILE *file;
    int marked;
    if (!wide) return NULL;
    widen(path, wide);
    marked = wcsncmp(wide, MARK, wcslen(MARK)) == 0;
    for (at = wide; marked && *at; at++)
        if (*at == L'/') *at = L'\\'; /* which Windows does only in other paths */
    file = _wfopen(wide, L"rb");
    if (!file && !marked && wcslen(wide) >= SHORT && (longer = long_path(wide)) != NULL) {
        file = _wfopen(longer, L"rb");
        free(longer);
    }
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

static int is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* The path in a file URI, still encoded; a plain path as it is. A host is kept: //host/path, as are the two slashes of
 * file:////host/path and of file://///host/path. */
static const char *encoded_path(const char *location)
{
    const size_t scheme = begins(location, "file:"), host = sizeof "localhost" - 1;
    const char *rest = location + scheme;
    if (!scheme || !is_slash(rest[0]) || !is_slash(rest[1])) return rest;
    if (begins(rest + 2, "localhost") && is_slash(rest[2 + host])) return rest + 2 + host;
    if (!is_slash(rest[2])) return is_drive(rest + 2) ? rest + 2 : rest;
    while (is_slash(rest[2]) && is_slash(rest[3]) && is_slash(rest[4])) rest++;
    return rest + 2;
}

/* Appends the image's name to a folder's path. */
static void add_name(char *path)
{
    size_t n = strlen(path);
    while (n > 0 && is_slash(path[n - 1])) n--;
    memcpy(path + n, IMAGE_NAME, sizeof IMAGE_NAME);
}

static FILE *open_path(char *path)
{
    FILE *file;
    add_name(path);
    file = open_utf8(path);
    if (file || !is_slash(path[0]) || !is_drive(path + 1)) return file;
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

int fmu_image_find(fmu_image *image, const char *resources, char *why, size_t capacity)
{
    const char *problem = "cannot be opened";
    char *path;
    FILE *file = NULL;
    image->bytes = image->owned = NULL;
    image->size = 0;
    if (!resources || !*resources) {
        (void)fm_print(why, capacity,
                       "the location of 'resources' was not given; this binary reads the model there, "
                       "and one compiled from 'sources' needs no location");
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
