/* missed.c: contacts that begin and end between two looks, which fixed steps and hosts take at the ends of steps alone.
 *
 * Gap and rate at both ends of a step, of parts h of its length, give the gap within as the cubic
 *
 *     g(h) = g_0 + C h + B h^2 + A h^3,   C = T g'_0,   A = T (g'_0 + g'_1) - 2 (g_1 - g_0),   B = g_1 - g_0 - C - A,
 *
 * least at h = -C/(B + sqrt(B^2 - 3 A C)). A contact that is open at both ends and closed there was missed. Schemes
 * that locate where contacts begin and end are not watched.
 */
#include "missed.h"

#include "../image/kinds.h"
#include "../instance/instance.h"
#include "../maths/text.h"
#include "contact.h"
#include "laws.h"

#include <math.h>

/* Gap and rate of the spots at y, by the number of their laws. */
static void look(fm_instance *s, const double *y, double *gaps)
{
    fm_laws_place(s, y);
    for (int32_t i = 0; i < s->image.n.spots; i++)
        fm_spot_watch(s, i, FM_SPOT_TOUCHES, FM_SPOT_TOUCHES + 1, y, gaps + 2 * i);
}

/* Whether a gap that is open at both ends of a step was closed within by more than `near`. */
static int dips(const double *from, const double *to, double span, double near)
{
    const double change = to[0] - from[0], C = span * from[1], A = C + span * to[1] - 2.0 * change, B = change - C - A,
                 square = B * B - 3.0 * A * C;
    if (!(C < 0.0 && square >= 0.0)) return 0;
    const double h = -C / (B + sqrt(square)), gap = from[0] + h * (C + h * (B + h * A));
    return h > 0.0 && h < 1.0 && gap < -near;
}

/* Notes the first contact that a step of `span` to time t missed, from `before` to `after`, unless one has been noted.
 * Requires the modes of the step. */
void fm_watch_contacts(fm_instance *s, double t, double span, const double *before, const double *after)
{
    double *from = s->laws.looks, *to = from + 2 * s->image.n.laws;
    if (s->image.n.spots == 0 || s->clock[FM_PASSED_OVER] != 0.0 || !(span > 0.0)) return;
    look(s, before, from);
    look(s, after, to);
    for (int32_t i = 0; i < s->image.n.spots && s->clock[FM_PASSED_OVER] == 0.0; i++, from += 2, to += 2) {
        const double near = fm_law_near_position(s, s->image.spot_law[i], from[0]);
        if (!(fm_spot_is_open(s, i) && to[0] > 0.0 && dips(from, to, span, near))) continue;
        s->clock[FM_PASSED_OVER] = i + 1;
        s->clock[FM_PASSED_OVER_AT] = t;
        s->clock[FM_PASSED_OVER_IN] = span;
    }
}

/* Says which contact a step missed first; 0: none was. */
int fm_say_missed(const fm_instance *s, char *out, size_t capacity)
{
    const double spot = s->clock[FM_PASSED_OVER];
    if (!(spot >= 1.0 && spot <= s->image.n.spots)) return 0;
    (void)fm_print(out, capacity,
                   FM_CONTACT_MISSED " '%.80s': it begins and ends within the step of %.3g s to t = %.9g s. Take "
                                     "shorter steps, or a scheme that ends its steps where contacts begin",
                   s->image.text + s->image.contact_name[s->image.spot_contact[(int32_t)spot - 1]],
                   s->clock[FM_PASSED_OVER_IN], s->clock[FM_PASSED_OVER_AT]);
    return 1;
}
