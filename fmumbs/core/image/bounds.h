/* bounds.h: functions of bounds.c. */
#ifndef FM_BOUNDS_H
#define FM_BOUNDS_H

#include "image.h"

FM_HIDDEN_BEGIN

/* An array of parameters: `rows` rows, the first `diagonal` of whose columns are not beside the diagonal of a matrix.
 */
typedef struct fm_bounded_array {
    const char *name;
    const double *value;
    int32_t kind, rows, columns, diagonal;
} fm_bounded_array;

/* Those of an image m or an instance of it, `of`. */
#define FM_BOUNDED(of, kind, array, columns, rows) {#array, (of)->array, FM_##kind, m->n.rows, columns, 3},
#define FM_BOUNDED_SETTING(of, kind, name, array, first, components) \
    {name, (of)->array + first, FM_##kind, 1, components, components},
#define FM_BOUNDED_ARRAYS(of)                                                                                \
    {                                                                                                        \
        FM_PARAMETERS(FM_BOUNDED, of)                                                                        \
        {"coupled_stiffness", (of)->coupled_stiffness, FM_J_STIFFNESS, m->n.coupled, 1, 0},                  \
        {"coupled_damping", (of)->coupled_damping, FM_J_DAMPING, m->n.coupled, 1, 0},                        \
        FM_BOUNDED(of, J_STIFFNESS, screw_stiffness, 1, screws)                                              \
        FM_BOUNDED(of, J_DAMPING, screw_damping, 1, screws)                                                  \
        FM_BOUNDED(of, J_REST, screw_rest, 1, screws)                                                        \
        FM_SETTINGS(FM_BOUNDED_SETTING, of)                                                                  \
    }

int fm_all_fit(const fm_bounded_array *array, size_t count, char *why, size_t capacity);
int fm_fits(int32_t kind, int diagonal, double value, char *why, size_t capacity);
int fm_solid_fits(const double inertia[6], int measured, char *why, size_t capacity);
int fm_has_negative(double *a, int32_t n);

FM_HIDDEN_END

#endif
