/* stages.h: what the schemes share: their stages, the error allowed, the fifth root. */
#ifndef FM_STAGES_H
#define FM_STAGES_H

#include "../instance/instance.h"
#include "../motion/scratch.h"
#include "scratch.h"

#include <math.h>

FM_HIDDEN_BEGIN

static inline int fm_all_finite(const double *value, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (!isfinite(value[i])) return 0;
    return 1;
}

/* What state variable i counts as at least: 1 rad or the model's length, rates those times powers of the step's rate.
 */
static inline double fm_unit_of(const fm_instance *s, int32_t i)
{
    double unit = s->scale[i];
    for (int32_t j = 0; j < s->order[i]; j++) unit *= s->work.rate;
    return unit;
}

/* The allowed error of state variable i of magnitude |y|. */
static inline double fm_weight(const fm_instance *s, int32_t i, double size)
{
    const double least = fm_unit_of(s, i);
    return s->options[FM_OPTION_TOLERANCE] * (size > least ? size : least);
}

static inline double *fm_stage(const fm_instance *s, int j)
{
    return s->integrator->stage + (size_t)j * (size_t)s->model.ny;
}

/* The fifth root of a positive number by frexp and Newton's method. (pow would require a recent C library.) */
static inline double fm_fifth_root(double x)
{
    int exponent;
    double part = frexp(x, &exponent), root;
    while (exponent % 5 != 0) {
        part *= 0.5;
        exponent++;
    }
    root = 0.6 + 0.4 * part;
    for (int i = 0; i < 8; i++) root -= (root - part / ((root * root) * (root * root))) / 5.0;
    return ldexp(root, exponent / 5);
}

static inline double fm_eighth_root(double x)
{
    return sqrt(sqrt(sqrt(x)));
}

/* Whether a step that comes near a singular position restarts: there accelerations are those of the nearest state on
 * the branch, and the errors of the stages cancel only if this is so in the whole step. */
static inline int fm_begins_on_branch(fm_instance *s)
{
    if (!s->loop.near_singular || s->singular->on_branch) return 0;
    s->singular->on_branch = 1;
    return 1;
}

FM_HIDDEN_END

#endif
