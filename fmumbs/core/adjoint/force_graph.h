/* force_graph.h: functions of force_graph.c. */
#ifndef FM_FORCE_GRAPH_H
#define FM_FORCE_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

int fm_build_forces(fm_builder *b);

FM_HIDDEN_END

#endif
