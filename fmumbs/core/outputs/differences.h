/* differences.h: functions of differences.c. */
#ifndef FM_DIFFERENCES_H
#define FM_DIFFERENCES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

/* Knowns and their seeds; parameters among them count, states are in hosted.toward. */
typedef struct fm_seeds {
    const uint32_t *known;
    const double *seed;
    size_t knowns;
} fm_seeds;

int fm_differ(fm_instance *s, const fm_seeds *along, const uint32_t *unknown, size_t count, double *result);

FM_HIDDEN_END

#endif
