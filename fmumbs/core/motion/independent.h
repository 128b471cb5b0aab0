/* independent.h: functions of independent.c. */
#ifndef FM_INDEPENDENT_H
#define FM_INDEPENDENT_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

size_t fm_count_following(const fm_image *m);
void fm_find_following(fm_instance *s);
int fm_has_independent(const fm_instance *s);
int fm_is_dependent(const fm_instance *s, int32_t i);
void fm_note_closed(fm_instance *s);
fm_status fm_close_independent(fm_instance *s);
int fm_following_change(fm_instance *s, int level, const double *value, double *change);
int fm_following_back(fm_instance *s, int level, const double *force, double *value);

FM_HIDDEN_END

#endif
