/* sides.h: functions of sides.c. */
#ifndef FM_SIDES_H
#define FM_SIDES_H

#include "../instance/instance.h"

FM_HIDDEN_BEGIN

/* A span of a rope between two points, `base` and `end`, or between a point, `end`, and the pulley at `base`: its
 * length and rate, with what of it lies on the pulley, and the derivative of the length by the position of `end` in the
 * axes that move with `base`, in world axes; where it touches the pulley [rad]. */
typedef struct fm_span {
    int32_t base, end;
    double length, rate, slope[3], angle;
} fm_span;

/* A side of a rope, from pulley to pulley: its length as it lies, its unstretched length, and their rates. */
typedef struct fm_side {
    double length, rate, own, own_rate;
} fm_side;

double fm_span_to(const double N[3], double r, double turn, double *alpha, double slope[3]);
int32_t fm_winch_of(const fm_image *m, int32_t side);
void fm_span_at(const fm_instance *s, int32_t side, int32_t k, fm_span *out);
void fm_pulley_torque(const fm_instance *s, int32_t via, double torque, double out[3]);
fm_side fm_side_at(const fm_instance *s, int32_t side, const double *y);
double fm_side_margin(const fm_instance *s, int32_t side, const double *y, double *rate);
int fm_side_is_taut(const fm_instance *s, int32_t side, const double *y);
double fm_side_tension(const fm_instance *s, int32_t side, const fm_side *at);
double fm_side_winding(const fm_instance *s, int32_t side, const fm_side *at);
double fm_side_seed(const fm_instance *s, int32_t side, const double *control);
int32_t fm_ropes_follow(fm_instance *s, const double *y);
const char *fm_pulley_rope(const fm_image *m, int32_t pulley);
const char *fm_pulley_joint(const fm_image *m, int32_t pulley);
int32_t fm_rope_lifts(const fm_instance *s, const double *y);
int32_t fm_rope_run_out(const fm_instance *s, const double *y);
double fm_side_tension_seed(const fm_instance *s, int32_t side, const double *control);

FM_HIDDEN_END

#endif
