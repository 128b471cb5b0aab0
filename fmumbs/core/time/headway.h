/* headway.h: functions of headway.c. */
#ifndef FM_HEADWAY_H
#define FM_HEADWAY_H

#include "../instance/instance.h"

#include <stddef.h>

FM_HIDDEN_BEGIN

#define FM_MOST_SLOW 1000    /* steps in a row without headway */
#define FM_NO_HEADWAY 1e-9   /* of the run's longest step: shorter ones make no headway */
#define FM_NO_SHARE 1e-6     /* of the mean step with which FM_MOST_ACCEPTED reach the end: nor do these */
#define FM_MOST_ACCEPTED 1000000 /* most integration steps in one fm_step with error control */

void fm_headway_begin(fm_instance *s);
double fm_slow_step(const fm_instance *s, double t, double t_end);
int fm_headway_made(fm_instance *s, double before, double t_end);
void fm_rejected(fm_instance *s, int implicit, double error, double arrival);
int fm_drives_block(fm_instance *s, double error, double arrival);
int fm_loops_lock_drives(fm_instance *s, double h);
double fm_before_loss(fm_instance *s, double h);
void fm_print_known(const fm_instance *s, char *out, size_t capacity);

FM_HIDDEN_END

#endif
