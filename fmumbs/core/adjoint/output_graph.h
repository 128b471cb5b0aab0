/* output_graph.h: functions of output_graph.c. */
#ifndef FM_OUTPUT_GRAPH_H
#define FM_OUTPUT_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

void fm_build_outputs(fm_builder *b);

FM_HIDDEN_END

#endif
