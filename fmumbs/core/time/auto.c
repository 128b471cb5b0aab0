/* auto.c: the scheme that chooses between an explicit and an implicit one (integrate.c). */
#include "scheme.h"

const fm_scheme fm_scheme_auto = {.pair = {&fm_scheme_dopri5, &fm_scheme_radau}};
