/* places.h: functions of places.c. */
#ifndef FM_PLACES_H
#define FM_PLACES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int32_t fm_screw_of(const fm_image *m, int32_t joint, int32_t component);
int32_t fm_coupled_entry(const fm_image *m, int32_t kind, int32_t joint, int32_t component);
int fm_follows_path(const fm_image *m, int32_t kind, int32_t joint, int32_t component);
double *fm_stored(fm_instance *s, int32_t kind, int32_t object, int32_t component);
int32_t fm_input_place(fm_instance *s, uint32_t reference);
int32_t fm_place_of(fm_instance *s, int32_t kind, int32_t object, int32_t component);

FM_HIDDEN_END

#endif
