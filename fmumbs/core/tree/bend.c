/* bend.c: how frames on flexible bodies turn with the modes.
 *
 * A frame's rotation vector in the floating frame is theta = sum of theta_k q_k, its rotation R = exp([theta]), and
 * with x = theta.theta, a = (1 - cos |theta|) / x, b = (1 - sin |theta| / |theta|) / x R = E + (1 - x b) [theta] + a
 * [theta]^2,    T = E + a [theta] + b [theta]^2. Its angular velocity is T theta', in the axes of the floating frame,
 * and R'T theta' in its own. At constant rates the angular acceleration is T' theta' = a' (theta x theta') + b' theta x
 * (theta x theta') + b theta' x (theta x theta'), where a' and b' are the rates of a and b. The columns T theta_k are
 * kept for each mode. Where all modes turn a frame about z they are (0, 0, theta_k), and nothing is left to compute but
 * the cosine and sine of theta.
 *
 * With coordinates z of second order (modal.c) theta and the translation are linear in (q, z), and the rows of the
 * modes are those at the present shape; at constant q' both have the accelerations that z has.
 */
#include "bend.h"

#include "../maths/trigonometry.h"
#include "../maths/vectors.h"

#include <math.h>

#define FM_BEND_TERMS 12 /* of the series: for x below 1 the next term is below round-off */
#define FM_BEND_SERIES 1.0

/* Once, after the image has been read. */
void fm_bend_structure(fm_instance *s)
{
    const fm_image *m = &s->image;
    for (int32_t i = 0; i < m->n.frames; i++) {
        fm_bend *f = s->bend + i;
        const fm_modal *b = s->modal + m->link_modal[m->frame_link[i]];
        const int32_t row = m->frame_first[i];
        f->start = f->rows = m->frame_shape + 6 * row;
        if (b->all > b->n) f->rows = f->now = s->frame_now + 6 * row;
        f->turn = s->frame_turn + 3 * row;
        f->planar = 1;
        for (int32_t k = 0; k < b->all; k++) {
            const double *turn = f->start + 6 * k + 3;
            memcpy(f->turn + 3 * k, turn, 3 * sizeof *f->turn);
            if (turn[0] != 0.0 || turn[1] != 0.0 || (k >= b->n && turn[2] != 0.0)) f->planar = 0;
        }
    }
}

/* a, b and their derivatives by x. */
static void factors(fm_bend *f)
{
    const double x = f->x;
    if (x > FM_BEND_SERIES) {
        const double angle = sqrt(x);
        double cosine, sine;
        fm_cos_and_sin(angle, &cosine, &sine);
        sine /= angle;
        f->a = (1.0 - cosine) / x;
        f->b = (1.0 - sine) / x;
        f->da = (0.5 * sine - f->a) / x;
        f->db = (0.5 * (sine - cosine) / x - f->b) / x;
        return;
    }
    f->a = f->b = f->da = f->db = 0.0;
    double ca = 0.5, cb = 1.0 / 6.0, A[FM_BEND_TERMS], B[FM_BEND_TERMS];
    for (int k = 0; k < FM_BEND_TERMS; k++) {
        A[k] = ca, B[k] = cb;
        ca /= -(2.0 * k + 3.0) * (2.0 * k + 4.0);
        cb /= -(2.0 * k + 4.0) * (2.0 * k + 5.0);
    }
    for (int k = FM_BEND_TERMS - 1; k >= 0; k--) {
        f->a = f->a * x + A[k], f->b = f->b * x + B[k];
        if (k > 0) f->da = f->da * x + k * A[k], f->db = f->db * x + k * B[k];
    }
}

/* The second derivative of a coordinate of second order at constant rates of the modes. */
double fm_bend_second(const fm_modal *b, int32_t a, const double *rates)
{
    const double *C = b->follower + a * b->n * b->n;
    double sum = 0.0;
    for (int32_t j = 0; j < b->n; j++) {
        double row = 0.0;
        for (int32_t k = 0; k < b->n; k++) row += C[j * b->n + k] * rates[k];
        sum += rates[j] * row;
    }
    return sum;
}

