/* contact_graph.h: functions of contact_graph.c. */
#ifndef FM_CONTACT_GRAPH_H
#define FM_CONTACT_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

void fm_build_spot(fm_builder *b, int32_t i);
void fm_build_roll(fm_builder *b, int32_t i);
int32_t fm_contact_output(fm_builder *b, int32_t kind, int32_t contact, int32_t part);
int32_t fm_spot_energy(fm_builder *b, int32_t i);
int32_t fm_roll_energy(fm_builder *b, int32_t i);

FM_HIDDEN_END

#endif
