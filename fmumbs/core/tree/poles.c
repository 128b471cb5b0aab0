/* poles.c: positions of a link of several screws at which the rates of its screws grow without bound.
 *
 * With the rates r = Y [u; kappa] of general.c, A_f is singular at some positions. With A_f n = 0 and w' A_f = 0 there,
 * and a distance t from there,
 *     A_f^-1 = n w' / (t w' A_f' n) + what stays finite.
 * If w weighs a row of u, or an excited screw, elements of Y grow as 1/t and reverse: of turns z, x, y at x = 90
 * degrees. If it weighs rows of zero alone, these become dependent and Y stays smooth: such a passage is harmless. The
 * determinant does not tell the two apart, and keeps its sign where two rows vanish at once, as those of a rolling
 * disc.
 */
#include "poles.h"

#include "general.h"

#include <math.h>
#include <string.h>

/* times its column: an element that has grown to this reverses at a pole; one that fell to the inverse, at zero. At a
 * part t of the way from there they are 1/t and t, and what cancels in a harmless passage leaves eps/t of Y:
 * eps^(-1/4), in the middle between 1 and eps^(-1/2), where round-off would be as large as t */
#define FM_POLE 8192.0
#define FM_POLE_SECANTS 2   /* places beside the zero of a line */
#define FM_POLE_HALVINGS 52 /* as many as parts of the way have digits */

/* Y at a part of the way. */
static void place_on_way(const fm_instance *s, fm_general *g, const double *from, const double *to, double part)
{
    double p[FM_JOINT_MODES];
    for (int32_t k = 0; k < g->screws; k++) p[k] = from[k] + part * (to[k] - from[k]);
    fm_general_at(s, g, p);
}

/* Y at both ends of a way. The link itself is large: there is one copy of it on the stack. */
typedef struct {
    double a[FM_JOINT_MODES][FM_JOINT_MODES], b[FM_JOINT_MODES][FM_JOINT_MODES];
} way_ends;

/* The largest element of a column at both ends, in the units of the screws; at least 1 of an excited one, which may be
 * zero. */
static double size_of_column(const fm_general *g, const way_ends *ends, int32_t column)
{
    double size = column < g->free ? 0.0 : 1.0 / g->unit[g->rows + column - g->free];
    for (int32_t i = 0; i < g->rows; i++)
        size = fmax(size, fmax(fabs(ends->a[i][column]), fabs(ends->b[i][column])) / g->unit[i]);
    return size;
}

/* Whether an element of Y reverses at a pole between two places, where its signs differ. The first two
 * places are beside the zero of a line, to either side: there an element that reverses at zero is small. */
static int grows(const fm_instance *s, fm_general *g, const way_ends *ends, const double *from, const double *to,
                 int32_t row, int32_t column)
{
    const double size = g->unit[row] * size_of_column(g, ends, column);
    double before = ends->a[row][column], after = ends->b[row][column], low = 0.0, high = 1.0;
    for (int n = 0; n < FM_POLE_SECANTS + FM_POLE_HALVINGS; n++) {
        const double most = fmax(fabs(before), fabs(after)), fall = before - after;
        double part = 0.5;
        if (most > FM_POLE * size) return 1;
        if (most * FM_POLE < size) return 0;
        if (n < FM_POLE_SECANTS && isfinite(fall)) {
            const double beside = copysign(0.5 * size / FM_POLE, fabs(before) < most ? after : before);
            part = (before - beside) / fall;
        }
        const double at = low + part * (high - low);
        place_on_way(s, g, from, to, at);
        const double now = g->Y[row][column];
        if (now * before > 0.0) low = at, before = now;
        else high = at, after = now;
    }
    return !(fmax(fabs(before), fabs(after)) < size); /* at the pole itself Y is not finite */
}

/* Whether a pole lies between two positions of a link's screws. */
int fm_pole_between(const fm_instance *s, const fm_general *link, const double *from, const double *to)
{
    fm_general g = *link;
    way_ends ends;
    fm_general_at(s, &g, from);
    memcpy(ends.a, g.Y, sizeof g.Y);
    fm_general_at(s, &g, to);
    memcpy(ends.b, g.Y, sizeof g.Y);
    for (int32_t i = 0; i < link->rows; i++)
        for (int32_t j = 0; j < link->speeds; j++)
            if (ends.a[i][j] * ends.b[i][j] < 0.0 && grows(s, &g, &ends, from, to, i, j)) return 1;
    return 0;
}

/* Whether one of its turns leads to a pole within an angle [rad] to either side, or a slide within a part of the
 * model's length; 0: slides do not count. */
int fm_pole_within(const fm_instance *s, const fm_general *link, const double *at, double angle, double part)
{
    double from[FM_JOINT_MODES], to[FM_JOINT_MODES];
    for (int32_t k = 0; k < link->screws; k++) {
        const int32_t i = link->place[k];
        const double way = s->image.screw_pitch[link->first + k] != 0.0 ? angle : part * link->unit[i];
        if (way == 0.0) continue;
        memcpy(from, at, (size_t)link->screws * sizeof *at);
        memcpy(to, at, (size_t)link->screws * sizeof *at);
        from[i] -= way;
        to[i] += way;
        if (fm_pole_between(s, link, from, to)) return 1;
    }
    return 0;
}
