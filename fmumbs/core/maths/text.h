/* text.h: functions of text.c. */
#ifndef FM_TEXT_H
#define FM_TEXT_H

#include "hidden.h"

#include <stdarg.h>
#include <stddef.h>

FM_HIDDEN_BEGIN

/* As snprintf and vsnprintf, but the same text on every platform and in every locale of the host. */
#if defined(__GNUC__) && !defined(_WIN32)
__attribute__((format(printf, 3, 4)))
#endif
int fm_print(char *out, size_t capacity, const char *format, ...);
void fm_print_apart(const double *a, const double *b, size_t n, char *of_a, char *of_b, size_t capacity);
int fm_vprint(char *out, size_t capacity, const char *format, va_list values);

FM_HIDDEN_END

#endif
