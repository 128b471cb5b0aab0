/* loop_rank.h: functions of loop_rank.c. */
#ifndef FM_LOOP_RANK_H
#define FM_LOOP_RANK_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

double fm_leverage(fm_instance *s, int32_t u);
void fm_choose_rows(fm_instance *s, double least);
void fm_note_pivots(fm_instance *s);
void fm_watch_rows(fm_instance *s, const double *y);

FM_HIDDEN_END

#endif
