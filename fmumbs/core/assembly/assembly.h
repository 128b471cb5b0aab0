/* assembly.h: functions of assembly.c. */
#ifndef FM_ASSEMBLY_H
#define FM_ASSEMBLY_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_start_place(fm_instance *s, const double *y);
void fm_start_rows(fm_instance *s);
int32_t fm_start_rank(fm_instance *s, double least);
int fm_close_positions(fm_instance *s, double *y);
int fm_moves_closed(fm_instance *s);
int fm_close_velocities(fm_instance *s, double *y);
int32_t fm_choose_at(fm_instance *s, const double *y);
int fm_start_on_branch(fm_instance *s, double *y);
int32_t fm_rank_nearby(fm_instance *s, const double *y, int way, int32_t *row);

FM_HIDDEN_END

#endif
