/* exact_places.h: functions of exact_places.c. */
#ifndef FM_EXACT_PLACES_H
#define FM_EXACT_PLACES_H

#include "../adjoint/graph.h"

FM_HIDDEN_BEGIN

void fm_find_knowns(fm_instance *s);
fm_known_place fm_place_of_known(fm_instance *s, uint32_t known);
int32_t fm_place_of_unknown(fm_instance *s, uint32_t unknown);

FM_HIDDEN_END

#endif
