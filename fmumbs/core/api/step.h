/* step.h: functions of step.c. */
#ifndef FM_STEP_H
#define FM_STEP_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

fm_status fm_check_time(fm_instance *s, double t);
fm_status fm_do_step(fm_instance *s, double t_end);
fm_status fm_do_run(fm_instance *s, const double *times, size_t count, const uint32_t *reference, size_t width,
                    double *values, const size_t step[2], double *positions, size_t *rows);
size_t fm_read_positions(const fm_instance *s, double *positions, size_t capacity);
fm_status fm_do_evaluate(fm_instance *s, size_t times);

FM_HIDDEN_END

#endif
