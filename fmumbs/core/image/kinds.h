/* kinds.h: functions of kinds.c. */
#ifndef FM_KINDS_H
#define FM_KINDS_H

#include "image.h"

FM_HIDDEN_BEGIN

extern const fm_kind_info fm_kinds[FM_KIND_COUNT];

int32_t fm_components(const fm_image *m, int32_t kind, int32_t object);
int fm_has_component(const fm_image *m, int32_t kind, int32_t object, int32_t part);
int32_t fm_control_place(const fm_image *m, int32_t kind, int32_t object);
int fm_is_excited(int32_t kind);
int32_t fm_spot_laws(const fm_image *m, int32_t spot);
int32_t fm_mode_of(const fm_image *m, int32_t kind, int32_t joint, int32_t component);
int32_t fm_required_place(const fm_image *m, int32_t kind, int32_t object, int32_t component);

FM_HIDDEN_END

#endif
