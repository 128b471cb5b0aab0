/* tyre.c: the tread of a tyre that rolls.
 *
 * y is the wheel's axis across the normal n, x = y x n ahead. In each of these two directions the tread is a spring of
 * stiffness K and damping D whose deflection is z, and rolls off with the speed V of the wheel's centre along x:
 *
 *     T = K z + D z',   z' = s - |V| z/sigma,   K = C/sigma,
 *
 * s the slip, C the slip stiffness, sigma the relaxation length. At a constant slip z = sigma s/|V|, and T = C s/|V|;
 * at V = 0 the tread is the spring of a contact that sticks (contact.c), and holds. Beyond the friction circle |T| = mu
 * N F = mu N T/|T| and z' = (F - K z)/D. Damping is for standstill: at speed T would follow a slip by its part D |V|/C
 * at once, and not within sigma, so that
 *
 *     1/D = 1/D_0 + |V|/(p C),   p = 1/20
 *
 * keeps this part below p. It is passive: with F z' what z stores and D z'^2, what is lost is
 *
 *     F s - K z z' = D z'^2 + |V|/sigma z (K z + D z') + F (T - F)/D
 *
 * in sum over both directions, z' of T in the last but one, at least 0 as D |V| < 4 C, and the last as F is along T.
 */
#include "tyre.h"

#include "../instance/instance.h"
#include "../maths/vectors.h"
#include "point_pair.h"

#include <math.h>

/* Ahead and aside; of a wheel that lies flat, any two. */
static void find_sides(const double n[3], const double axis[3], double side[2][3])
{
    const double along = dot(axis, n);
    double y[3];
    for (int j = 0; j < 3; j++) y[j] = axis[j] - along * n[j];
    const double length = sqrt(dot(y, y));
    if (!(length > 0.0)) {
        fm_find_sides(n, side);
        return;
    }
    for (int j = 0; j < 3; j++) side[1][j] = y[j] / length;
    cross(side[1], n, side[0]);
}

/* The tread of contact c; ahead: the velocity of the wheel's centre. */
void fm_tread_at(const fm_instance *s, int32_t c, const double n[3], const double axis[3], const double slip[3],
                 const double ahead[3], fm_tread *out)
{
    find_sides(n, axis, out->side);
    const double V = fabs(dot(ahead, out->side[0]));
    for (int k = 0; k < 2; k++) {
        const double C = s->contact_slip_stiffness[2 * c + k], sigma = s->contact_relaxation[2 * c + k];
        out->slip[k] = dot(slip, out->side[k]);
        out->K[k] = C / sigma;
        out->relax[k] = V / sigma;
        out->D[k] = 1.0 / (1.0 / s->contact_tangential_damping[c] + V / (FM_TREAD_AT_ONCE * C));
    }
}

/* What its bristles store. */
double fm_tread_energy(const fm_instance *s, int32_t c, const double z[2])
{
    double sum = 0.0;
    for (int k = 0; k < 2; k++)
        sum += 0.5 * s->contact_slip_stiffness[2 * c + k] / s->contact_relaxation[2 * c + k] * z[k] * z[k];
    return sum;
}
