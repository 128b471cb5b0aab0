/* tyre.h: functions of tyre.c. */
#ifndef FM_TYRE_H
#define FM_TYRE_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

#define FM_TREAD_AT_ONCE 0.05 /* p */

/* A tyre ahead and aside: unit vectors in world axes, slip [m/s], stiffness and damping of its tread, and the rate at
 * which the tread relaxes by rolling. */
typedef struct fm_tread {
    double side[2][3], slip[2], K[2], D[2], relax[2];
} fm_tread;

void fm_tread_at(const fm_instance *s, int32_t c, const double n[3], const double axis[3], const double slip[3],
                 const double ahead[3], fm_tread *out);
double fm_tread_energy(const fm_instance *s, int32_t c, const double z[2]);

FM_HIDDEN_END

#endif
