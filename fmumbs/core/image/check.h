/* check.h: functions of check.c. */
#ifndef FM_CHECK_H
#define FM_CHECK_H

#include "image.h"

FM_HIDDEN_BEGIN

int fm_image_check(const fm_image *m, char *why, size_t capacity);

FM_HIDDEN_END

#endif
