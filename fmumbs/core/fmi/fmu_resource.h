/* fmu_resource.h: finds the image of the model. */
#ifndef FMU_RESOURCE_H
#define FMU_RESOURCE_H

#include "../maths/hidden.h"

#include <stddef.h>

FM_HIDDEN_BEGIN

typedef struct fmu_image {
    const void *bytes;
    size_t size;
    void *owned; /* to be freed by fmu_image_free; NULL if the image is part of the binary */
} fmu_image;

/* Reads <resources>/model.fmb, or uses the image that stands before it in one file (FM_EMBEDDED_IMAGE), whatever
 * `resources` is, which is a file URI or a path.
 * Returns 1, or 0 with the reason in `why`. */
int fmu_image_find(fmu_image *image, const char *resources, char *why, size_t capacity);
void fmu_image_free(fmu_image *image);

FM_HIDDEN_END

#endif
