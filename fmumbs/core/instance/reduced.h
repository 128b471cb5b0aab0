/* reduced.h: data of inverse dynamics (tree/inverse.c), and of the reduced formulation (loops/reduced.c), of size zero
 * unless the image asks for it. */
#ifndef FM_REDUCED_DATA_H
#define FM_REDUCED_DATA_H

#include "../maths/row_factor.h"
#include "link.h"

FM_HIDDEN_BEGIN

/* A link with all that it carries, as one rigid body in world axes about the link's origin (tree/composite.c). */
typedef struct fm_composite {
    double R[9], arm[3]; /* rotation from link axes; from the parent's origin */
    double m, h[3], J[9];
} fm_composite;

/* All in terms of links (tree/reversed.c). */
#define FM_REDUCED_ARRAYS(A)                                                                                     \
    A(double, R, 9 * n.links)      /* rotation from link axes to parent axes */                      \
    A(double, wrench, 6 * n.links) /* that the parent exerts, link axes, about the link's origin */  \
    A(double, tau, n.reduced * n.speeds)       /* applied generalised forces */                                  \
    A(double, udot, n.reduced * n.speeds)                                                                        \
    A(double, known, n.reduced * n.speeds)     /* accelerations of excited modes, else 0 */                      \
    A(double, force, n.reduced * n.speeds)                                                                       \
    A(double, part, n.reduced * n.speeds)                                                                        \
    A(double, x, n.reduced * n.speeds)         /* of the independent velocities */                               \
    A(fm_composite, composite, n.weighed * n.links)                                                              \
    A(double, phi, n.weighed * 6 * n.speeds)   /* the joints' modes, world axes */                                \
    A(double, mass, n.weighed * n.speeds * n.speeds) /* the mass matrix M */                                      \
    A(double, M, n.reduced * n.speeds * n.speeds) /* H' M H, in units of the coordinates, at least N's rows */      \
    A(double, N, n.reduced * n.speeds * n.speeds) /* lower triangle of N' M N, then its factor */                  \
    A(int32_t, free, n.reduced * n.speeds)     /* the coordinates of the independent velocities */                \
    A(double, b, n.reduced * n.rows)                                                                             \
    A(double, pivot, n.reduced * n.rows)       /* of each row in J J', in its order: a square of L's diagonal */  \
    A(double, size, n.reduced * n.rows) /* the largest bound of rows of its joint and kind, while rows compete */ \
    A(int32_t, row, n.reduced * n.rows)        /* the rows in use, in their order */

typedef struct fm_reduced {
#define A(type, name, count) type *name;
    FM_REDUCED_ARRAYS(A)
#undef A
    fm_reflections rows; /* J, in units of the coordinates */
    int32_t used;        /* 1: the motion follows from the reduced form; 0 meanwhile: assembly */
    int32_t frees;       /* number of independent velocities */
} fm_reduced;

FM_HIDDEN_END

#endif
