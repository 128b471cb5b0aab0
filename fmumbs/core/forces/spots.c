/* spots.c: the pieces in which the laws of the spots of contacts are, and the axes in which their bristles are held. */
#include "spots.h"

#include "../instance/instance.h"
#include "../maths/vectors.h"
#include "laws.h"

#include <string.h>

/* Whether a law of a spot is in its piece: as the step began, or else at x. */
int fm_spot_is_in(const fm_instance *s, int32_t i, int which, double x)
{
    int32_t piece = -1;
    const int32_t law = s->image.spot_law[i] + which;
    const double *range = s->image.law_range + 5 * s->image.law_first[law];
    if (s->work.still == 1 || !fm_law_slides(s, law, &piece)) return x >= range[0] && x < range[1];
    return piece >= 0;
}

/* Whether a step began without contact. */
int fm_spot_is_open(const fm_instance *s, int32_t i)
{
    const double *mode = s->laws.use + 2 * s->image.spot_law[i];
    return mode[0] == -1.0 && mode[1] == FM_SLIDING && s->work.still != 1;
}

/* The axes in which bristles are held: those of B's point. */
void fm_spot_axes(const fm_instance *s, int32_t i, double R[9])
{
    const int32_t point = s->image.spot_Q[i], link = s->image.point_link[point];
    const double *own = s->image.point_R + 9 * point;
    if (link < 0) memcpy(R, own, 9 * sizeof *R);
    else product(s->world[link].R, own, R);
}
