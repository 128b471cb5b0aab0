/* hosted.h: functions of hosted.c. */
#ifndef FM_HOSTED_H
#define FM_HOSTED_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_find_states(fm_instance *s);
void fm_keep_pieces(fm_instance *s);
fm_status fm_settle(fm_instance *s);
void fm_note_set(fm_instance *s);
fm_status fm_present_rates(fm_instance *s);
fm_status fm_present_indicators(fm_instance *s);
fm_status fm_do_update_events(fm_instance *s, fm_events *events);
fm_status fm_do_set_continuous(fm_instance *s, double t, const double *x);
fm_status fm_do_continuous_rates(fm_instance *s, double *rates);
fm_status fm_do_set_tree_state(fm_instance *s, const double *y);
fm_status fm_do_tree_rates(fm_instance *s, double *rates);
fm_status fm_do_indicators(fm_instance *s, double *indicator);
fm_status fm_do_completed_step(fm_instance *s, int32_t *event);
void fm_end_hosted(fm_instance *s);

FM_HIDDEN_END

#endif
