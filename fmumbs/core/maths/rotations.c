/* rotations.c: rotation matrices, rotation vectors and quaternions (w, x, y, z). */
#include "rotations.h"

#include "trigonometry.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

#define FM_WHOLE_TURN 6.28318530717958647692
#define FM_SERIES_UP_TO 0.05 /* there the next term of the series is below round-off */
#define FM_GIMBAL 1e-8 /* sine between two axes: beside it their angles are lost in the round-off of a rotation */

void fm_multiply_quaternions(const double *a, const double *b, double out[4])
{
    out[0] = ((a[0] * b[0] - a[1] * b[1]) - a[2] * b[2]) - a[3] * b[3];
    out[1] = ((a[0] * b[1] + a[1] * b[0]) + a[2] * b[3]) - a[3] * b[2];
    out[2] = ((a[0] * b[2] + a[2] * b[0]) + a[3] * b[1]) - a[1] * b[3];
    out[3] = ((a[0] * b[3] + a[3] * b[0]) + a[1] * b[2]) - a[2] * b[1];
}

/* The unit quaternion of a rotation matrix, computed from its largest component. */
void fm_quaternion_of(const double *R, double q[4])
{
    const double d[4] = {R[0] + R[4] + R[8], R[0] - R[4] - R[8], R[4] - R[0] - R[8], R[8] - R[0] - R[4]};
    int k = 0;
    for (int i = 1; i < 4; i++) k = d[i] > d[k] ? i : k;
    const double four = 2.0 * sqrt(1.0 + d[k]), skew[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    const double mixed[3] = {R[7] + R[5], R[2] + R[6], R[3] + R[1]};
    q[k] = four / 4.0;
    if (k == 0) {
        for (int i = 0; i < 3; i++) q[1 + i] = skew[i] / four;
        return;
    }
    q[0] = skew[k - 1] / four;
    for (int i = 1; i < 4; i++)
        if (i != k) q[i] = mixed[3 - (i - 1) - (k - 1)] / four;
}

/* Rotates by the rotation vector v [rad] in the rotated frame: q = q * exp(v / 2). */
void fm_rotate_quaternion(const double v[3], double q[4])
{
    double angle = sqrt(dot(v, v)), c, sine, x[3], old[4];
    fm_cos_and_sin(0.5 * angle, &c, &sine);
    const double factor = angle > 1e-8 ? sine / angle : 0.5;
    for (int j = 0; j < 3; j++) x[j] = factor * v[j];
    memcpy(old, q, sizeof old);
    q[0] = ((old[0] * c - old[1] * x[0]) - old[2] * x[1]) - old[3] * x[2];
    q[1] = ((old[0] * x[0] + old[1] * c) + old[2] * x[2]) - old[3] * x[1];
    q[2] = ((old[0] * x[1] + old[2] * c) + old[3] * x[0]) - old[1] * x[2];
    q[3] = ((old[0] * x[2] + old[3] * c) + old[1] * x[1]) - old[2] * x[0];
}

/* The rotation vector of a unit quaternion, of at most pi. */
void fm_rotation_vector(const double *q, double out[3])
{
    double sine = sqrt(dot(q + 1, q + 1)), half = fm_atan2(sine, fabs(q[0]));
    double factor = sine > 0.0 ? (q[0] < 0.0 ? -2.0 : 2.0) * half / sine : 0.0;
    for (int j = 0; j < 3; j++) out[j] = factor * q[1 + j];
}

/* The rotation matrix of an angle [rad] about a unit vector. */
void fm_rotation_about(const double a[3], double angle, double R[9])
{
    double c, s;
    fm_cos_and_sin(angle, &c, &s);
    const double v = 1.0 - c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = v * a[i] * a[j] + (i == j ? c : 0.0);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        R[3 * k + j] += s * a[i];
        R[3 * j + k] -= s * a[i];
    }
}

void fm_rotation_of(const double *q, double R[9])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double all[9] = {1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z),       2.0 * (x * z + w * y),
                           2.0 * (x * y + w * z),       1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
                           2.0 * (x * z - w * y),       2.0 * (y * z + w * x),       1.0 - 2.0 * (x * x + y * y)};
    memcpy(R, all, sizeof all);
}

/* A vector perpendicular to a unit vector; not normalised. */
void fm_across(const double axis[3], double out[3])
{
    const double size[3] = {fabs(axis[0]), fabs(axis[1]), fabs(axis[2])};
    const int k = size[0] <= size[1] ? (size[0] <= size[2] ? 0 : 2) : (size[1] <= size[2] ? 1 : 2);
    for (int j = 0; j < 3; j++) out[j] = (j == k ? 1.0 : 0.0) - axis[k] * axis[j];
}

