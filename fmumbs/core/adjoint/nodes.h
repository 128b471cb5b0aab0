/* nodes.h: functions of nodes.c. */
#ifndef FM_NODES_H
#define FM_NODES_H

#include "builder.h"

FM_HIDDEN_BEGIN

int32_t fm_place_numbers(fm_builder *b, int32_t count);
int32_t fm_constant(fm_builder *b, const double *numbers, int32_t count);
int32_t fm_number(fm_builder *b, double number);
int32_t fm_add_part(fm_builder *b, fm_operation operation, int32_t a, int32_t c, int32_t d, int32_t k, int32_t numbers);
int32_t fm_add_node(fm_builder *b, fm_operation operation, int32_t a, int32_t c, int32_t d);
int fm_uncovered(fm_builder *b, const char *what, int32_t name);
int32_t fm_carry(fm_builder *b, int32_t R, const double *in);
int32_t fm_times_constant(fm_builder *b, double factor, int32_t number);
int32_t fm_wrench_of(const fm_builder *b, const fm_link_slots *k);
void fm_add_wrench(fm_builder *b, int32_t link, int32_t force, int32_t arm, int32_t torque, int sign);
void fm_pass_wrench(fm_builder *b, const fm_link_slots *k, int32_t parent);

FM_HIDDEN_END

#endif
