/* laws.h: functions of laws.c. */
#ifndef FM_LAWS_H
#define FM_LAWS_H

#include "../image/joints.h"
#include "../instance/instance.h"

FM_HIDDEN_BEGIN

void fm_laws_own(fm_instance *s);
void fm_watch_all_laws(fm_instance *s);
void fm_law_at(const fm_instance *s, int32_t law, const double *y, double *x, double *v);
const double *fm_law_range(const fm_image *m, int32_t piece);
int32_t fm_law_piece(const fm_image *m, int32_t law, double x, double v, int below);
double fm_law_unit(const fm_instance *s, int32_t law);
int fm_any_law_hard(const fm_image *m);
double fm_wall_sign(const fm_image *m, int32_t wall);
double fm_beyond_wall(const fm_image *m, int32_t wall, double x);
int32_t fm_law_wall(const fm_instance *s, int32_t law, double x);
int32_t fm_law_closed(const fm_instance *s, int32_t law);
int fm_law_strikes(const fm_instance *s, int32_t law, const double *y);
double fm_law_near(const fm_instance *s, int32_t law, double v);
double fm_law_near_position(const fm_instance *s, int32_t law, double x);
int fm_law_bound(const fm_instance *s, int32_t law, double x, double from, double v, double *bound);
double fm_law_factor(const fm_instance *s, int32_t law);
double fm_law_force(const fm_instance *s, int32_t law, const double *y);
void fm_laws_seed(fm_instance *s, const double *control);
double fm_law_piece_force(const fm_image *m, int32_t piece, double x, double v, double *by_x, double *by_v);
double fm_law_polynomial(const fm_image *m, int32_t piece, double x, double v);
int fm_law_sticks(const fm_instance *s, int32_t law, int32_t *above, int32_t *below, double *bound);
void fm_laws_on_modes(const fm_instance *s, const double *y, double *tau);
double fm_laws_on_spring(const fm_instance *s, int32_t spring, const double *y);
void fm_laws_place(fm_instance *s, const double *y);
void fm_laws_note(fm_instance *s, const double *y);
void fm_laws_look(const fm_instance *s, const double *y, double *looks);
const char *fm_law_carrier(const fm_instance *s, int32_t law, const char **what);
int fm_law_slopes(const fm_instance *s, int32_t law, const double *y, double *by_x, double *by_v);
void fm_laws_stiffen(const fm_instance *s, const double *y, double *K, double *D);

/* Whether a number of a law's mode is one of its pieces, or -1: no piece. */
static inline int fm_law_has_piece(const fm_image *m, int32_t law, double value)
{
    const double first = m->law_first[law];
    return value == -1.0 || (value >= first && value < first + m->law_count[law]);
}

/* Whether the position of a law is not what its velocity is the rate of: it watches something else. */
static inline int fm_law_watches(const fm_image *m, int32_t law)
{
    return m->law_side[law] >= 0 || m->law_cylinder[law] >= 0 || m->law_motor[law] >= 0 || m->law_spot[law] >= 0;
}

/* Whether a law slides, and in which piece. */
static inline int fm_law_slides(const fm_instance *s, int32_t law, int32_t *piece)
{
    const double *mode = s->laws.use + 2 * law;
    if (mode[1] != FM_SLIDING || !fm_law_has_piece(&s->image, law, mode[0])) return 0;
    *piece = (int32_t)mode[0];
    return 1;
}

FM_HIDDEN_END

#endif
