/* programs.c: where the programmed coordinates of a mechanism are.
 *
 * The target of a program is a massless body on an excited joint from a frame F, and constraint rows c = 0 let the
 * mechanism follow it. Where these rows are linear in the programmed coordinates, of points and joints, the coordinate
 * is eta + c; of a program for velocities or accelerations, eta is their value. An orientation R = R_x(a) R_y(b) R_z(c) of M with respect to F has its angles, and with the angular
 * velocity w in M's axes
 *     a' = (w_x cos c - w_y sin c) / cos b,   b' = w_x sin c + w_y cos c,   c' = w_z - a' sin b
 */
#include "programs.h"

#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "constraints.h"

#include <math.h>
#include <string.h>

#define FM_TURN 6.283185307179586

/* The axes of a frame that is fixed in a link, in the world. */
static void axes_of(const fm_instance *s, int32_t link, const double *fixed, double R[9])
{
    if (link < 0) memcpy(R, fixed, 9 * sizeof *R);
    else
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                R[3 * i + j] = row_of(s->world[link].R, i, (const double[]){fixed[j], fixed[3 + j], fixed[6 + j]});
}

/* Angles about x, y, z of the follower's M with respect to the drive's F, in the turns of eta, and their rates. */
static void angles(const fm_instance *s, int32_t drive, int32_t follower, const double *eta, double *angle, double *rate)
{
    const fm_image *m = &s->image;
    double F[9], M[9], R[9], relative[3], w[3], none[3] = {0.0, 0.0, 0.0};
    fm_place f, g;
    axes_of(s, m->joint_F_link[drive], m->joint_F + 9 * drive, F);
    axes_of(s, m->joint_M_link[follower], m->joint_M + 9 * follower, M);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = (F[i] * M[j] + F[3 + i] * M[3 + j]) + F[6 + i] * M[6 + j];
    angle[0] = fm_atan2(-R[5], R[8]);
    angle[1] = fm_asin(fmax(-1.0, fmin(1.0, R[2])));
    angle[2] = fm_atan2(-R[1], R[0]);
    fm_frame_place(s, m->joint_F_link[drive], none, 0, &f);
    fm_frame_place(s, m->joint_M_link[follower], none, 0, &g);
    for (int i = 0; i < 3; i++) relative[i] = g.w[i] - f.w[i];
    for (int j = 0; j < 3; j++) w[j] = (M[j] * relative[0] + M[3 + j] * relative[1]) + M[6 + j] * relative[2];
    double sine, cosine;
    fm_cos_and_sin(angle[2], &cosine, &sine);
    rate[0] = (w[0] * cosine - w[1] * sine) / fm_cos(angle[1]);
    rate[1] = w[0] * sine + w[1] * cosine;
    rate[2] = w[2] - rate[0] * fm_sin(angle[1]);
    for (int i = 0; i < 3; i++) angle[i] += FM_TURN * round((eta[i] - angle[i]) / FM_TURN);
}

/* The programmed coordinates of the mechanism, and their rates, of the program with this drive; for velocities and
 * accelerations the rate of their target. Requires world kinematics, for accelerations those of the links. */
void fm_programmed(const fm_instance *s, int32_t joint, double *position, double *rate)
{
    const fm_image *m = &s->image;
    const int32_t first = m->joint_excitation[joint], row = m->excitation_row[first];
    const double *eta = s->work.evaluated + m->excitation_p[first];
    const double *kappa = s->work.evaluated + m->n.positions + m->excitation_u[first];
    if (m->row_kind[row] == FM_ROW_PERPENDICULAR) {
        angles(s, joint, m->row_joint[row], eta, position, rate);
        return;
    }
    const int32_t level = m->row_part[row];
    fm_ends ends = {.joint = -1};
    for (int32_t i = 0; i < m->joint_excited[joint]; i++) {
        fm_constraint one;
        fm_constraint_at(s, m->excitation_row[first + i], level == FM_OF_ACCELERATION, &ends, &one);
        position[i] = eta[i] + one.c[level];
        rate[i] = kappa[i] + (level == FM_OF_POSITION ? one.c[1] : 0.0);
    }
}