/* Of all angles that are whole turns apart, the one that is nearest to another. */
double fm_with_turns(double angle, double near)
{
    return angle + FM_WHOLE_TURN * floor((near - angle) / FM_WHOLE_TURN + 0.5);
}

int fm_is_rotation(const double *R)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double dot = R[3 * i] * R[3 * j] + R[3 * i + 1] * R[3 * j + 1] + R[3 * i + 2] * R[3 * j + 2];
            if (!(fabs(dot - (i == j ? 1.0 : 0.0)) < 1e-9)) return 0;
        }
    return 1;
}

/* The axes 0 to 2 that three turns follow one another about, and whether these are fixed, or turn with the body:
 * sequence is 1 + a + 3 b + 9 c + 27 fixed. 0: no sequence, or two neighbours are equal. */
int fm_euler_axes(int32_t sequence, int32_t axis[3], int32_t *about_fixed)
{
    if (sequence < 1 || sequence > FM_EULER_CODES) return 0;
    const int32_t code = sequence - 1;
    *about_fixed = code / 27;
    axis[0] = code % 3, axis[1] = code / 3 % 3, axis[2] = code / 9 % 3;
    return axis[0] != axis[1] && axis[1] != axis[2];
}

/* out: three angles of R, in the order of the sequence, the second from -pi/2 to pi/2, or from 0 to pi where the first
 * axis is the third; then the sine of the angle between these two axes, 0 where only the sum or the difference of the
 * other two angles is unique. There the last turn about moving axes is 0. */
void fm_euler_angles(const double R[9], int32_t sequence, double out[4])
{
    int32_t axis[3] = {0, 1, 2}, fixed = 0;
    if (!fm_euler_axes(sequence, axis, &fixed)) return;
    const int32_t i = axis[fixed ? 2 : 0], j = axis[1], k = axis[fixed ? 0 : 2], m = 3 - i - j;
    const double e = (i + 1) % 3 == j ? 1.0 : -1.0;
    const double *Ri = R + 3 * i, *Rj = R + 3 * j, *Rm = R + 3 * m;
    double angle[3];
    if (k == i) { /* R = R_i(a) R_j(b) R_i(c) */
        out[3] = sqrt(Ri[j] * Ri[j] + Ri[m] * Ri[m]);
        angle[1] = fm_atan2(out[3], Ri[i]);
        angle[0] = fm_atan2(Rj[i], -e * Rm[i]);
        angle[2] = fm_atan2(Ri[j], e * Ri[m]);
    } else { /* R = R_i(a) R_j(b) R_m(c) */
        out[3] = sqrt(Ri[i] * Ri[i] + Ri[j] * Ri[j]);
        angle[1] = fm_atan2(e * Ri[m], out[3]);
        angle[0] = fm_atan2(-e * Rj[m], Rm[m]);
        angle[2] = fm_atan2(-e * Ri[j], Ri[i]);
    }
    if (out[3] < FM_GIMBAL) angle[0] = fm_atan2(e * Rm[j], Rj[j]), angle[2] = 0.0;
    for (int l = 0; l < 3; l++) out[l] = angle[fixed ? 2 - l : l];
}

/* (1 - h cot h) / x, h = sqrt(x) / 2, and its derivative. */
double fm_turn_series(double x, double *slope)
{
    if (!(x > FM_SERIES_UP_TO)) {
        const double last = 691.0 / 1307674368000.0;
        *slope = 1.0 / 720 + x * (2.0 / 30240 + x * (3.0 / 1209600 + x * (4.0 / 47900160 + x * 5.0 * last)));
        return 1.0 / 12 + x * (1.0 / 720 + x * (1.0 / 30240 + x * (1.0 / 1209600 + x * (1.0 / 47900160 + x * last))));
    }
    double cosine, sine;
    const double h = 0.5 * sqrt(x);
    fm_cos_and_sin(h, &cosine, &sine);
    const double factor = (1.0 - h * cosine / sine) / x;
    *slope = ((h / (sine * sine) - cosine / sine) / (8.0 * h) - factor) / x;
    return factor;
}

/* v + sign t x v / 2 + c t x (t x v), c the factor of the series: the change of a rotation vector t with turns v in the
 * rotated axes, or, sign -1, in those that do not turn, which is the transpose. */
void fm_change_of_vector(const double *t, double sign, const double *v, double *out)
{
    double once[3], twice[3], slope;
    const double c = fm_turn_series(dot(t, t), &slope);
    cross(t, v, once);
    cross(t, once, twice);
    for (int j = 0; j < 3; j++) out[j] = (v[j] + 0.5 * sign * once[j]) + c * twice[j];
}
