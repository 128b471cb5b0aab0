/* image.h: the constant part: the sizes and arrays of an image, by name. */
#ifndef FM_IMAGE_H
#define FM_IMAGE_H

#include "../maths/hidden.h"
#include "../fmumbs.h"
#include "schemes.h"
#include "table.h"
#include "variables.h"

FM_HIDDEN_BEGIN

#define FM_JOINT_MODES 6  /* most screws that a link may have */

typedef struct fm_sizes {
#define S(name, meaning) int32_t name;
    FM_SIZES(S)
#undef S
} fm_sizes;

#define FM_C_TYPE_i int32_t
#define FM_C_TYPE_d double
#define FM_C_TYPE_b char

/* The arrays of the image, by name; table.h gives their shapes and units. */
typedef struct fm_image {
    fm_sizes n;
    uint8_t hash[32];
#define A(name, type, columns, rows, bound, lowest, unit, section) const FM_C_TYPE_##type *name;
    FM_IMAGE_ARRAYS(A)
#undef A
} fm_image;

FM_HIDDEN_END

#endif
