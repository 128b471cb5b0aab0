/* wrench_graph.h: functions of wrench_graph.c. */
#ifndef FM_WRENCH_GRAPH_H
#define FM_WRENCH_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

typedef struct fm_wrench_slots {
    int32_t force, torque;
} fm_wrench_slots;

int32_t fm_build_across(fm_builder *b, int32_t v, int32_t axis);
fm_wrench_slots fm_build_wrench(fm_builder *b, int32_t joint);

FM_HIDDEN_END

#endif
