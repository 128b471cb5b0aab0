/* programs.c: where the programmed coordinates of a mechanism are.
 *
 * The target of a program is a massless body on an excited joint from a frame F, and constraint rows c = 0 let the
 * mechanism follow it. Where these rows are linear in the programmed coordinates, of points and joints, the coordinate
 * is eta + c; of a program for velocities or accelerations, eta is their value. An orientation R = R_x(a) R_y(b) R_z(c)
 * of M with respect to F has its angles, and with the angular velocity w in M's axes a' = (w_x cos c - w_y sin c) / cos
 * b,   b' = w_x sin c + w_y cos c,   c' = w_z - a' sin b
 */
#include "programs.h"

#include "../maths/rotations.h"
#include "../maths/trigonometry.h"
#include "../maths/vectors.h"
#include "../instance/instance.h"
#include "../tree/kinematics.h"
#include "constraints.h"

#include <math.h>
#include <string.h>

#define FM_HALF_TURN 3.141592653589793
/* |cos b| below which a and c are not measured: the closure's drift turns them by its 1e4 times */
#define FM_GIMBAL_LOCK 1e-4

/* The axes of a frame that is fixed in a link, in the world. */
static void axes_of(const fm_instance *s, int32_t link, const double *fixed, double R[9])
{
    if (link < 0) memcpy(R, fixed, 9 * sizeof *R);
    else
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                R[3 * i + j] = row_of(s->world[link].R, i, (const double[]){fixed[j], fixed[3 + j], fixed[6 + j]});
}

/* The axes of the follower's M in those of the drive's F; M: the former in the world. */
static void orientation(const fm_instance *s, int32_t drive, int32_t follower, double M[9], double R[9])
{
    const fm_image *m = &s->image;
    double F[9];
    axes_of(s, m->joint_F_link[drive], m->joint_F + 9 * drive, F);
    axes_of(s, m->joint_M_link[follower], m->joint_M + 9 * follower, M);
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++) R[3 * i + j] = (F[i] * M[j] + F[3 + i] * M[3 + j]) + F[6 + i] * M[6 + j];
}

static int is_locked(const double R[9])
{
    return R[5] * R[5] + R[8] * R[8] < FM_GIMBAL_LOCK * FM_GIMBAL_LOCK;
}

/* The angles of R if a and c are not measured. */
static void locked_angles(const double R[9], const double eta[3], double angle[3])
{
    const double side = R[2] > 0.0 ? 1.0 : -1.0, b = fm_atan2(R[2], sqrt(R[0] * R[0] + R[1] * R[1]));
    const double one = fm_with_turns(b, eta[1]), other = fm_with_turns(FM_HALF_TURN - b, eta[1]),
                 expected = eta[2] + side * eta[0];
    const double off = fm_with_turns(fm_atan2(R[3] + side * R[7], R[4] - side * R[6]), expected) - expected;
    angle[0] = eta[0] + side * (0.5 * off);
    angle[1] = fabs(one - eta[1]) <= fabs(other - eta[1]) ? one : other;
    angle[2] = eta[2] + 0.5 * off;
}

/* The angles of R nearest to eta. */
static void angles_of(const double R[9], const double eta[3], double angle[3])
{
    double nearest = INFINITY, one[4];
    if (is_locked(R)) {
        locked_angles(R, eta, angle);
        return;
    }
    fm_euler_angles(R, FM_EULER_XYZ, one);
    const double found[2][3] = {{one[0], one[1], one[2]},
                                {one[0] + FM_HALF_TURN, FM_HALF_TURN - one[1], one[2] + FM_HALF_TURN}};
    for (int n = 0; n < 2; n++) {
        double near[3], square = 0.0;
        for (int i = 0; i < 3; i++) {
            near[i] = fm_with_turns(found[n][i], eta[i]);
            square += (near[i] - eta[i]) * (near[i] - eta[i]);
        }
        if (!(square < nearest)) continue;
        nearest = square;
        memcpy(angle, near, sizeof near);
    }
}

/* Angles about x, y, z of the follower's M with respect to the drive's F, and their rates, those of eta if they are not
 * measured. */
static void angles(const fm_instance *s, int32_t drive, int32_t follower, const double *eta, const double *kappa,
                   double *angle, double *rate)
{
    const fm_image *m = &s->image;
    double M[9], R[9], relative[3], w[3], none[3] = {0.0, 0.0, 0.0};
    fm_place f, g;
    orientation(s, drive, follower, M, R);
    angles_of(R, eta, angle);
    if (is_locked(R)) {
        memcpy(rate, kappa, 3 * sizeof *rate);
        return;
    }
    fm_frame_place(s, m->joint_F_link[drive], none, 0, &f);
    fm_frame_place(s, m->joint_M_link[follower], none, 0, &g);
    for (int i = 0; i < 3; i++) relative[i] = g.w[i] - f.w[i];
    for (int j = 0; j < 3; j++) w[j] = (M[j] * relative[0] + M[3 + j] * relative[1]) + M[6 + j] * relative[2];
    double sine, cosine;
    fm_cos_and_sin(angle[2], &cosine, &sine);
    rate[0] = (w[0] * cosine - w[1] * sine) / fm_cos(angle[1]);
    rate[1] = w[0] * sine + w[1] * cosine;
    rate[2] = w[2] - rate[0] * fm_sin(angle[1]);
}

static int is_orientation(const fm_image *m, int32_t joint)
{
    const int32_t row = m->joint_excited[joint] > 0 ? m->excitation_row[m->joint_excitation[joint]] : -1;
    return row >= 0 && m->row_kind[row] == FM_ROW_PERPENDICULAR;
}

/* The first program whose angles cannot be measured, as the index of its drive; -1: none. Requires world kinematics. */
int32_t fm_unmeasured_program(const fm_instance *s)
{
    const fm_image *m = &s->image;
    for (int32_t j = m->n.excitations > 0 ? 0 : m->n.joints; j < m->n.joints; j++) {
        double M[9], R[9];
        if (!is_orientation(m, j)) continue;
        orientation(s, j, m->row_joint[m->excitation_row[m->joint_excitation[j]]], M, R);
        if (is_locked(R)) return j;
    }
    return -1;
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
        angles(s, joint, m->row_joint[row], eta, kappa, position, rate);
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
