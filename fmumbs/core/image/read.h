/* read.h: functions of read.c. */
#ifndef FM_READ_H
#define FM_READ_H

#include "image.h"

FM_HIDDEN_BEGIN

int fm_image_read(fm_image *image, const void *bytes, size_t size, char *why, size_t capacity);

FM_HIDDEN_END

#endif
