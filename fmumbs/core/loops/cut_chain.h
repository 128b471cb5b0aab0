/* cut_chain.h: functions of cut_chain.c. */
#ifndef FM_CUT_CHAIN_H
#define FM_CUT_CHAIN_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_make_chain(const fm_instance *s, int32_t joint, const double *p, const double *u, fm_chain *c);
void fm_chain_miss(const fm_chain *c, const double R[9], const double r[3], double out[6]);

FM_HIDDEN_END

#endif
