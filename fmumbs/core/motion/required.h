/* required.h: functions of required.c. */
#ifndef FM_REQUIRED_H
#define FM_REQUIRED_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_do_required_forces(fm_instance *s, size_t count, int applied, const double *positions,
                                const double *speeds, const double *accelerations, double *forces);
fm_status fm_do_mass_matrix(fm_instance *s, size_t count, const double *positions, double *mass);
fm_status fm_do_point_jacobian(fm_instance *s, size_t count, const double *positions, int32_t link, const double r[3],
                               double *J);
fm_status fm_do_actuated_forces(fm_instance *s, size_t count, const double *positions, const double *speeds,
                                const double *accelerations, double *forces);
void fm_require_given(fm_instance *s, int32_t what);
fm_status fm_check_given(fm_instance *s);
fm_status fm_go_given(fm_instance *s, double t);
fm_status fm_do_momenta(fm_instance *s, size_t count, const double *positions, const double *speeds, double *momenta);

FM_HIDDEN_END

#endif
