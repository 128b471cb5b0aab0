/* loop_values.c: outputs about closed loops: active rows, mobility, the constraint Jacobian. */
#include "loop_values.h"

#include "../instance/instance.h"
#include "../tree/reversed.h"
#include "../loops/constraints.h"
#include "../loops/jacobian.h"
#include "../loops/projection.h"
#include "update.h"

#include <string.h>

int32_t fm_mobility(const fm_instance *s)
{
    return s->image.n.speeds - s->image.n.excitations - fm_active_rows(s);
}

int32_t fm_excited(const fm_instance *s)
{
    return s->image.n.excitations;
}

size_t fm_active(const fm_instance *s, int32_t *active, size_t capacity)
{
    const size_t rows = (size_t)s->image.n.rows;
    for (size_t i = 0; i < rows && i < capacity; i++) active[i] = s->row_active[i] > 0.0;
    return rows;
}

size_t fm_do_jacobian(fm_instance *s, double *J, size_t capacity)
{
    const size_t rows = (size_t)s->image.n.rows, speeds = (size_t)s->image.n.speeds;
    if (rows * speeds == 0 || capacity < rows * speeds) return rows * speeds;
    fm_update(s, FM_VALID_WORLD);
    memset(J, 0, rows * speeds * sizeof *J);
    fm_ends ends = {.joint = -1};
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        fm_constraint row;
        if (s->image.row_kind[i] == FM_ROW_GIVEN) continue;
        fm_constraint_at(s, i, 0, &ends, &row);
        fm_whole_row(s, i, &row, J + (size_t)i * speeds);
        if (s->image.row_kind[i] != FM_ROW_COUPLED) fm_from_links(s, J + (size_t)i * speeds);
    }
    return rows * speeds;
}

size_t fm_do_violations(fm_instance *s, double *c, size_t capacity)
{
    const size_t rows = (size_t)s->image.n.rows;
    if (rows == 0 || capacity < 2 * rows) return 2 * rows;
    fm_update(s, FM_VALID_WORLD);
    s->work.evaluated = s->y;
    fm_ends ends = {.joint = -1};
    for (int32_t i = 0; i < s->image.n.rows; i++) {
        fm_constraint row;
        fm_constraint_at(s, i, 0, &ends, &row);
        c[2 * i] = row.c[0], c[2 * i + 1] = row.c[1];
    }
    return 2 * rows;
}