/* Translation and rotation vector at the coordinates of all shapes. */
void fm_bend_moved(const fm_bend *f, const fm_modal *b, const double *q, double out[6])
{
    memset(out, 0, 6 * sizeof *out);
    for (int32_t k = 0; k < b->all; k++)
        for (int x = 0; x < 6; x++) out[x] += f->start[6 * k + x] * q[k];
}

/* What both have of second order in the rates of the modes. */
void fm_bend_seconds(const fm_bend *f, const fm_modal *b, const double *rates, double out[6])
{
    memset(out, 0, 6 * sizeof *out);
    for (int32_t a = 0; a < b->all - b->n; a++) {
        const double second = fm_bend_second(b, a, rates);
        for (int x = 0; x < 6; x++) out[x] += f->start[6 * (b->n + a) + x] * second;
    }
}

/* Translation and rotation vector at the present shape of the body, and the columns of the modes. */
void fm_bend_place(fm_instance *s, int32_t frame, const fm_modal *b)
{
    fm_bend *f = s->bend + frame;
    double once[3], twice[3];
    fm_bend_moved(f, b, b->bent, f->moved);
    memcpy(f->theta, f->moved + 3, sizeof f->theta);
    for (int32_t k = 0; f->now != NULL && k < b->n; k++) {
        memcpy(f->now + 6 * k, f->start + 6 * k, 6 * sizeof *f->now);
        for (int32_t a = 0; a < b->all - b->n; a++)
            for (int x = 0; x < 6; x++) f->now[6 * k + x] += b->lean[a][k] * f->start[6 * (b->n + a) + x];
    }
    if (f->planar) return;
    f->x = dot(f->theta, f->theta);
    factors(f);
    for (int32_t k = 0; k < b->n; k++) {
        cross(f->theta, f->rows + 6 * k + 3, once);
        cross(f->theta, once, twice);
        for (int j = 0; j < 3; j++) f->turn[3 * k + j] = f->rows[6 * k + 3 + j] + (f->a * once[j] + f->b * twice[j]);
    }
}

/* exp(sign [theta]) */
void fm_bend_axes(const fm_bend *f, double sign, double E[9])
{
    const double *t = f->theta, c = 1.0 - f->x * f->a, sine = sign * (1.0 - f->x * f->b);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) E[3 * i + j] = f->a * t[i] * t[j] + (i == j ? c : 0.0);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        E[3 * k + j] += sine * t[i];
        E[3 * j + k] -= sine * t[i];
    }
}

/* exp(sign [theta]) as a unit quaternion. */
void fm_bend_quaternion(const double theta[3], double sign, double q[4])
{
    const int about_z = theta[0] == 0.0 && theta[1] == 0.0;
    const double angle = about_z ? theta[2] : sqrt(dot(theta, theta));
    double sine;
    fm_cos_and_sin(0.5 * angle, q, &sine);
    sine *= sign;
    for (int j = 0; j < 3; j++) q[1 + j] = about_z ? (j == 2 ? sine : 0.0) : sine * (theta[j] / angle);
}

/* T' theta' and what T theta'' has of the rates of the modes, in the axes of the floating frame. */
void fm_bend_drift(const fm_bend *f, const fm_modal *b, const double *rates, double out[3])
{
    double across[3], again[3], third[3], rate[3] = {0.0, 0.0, 0.0}, seconds[6];
    memset(out, 0, 3 * sizeof *out);
    if (f->planar) return;
    for (int32_t k = 0; k < b->n; k++)
        for (int j = 0; j < 3; j++) rate[j] += f->rows[6 * k + 3 + j] * rates[k];
    const double xdot = 2.0 * dot(f->theta, rate);
    cross(f->theta, rate, across);
    cross(f->theta, across, again);
    cross(rate, across, third);
    for (int j = 0; j < 3; j++) out[j] = xdot * (f->da * across[j] + f->db * again[j]) + f->b * third[j];
    if (b->all == b->n) return;
    fm_bend_seconds(f, b, rates, seconds);
    cross(f->theta, seconds + 3, across);
    cross(f->theta, across, again);
    for (int j = 0; j < 3; j++) out[j] += seconds[3 + j] + (f->a * across[j] + f->b * again[j]);
}
