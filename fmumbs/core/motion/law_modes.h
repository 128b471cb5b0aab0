/* law_modes.h: functions of law_modes.c. */
#ifndef FM_LAW_MODES_H
#define FM_LAW_MODES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

int fm_laws_choose(fm_instance *s, double t, double *y, int move);
void fm_laws_present(fm_instance *s);
void fm_laws_resume(fm_instance *s);
int fm_laws_begin(fm_instance *s, double *y);
const double *fm_law_struck(const fm_instance *s, int32_t law);
void fm_laws_keep(fm_instance *s);
int fm_laws_changed(const fm_instance *s);
int fm_laws_struck(const fm_instance *s);

FM_HIDDEN_END

#endif
