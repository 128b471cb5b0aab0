/* links.h: functions of links.c. */
#ifndef FM_LINKS_H
#define FM_LINKS_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_arrange_slots(fm_instance *s);
void fm_mark_loops(fm_instance *s);
void fm_links_structure(fm_instance *s);
void fm_make_briefs(fm_instance *s);
void fm_complete_inertial(fm_instance *s);
void fm_make_inertia_lanes(fm_instance *s, int32_t i);
void fm_links_derive(fm_instance *s);

FM_HIDDEN_END

#endif
