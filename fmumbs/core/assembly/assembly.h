/* assembly.h: functions of assembly.c. */
#ifndef FM_ASSEMBLY_H
#define FM_ASSEMBLY_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_row_counts(const fm_instance *s, int32_t row);
void fm_assembly_place(fm_instance *s, const double *y);
void fm_assembly_rows(fm_instance *s);
int32_t fm_assembly_rank(fm_instance *s, double least);
int fm_use_screws(fm_instance *s, int use);
int fm_assemble_positions(fm_instance *s, double *y);
double fm_assembly_gap(fm_instance *s);
int fm_velocities_fit(fm_instance *s, const double *y);
int fm_assemble_velocities(fm_instance *s, double *y);
int32_t fm_choose_at(fm_instance *s, const double *y);
int fm_assemble_on_branch(fm_instance *s, double *y);
int32_t fm_rank_nearby(fm_instance *s, const double *y, int way, int32_t *row);

FM_HIDDEN_END

#endif
