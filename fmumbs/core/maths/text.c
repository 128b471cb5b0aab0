/* text.c: formatted text that does not depend on the host's locale, which may have a decimal comma, nor on how a C
 * library writes what is not a number.
 *
 * Conversions: %s, %c, %d, %u, %x and %X with l, ll or z, those of a double, and %%; no '*'.
 */
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 400 /* %f of the largest double */ };

typedef struct writing {
    char *out;
    size_t capacity, length; /* length: of the whole text, without its end */
} writing;

static void append(writing *w, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++, w->length++)
        if (w->length + 1 < w->capacity) w->out[w->length] = text[i];
}

/* Replaces whatever the locale writes as decimal point, one character or several. */
static void place_point(char *number)
{
    const size_t before = strspn(number, "+- 0123456789"), other = strcspn(number + before, "0123456789eE");
    if (other == 0) return;
    number[before] = '.';
    memmove(number + before + 1, number + before + other, strlen(number + before + other) + 1);
}

static void append_double(writing *w, const char *conversion, double value)
{
    char number[LONGEST];
    if (isfinite(value)) {
        (void)snprintf(number, sizeof number, conversion, value);
        place_point(number);
    } else {
        (void)snprintf(number, sizeof number, "%s", isnan(value) ? "nan" : value < 0.0 ? "-inf" : "inf");
    }
    append(w, number, strlen(number));
}

/* As many bytes of `text` as the precision of %s allows, and no part of a character of UTF-8. */
static void append_string(writing *w, const char *conversion, const char *text)
{
    const char *point = strchr(conversion, '.');
    size_t most = point == NULL ? (size_t)-1 : 0, n = 0;
    for (; point != NULL && *++point != 's';) most = 10 * most + (size_t)(*point - '0');
    while (n < most && text[n] != 0) n++;
    while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) n--;
    append(w, text, n);
}

int fm_vprint(char *out, size_t capacity, const char *format, va_list values)
{
    writing w = {out, capacity, 0};
    for (;;) {
        const size_t plain = strcspn(format, "%");
        append(&w, format, plain);
        format += plain;
        if (*format == 0) break;
        const size_t length = strcspn(format + 1, "%scduxXaAeEfFgG") + 2;
        char conversion[32], number[LONGEST];
        memcpy(conversion, format, length);
        conversion[length] = 0;
        format += length;
        const char kind = conversion[length - 1], size = conversion[length - 2];
        const int twice = length > 3 && conversion[length - 3] == 'l';
        if (kind == '%') {
            append(&w, "%", 1);
        } else if (kind == 's') {
            append_string(&w, conversion, va_arg(values, const char *));
        } else if (strchr("aAeEfFgG", kind) != NULL) {
            append_double(&w, conversion, va_arg(values, double));
        } else {
            if (size == 'l' && twice) (void)snprintf(number, sizeof number, conversion, va_arg(values, long long));
            else if (size == 'l') (void)snprintf(number, sizeof number, conversion, va_arg(values, long));
            else if (size == 'z') (void)snprintf(number, sizeof number, conversion, va_arg(values, size_t));
            else (void)snprintf(number, sizeof number, conversion, va_arg(values, int));
            append(&w, number, strlen(number));
        }
    }
    if (capacity > 0) out[w.length < capacity ? w.length : capacity - 1] = 0;
    return (int)w.length;
}

/* The shortest texts of n numbers each, of at least 6 digits, that differ if the numbers do. */
void fm_print_apart(const double *a, const double *b, size_t n, char *of_a, char *of_b, size_t capacity)
{
    for (int digits = 6; digits <= 17; digits++) {
        writing text[2] = {{of_a, capacity, 0}, {of_b, capacity, 0}};
        char conversion[16];
        (void)snprintf(conversion, sizeof conversion, "%%.%dg", digits);
        for (size_t i = 0; i < n; i++)
            for (int j = 0; j < 2; j++) {
                if (i > 0) append(text + j, ", ", 2);
                append_double(text + j, conversion, j == 0 ? a[i] : b[i]);
            }
        for (int j = 0; j < 2 && capacity > 0; j++)
            text[j].out[text[j].length < capacity ? text[j].length : capacity - 1] = 0;
        if (strcmp(of_a, of_b) != 0) return;
    }
}

int fm_print(char *out, size_t capacity, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int length = fm_vprint(out, capacity, format, values);
    va_end(values);
    return length;
}
