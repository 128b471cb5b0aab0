/* velocity_rows.c: constraint rows that are linear in the velocities: of speeds, spins and rolling (copcod, Eq 7, p =
 * 1, 2).
 *
 * All vectors are in world axes, and rates are those that an observer on F sees: with w_F, alpha_F of F's link and
 * d = p_M - p_F
 *     v = d' - w_F x d,   a = d'' - alpha_F x d - w_F x (w_F x d) - 2 w_F x v
 *     w = w_M - w_F,      alpha = alpha_M - alpha_F - w_F x w
 * A row is e . v or e . w, or a . w + b . v, with vectors fixed in F or in M, less the value zeta of a program. Those
 * of the last may be a + a1 q, b + b1 q with a coordinate q of the tree. A disc of radius R with the axis b, on the
 * plane normal to n of F, touches it at M's origin plus r = -R m / |m|,   m = n - (n . b) b;   a ball: r = -R n It is
 * in contact where n . d = -n . r, and rolls where e . (v + w x r) = 0 for e in the plane.
 */
#include "velocity_rows.h"

#include "../maths/vectors.h"
#include "../instance/instance.h"

#include <math.h>
#include <string.h>

typedef struct relative {
    double d[3], v[3], a[3], w[3], alpha[3];
} relative;

static void see_from(const fm_place *f, const fm_place *g, relative *out)
{
    double one[3], other[3], third[3];
    for (int j = 0; j < 3; j++) out->d[j] = g->r[j] - f->r[j], out->w[j] = g->w[j] - f->w[j];
    cross(f->w, out->d, one);
    for (int j = 0; j < 3; j++) out->v[j] = (g->v[j] - f->v[j]) - one[j];
    cross(f->w, one, other);
    cross(f->alpha, out->d, one);
    cross(f->w, out->v, third);
    for (int j = 0; j < 3; j++) out->a[j] = (((g->a[j] - f->a[j]) - one[j]) - other[j]) - 2.0 * third[j];
    cross(f->w, out->w, one);
    for (int j = 0; j < 3; j++) out->alpha[j] = (g->alpha[j] - f->alpha[j]) - one[j];
}

static void in_world(const fm_instance *s, int32_t link, const double *in, double out[3])
{
    if (link < 0) memcpy(out, in, 3 * sizeof *in);
    else rotate_out(s->world[link].R, in, out);
}

/* The arm from M's origin to the point of contact, and its rate as seen from F. */
static void contact_arm(double R, const double n[3], const double b[3], const double w[3], double r[3], double rate[3])
{
    double turned[3];
    memset(rate, 0, 3 * sizeof *rate);
    if (R < 0.0) {
        for (int j = 0; j < 3; j++) r[j] = R * n[j];
        return;
    }
    double m[3], moved[3];
    cross(w, b, turned);
    const double along = dot(n, b), along_rate = dot(n, turned);
    for (int j = 0; j < 3; j++) m[j] = n[j] - along * b[j], moved[j] = -along_rate * b[j] - along * turned[j];
    const double size = sqrt(dot(m, m)), size_rate = dot(m, moved) / size;
    for (int j = 0; j < 3; j++) r[j] = -R * m[j] / size, rate[j] = -R * (moved[j] - m[j] * size_rate / size) / size;
}

static void rolling_row(const fm_instance *s, int32_t row, const relative *to, fm_constraint *out)
{
    const fm_image *m = &s->image;
    const int32_t joint = m->row_joint[row];
    const double *F = m->joint_F + 9 * joint, normal[3] = {F[2], F[5], F[8]};
    double e[3], n[3], b[3], r[3], rate[3], one[3], other[3];
    in_world(s, m->joint_F_link[joint], m->row_f + 3 * row, e);
    in_world(s, m->joint_F_link[joint], normal, n);
    in_world(s, m->joint_M_link[joint], m->row_g + 3 * row, b);
    contact_arm(m->row_length[row], n, b, to->w, r, rate);
    if (m->row_kind[row] == FM_ROW_CONTACT) {
        memcpy(e, n, sizeof e);
        out->c[0] = dot(n, to->d) + dot(n, r);
    }
    cross(to->w, r, one);
    out->c[1] = dot(e, to->v) + dot(e, one);
    cross(to->alpha, r, one);
    cross(to->w, rate, other);
    out->c[2] = (dot(e, to->a) + dot(e, one)) + dot(e, other);
    memcpy(out->force, e, sizeof e);
    cross(r, e, out->torque);
}

