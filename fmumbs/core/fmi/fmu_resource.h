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

/* Reads <resources>/model.fmb, or uses the embedded image (FM_EMBEDDED_IMAGE). `resources` is a file URI or a path.
 * Returns 1, or 0 with the reason in `why`. */
int fmu_image_find(fmu_image *image, const char *resources, char *why, size_t capacity);
void fmu_image_free(fmu_image *image);

#ifdef FM_EMBEDDED_IMAGE
extern const unsigned char fm_embedded_image[];
extern const unsigned long fm_embedded_image_size;
#endif

FM_HIDDEN_END

#endif
