/* levels.c: runs the core on one level of its kernels; linked with the core's archive of one compiler. */
#include "fmumbs.h"

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

EXPORT int32_t level_best(void)
{
    return fm_level_best();
}

/* An instance whose kernels are of that level, assembled; NULL and a message if it cannot be made. */
EXPORT fm_instance *level_open(const void *image, size_t bytes, int32_t level, char *message, size_t capacity)
{
    fm_instance *s = NULL;
    if (fm_open(image, bytes, &s, message, capacity) != FM_OK) return NULL;
    if (fm_level_use(s, level) == FM_OK && fm_assemble(s, 0.0) == FM_OK) return s;
    fm_close(s);
    return NULL;
}

/* The accelerations `times` times at the present state. */
EXPORT int level_evaluate(fm_instance *s, size_t times)
{
    return fm_evaluate(s, times) == FM_OK;
}

/* The motion from the saved state to `end` [s], `times` times. */
EXPORT int level_run(fm_instance *s, const void *start, size_t size, double end, size_t times)
{
    int good = 1;
    for (size_t i = 0; i < times && good; i++)
        good = fm_state_load(s, start, size) == FM_OK && fm_step(s, end) == FM_OK;
    return good;
}

EXPORT size_t level_state_size(fm_instance *s)
{
    return fm_state_size(s);
}

EXPORT int level_state_save(fm_instance *s, void *bytes, size_t size)
{
    return fm_state_save(s, bytes, size) == FM_OK;
}

EXPORT void level_close(fm_instance *s)
{
    fm_close(s);
}
