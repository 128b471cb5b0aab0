/* loops.h: what the files about closed loops share: constraints.c, loops.c, loop_rank.c, least.c,
 * planar_loops.c, correct.c, assembly.c, start.c. */
#ifndef FM_LOOPS_H
#define FM_LOOPS_H

#include "instance.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

#define FM_DEPENDENT 1e-11 /* a pivot of the scaled K below it: the row follows from the others */
#define FM_WORN 0.1    /* of what the pivot of a row has been: below it other rows are looked for */
#define FM_TIE 1e-13   /* of the same, added to K's diagonal: it can then be factored anywhere */
#define FM_NARROW 0.02 /* the same: below it a singular position may be near */

/* A frame of a secondary joint in the world. */
typedef struct fm_place {
    double r[3], v[3], w[3], a[3], alpha[3]; /* a: true acceleration, only where `moving` asked for it */
} fm_place;

/* The frames of a secondary joint, which its rows share; joint -1: none yet. */
typedef struct fm_ends {
    int32_t joint;
    fm_place F, M;
} fm_ends;

/* Row i: value and first two derivatives, force and torque of a unit multiplier on M's link at M's origin. */
typedef struct fm_constraint {
    double c[3], force[3], torque[3], r[3];
} fm_constraint;

/* What evaluations beside the motion do not change. */
typedef struct fm_bridge_kept {
    double corrected, iterated;
} fm_bridge_kept;

/* secondary.c */
int fm_is_pin(const fm_image *m, int32_t joint);
void fm_across(const double axis[3], double out[3]);
void fm_cut_row(const fm_instance *s, int32_t joint, int32_t part, fm_constraint *out);
/* constraints.c */
void fm_frame_place(const fm_instance *s, int32_t link, const double *at, int moving, fm_place *p);
void fm_constraint_at(const fm_instance *s, int32_t i, int moving, fm_ends *ends, fm_constraint *out);
void fm_turn_modes(fm_instance *s);
double fm_most_torque(const fm_instance *s, const double torque[3], const double force[3]);
void fm_pass_loop(const fm_instance *s, int32_t joint, const fm_constraint *row, double *y, double *most);
void fm_pass_path(const fm_instance *s, int32_t link, const double *at, const double *torque, const double *force,
                  double sign, double *y, double *most);
void fm_pass_coupling(const fm_instance *s, int32_t i, double *y, double *most);
/* loops.c */
void fm_make_rows(fm_instance *s, int moving, int choose);
void fm_make_K(fm_instance *s);
void fm_eliminate(fm_instance *s, const fm_block *a);
int fm_factor_K(fm_instance *s);
void fm_solve_K(const fm_instance *s, const double *b, double *x);
void fm_find_multipliers(fm_instance *s);
void fm_spread(fm_instance *s, const double *lambda, double *out);
/* planar_loops.c */
void fm_planar_show(fm_instance *s, int32_t joint);
double fm_planar_angle(const fm_instance *s, int32_t joint, double *rate);
double fm_planar_extent(const fm_instance *s);
/* jacobian.c */
double fm_row_along(const fm_instance *s, int32_t i, const fm_constraint *row, double *J, const double *weight);
/* correct.c */
void fm_move_positions(const fm_instance *s, double *y, const double *change);
void fm_place_loops(fm_instance *s, const double *y, int level);
int fm_factor_loops(fm_instance *s, const double *y);
double fm_loop_gap(fm_instance *s, int level);
double fm_round_off(const fm_instance *s);
void fm_correct_once(fm_instance *s, double *y, int level);
int fm_project(fm_instance *s, double *y, int level);
double fm_coarse(const fm_instance *s, double gap);
double fm_closed_within(const fm_instance *s);
/* bridge.c */
int fm_bridge_state(fm_instance *s, double *y);
int fm_rests_singular(fm_instance *s, const double *y);
const fm_block *fm_block_of(const fm_instance *s, int32_t row);
int fm_measure(fm_instance *s, const double *y, double *out);
int fm_find_way(fm_instance *s, const double *u);
fm_bridge_kept fm_begin_bridge(fm_instance *s);
void fm_end_bridge(fm_instance *s, fm_bridge_kept kept);
/* assembly.c */
void fm_start_place(fm_instance *s, const double *y);
void fm_start_rows(fm_instance *s);
int32_t fm_start_rank(fm_instance *s, double least);
int fm_close_positions(fm_instance *s, double *y);
int fm_moves_closed(fm_instance *s);
int fm_close_velocities(fm_instance *s, double *y);
int32_t fm_choose_at(fm_instance *s, const double *y);
/* loop_rank.c */
void fm_choose_rows(fm_instance *s, double least);
double fm_leverage(fm_instance *s, int32_t u);
void fm_note_pivots(fm_instance *s);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
