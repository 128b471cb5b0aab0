/* check_modes.h: functions of check_modes.c. */
#ifndef FM_CHECK_MODES_H
#define FM_CHECK_MODES_H

#include "image.h"

FM_HIDDEN_BEGIN

const char *fm_check_excitations(const fm_image *m);
const char *fm_check_modes(const fm_image *m);

FM_HIDDEN_END

#endif