/* a . w + b . v, with vectors that may change with a coordinate. */
static void twist_row(const fm_instance *s, int32_t row, const relative *to, fm_constraint *out)
{
    const fm_image *m = &s->image;
    const int in_M = m->row_kind[row] == FM_ROW_TWIST_M;
    const int32_t joint = m->row_joint[row], link = in_M ? m->joint_M_link[joint] : m->joint_F_link[joint],
                  vary = m->row_vary[row];
    double a[3], b[3], turned[3] = {0.0, 0.0, 0.0};
    in_world(s, link, m->row_f + 3 * row, a);
    in_world(s, link, m->row_g + 3 * row, b);
    if (vary >= 0) {
        const fm_link *k = s->link + vary;
        const double q = s->work.evaluated[k->p], rate = s->work.evaluated[m->n.positions + k->u];
        double da[3], db[3];
        in_world(s, link, m->row_df + 3 * row, da);
        in_world(s, link, m->row_dg + 3 * row, db);
        for (int j = 0; j < 3; j++) a[j] += q * da[j], b[j] += q * db[j];
        out->c[2] = rate * (dot(da, to->w) + dot(db, to->v));
    }
    if (in_M) cross(to->w, b, turned); /* w is the same in both axes, and so is its rate along a */
    out->c[1] = dot(a, to->w) + dot(b, to->v);
    out->c[2] += (dot(a, to->alpha) + dot(b, to->a)) + dot(turned, to->v);
    memcpy(out->torque, a, sizeof a);
    memcpy(out->force, b, sizeof b);
}

/* Whether a row constrains no positions. */
int fm_is_rate_row(const fm_image *m, int32_t row)
{
    const int32_t kind = m->row_kind[row];
    return (kind >= FM_ROW_SPEED && kind <= FM_ROW_ROLLING) ||
           (kind == FM_ROW_COUPLED && m->row_part[row] != FM_OF_POSITION);
}

/* Makes c the violation of a program for velocities, or for accelerations. */
void fm_rate_row(const fm_instance *s, int32_t row, fm_constraint *out)
{
    const fm_image *m = &s->image;
    const int32_t level = m->row_part[row], mode = m->row_excitation[row];
    out->c[0] = 0.0;
    if (level == FM_OF_ACCELERATION) out->c[1] = 0.0;
    if (mode < 0 || s->laws.off || s->work.still)
        return; /* a response to inputs is that of unprogrammed motion; drives stand */
    const double *y = s->work.evaluated, eta = y[m->excitation_p[mode]],
                 kappa = y[m->n.positions + m->excitation_u[mode]];
    out->c[level] -= eta;
    if (level == FM_OF_VELOCITY) out->c[2] -= kappa;
}

/* A row of velocities; ends: the frames of its joint. */
void fm_velocity_row(const fm_instance *s, int32_t row, const fm_ends *ends, fm_constraint *out)
{
    const fm_image *m = &s->image;
    const int32_t kind = m->row_kind[row], joint = m->row_joint[row];
    relative to;
    see_from(&ends->F, &ends->M, &to);
    if (kind == FM_ROW_ROLLING || kind == FM_ROW_CONTACT) {
        rolling_row(s, row, &to, out);
    } else if (kind == FM_ROW_TWIST || kind == FM_ROW_TWIST_M) {
        twist_row(s, row, &to, out);
    } else {
        const int in_M = kind == FM_ROW_SPEED_M || kind == FM_ROW_SPIN_M, spin = kind >= FM_ROW_SPIN;
        const double *rate = spin ? to.w : to.v, *second = spin ? to.alpha : to.a;
        double e[3], turned[3] = {0.0, 0.0, 0.0};
        in_world(s, in_M ? m->joint_M_link[joint] : m->joint_F_link[joint], (in_M ? m->row_g : m->row_f) + 3 * row, e);
        if (in_M) cross(to.w, e, turned);
        out->c[1] = dot(e, rate);
        out->c[2] = dot(e, second) + dot(turned, rate);
        memcpy(spin ? out->torque : out->force, e, sizeof e);
    }
    if (kind != FM_ROW_CONTACT) fm_rate_row(s, row, out);
}
