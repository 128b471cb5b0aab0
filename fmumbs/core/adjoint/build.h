/* build.h: functions of build.c. */
#ifndef FM_BUILD_H
#define FM_BUILD_H

#include "graph.h"

FM_HIDDEN_BEGIN

int fm_build_graph(const fm_image *m, const fm_model *model, fm_graph *g);
void fm_free_graph(fm_graph *g);

FM_HIDDEN_END

#endif
