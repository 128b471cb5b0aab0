/* diagonalise.h: functions of diagonalise.c. */
#ifndef FM_DIAGONALISE_H
#define FM_DIAGONALISE_H

#include "hidden.h"

FM_HIDDEN_BEGIN

int fm_diagonalise_both(double R[6][6], double K[6][6], const double scale[6], double w[6][6], double gamma[6]);

FM_HIDDEN_END

#endif
