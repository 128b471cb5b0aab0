/* row_graph.h: functions of row_graph.c. */
#ifndef FM_ROW_GRAPH_H
#define FM_ROW_GRAPH_H

#include "builder.h"

FM_HIDDEN_BEGIN

int fm_build_rows(fm_builder *b);

FM_HIDDEN_END

#endif
