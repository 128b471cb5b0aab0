/* scheme.h: what a scheme of integration does: a constant for each of image/schemes.h, in a file of its own. */
#ifndef FM_SCHEME_H
#define FM_SCHEME_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

typedef struct fm_scheme fm_scheme;
struct fm_scheme {
    /* With fixed steps (fixed_steps.c), else NULL: a step of h from the present state y at time t, whose end it leaves
     * in integrator.trial and its slope at the start in stage 0. 0: it is too long for the scheme to be stable. */
    int (*step)(fm_instance *s, double t, double h);

    /* With error control (integrate.c): a trial step of h from the head at time t, the number `rejected` + 1 from
     * there. Leaves its end in integrator.trial; returns its error relative to the allowed one, NaN or INFINITY where
     * it found no end. */
    double (*trial)(fm_instance *s, double t, double h, int rejected);
    /* The same of its dense output, of a step that is read within; NULL: that is as accurate as the step. */
    double (*within)(fm_instance *s, double t, double h);
    /* Keeps the dense output of the trial of h in s->dense; `within`: it is read between its ends. */
    void (*keep)(fm_instance *s, double h, int within);
    /* The factor from h to the next step, whether the trial of this error is accepted or not. */
    double (*factor)(const fm_instance *s, const fm_scheme *scheme, double h, double error);
    double (*root)(double x); /* of its order, which step sizes follow */
    int32_t last;             /* the stage with the slope at the end of an accepted trial */
    int32_t implicit;         /* 1: its steps count as solver.implicit */
    const fm_scheme
        *stand_in; /* of an implicit scheme: an explicit one, which takes its place near singular positions */

    const fm_scheme *pair[2]; /* of a scheme that chooses between two: the explicit and the implicit one, else NULL */
};

#define S(number, id, name, order, fixed, stages, terms, method, purpose) extern const fm_scheme fm_scheme_##name;
FM_SCHEMES(S)
#undef S

/* The scheme of the options. */
static inline const fm_scheme *fm_scheme_of(const fm_instance *s)
{
    static const fm_scheme *const schemes[] = {
#define S(number, id, name, order, fixed, stages, terms, method, purpose) &fm_scheme_##name,
        FM_SCHEMES(S)
#undef S
    };
    return schemes[(int32_t)s->options[FM_OPTION_SCHEME]];
}

FM_HIDDEN_END

#endif
