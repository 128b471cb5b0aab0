/* jacobians.c: the constraint Jacobian of a plane mechanism in two ways, for constraint_violation.py to time.
 *
 * constraint-jacobians, Algorithm 1 (semi-analytic, swept along the two paths of each loop) and Algorithm 2 (direct
 * differentiation: for every coordinate the derivatives of all elements), on the same elements in the same language.
 * In the plane a vector r = [x, y] is a complex number x + i y, a matrix A of cosines exp(i angle), and D A = i A.
 */
#include <complex.h>
#include <stdint.h>

typedef double complex number;

enum { BODY, PIN, SLIDE, FLEXIBLE };

/* inboard: the element whose tip its root is at, -1: the ground; first: its coordinates, of which there are `count`;
 * group: where its group II is, one for each. l: of a body, from root to tip; of a slide, its direction. node: of a
 * flexible body, where its nodes are in `nodes`: u, then for each mode Phi_u (as a number) and Phi_theta; first of the
 * root, then of the tip. A body with several tips is as many elements. */
typedef struct element {
    int32_t kind, inboard, first, count, node, group;
    double l[2], turn[2]; /* turn: of a body, exp(i angle) */
} element;

typedef struct joint { /* a pin between B and M, each an element's tip (-1: the ground) and l_TP */
    int32_t element[2];
    double l[2][2];
} joint;

static number number_of(const double *v)
{
    return v[0] + v[1] * I;
}

static void deform(const double *node, int32_t modes, const double *q, number *rho, number *A)
{
    double theta = 0.0;
    *rho = number_of(node);
    for (int32_t i = 0; i < modes; i++) {
        *rho += number_of(node + 2 + 3 * i) * q[i];
        theta += node[4 + 3 * i] * q[i];
    }
    *A = cexp(theta * I);
}

/* l_RT and A_RT of all elements, r_OT and A_OT of their tips, and all of group II. */
void place(int32_t n, const element *e, const double *nodes, const double *q, number *l, number *A, number *r_O,
           number *A_O, number *l_q, number *A_q)
{
    for (int32_t j = 0; j < n; j++) {
        const double *own = q + e[j].first;
        const number at = e[j].inboard < 0 ? 0.0 : r_O[e[j].inboard],
                     turned = e[j].inboard < 0 ? 1.0 : A_O[e[j].inboard];
        l[j] = 0.0, A[j] = 1.0;
        if (e[j].kind == BODY) l[j] = number_of(e[j].l), A[j] = number_of(e[j].turn);
        if (e[j].kind == PIN) {
            A[j] = cexp(own[0] * I);
            l_q[e[j].group] = 0.0, A_q[e[j].group] = I * A[j];
        }
        if (e[j].kind == SLIDE) {
            l[j] = number_of(e[j].l) * own[0];
            l_q[e[j].group] = number_of(e[j].l), A_q[e[j].group] = 0.0;
        }
        if (e[j].kind == FLEXIBLE) {
            const double *root = nodes + e[j].node, *tip = root + 2 + 3 * e[j].count;
            number rho_R, rho_T, A_R, A_T;
            deform(root, e[j].count, own, &rho_R, &A_R);
            deform(tip, e[j].count, own, &rho_T, &A_T);
            l[j] = conj(A_R) * (rho_T - rho_R), A[j] = conj(A_R) * A_T;
            for (int32_t i = 0; i < e[j].count; i++) {
                const double *R = root + 2 + 3 * i, *T = tip + 2 + 3 * i;
                l_q[e[j].group + i] = conj(A_R) * (number_of(T) - number_of(R)) - I * R[2] * l[j];
                A_q[e[j].group + i] = I * (T[2] - R[2]) * A[j];
            }
        }
        r_O[j] = at + turned * l[j];
        A_O[j] = turned * A[j];
    }
}

static number point(const joint *k, int32_t end, const number *r_O, const number *A_O)
{
    const int32_t i = k->element[end];
    return i < 0 ? number_of(k->l[end]) : r_O[i] + A_O[i] * number_of(k->l[end]);
}

/* J: two rows a joint, each of `coordinates`. */
void algorithm_1(const element *e, int32_t joints, const joint *k, int32_t coordinates, const number *r_O,
                 const number *A_O, const number *l_q, const number *A_q, double *J)
{
    for (int32_t c = 0; c < 2 * joints * coordinates; c++) J[c] = 0.0;
    for (int32_t c = 0; c < joints; c++) {
        double *x = J + 2 * c * coordinates, *y = x + coordinates;
        number P[2] = {point(k + c, 0, r_O, A_O), point(k + c, 1, r_O, A_O)};
        int32_t end[2] = {k[c].element[0], k[c].element[1]};
        while (end[0] != end[1]) { /* to the root of the loop; an element's inboard comes before it */
            const int32_t side = end[1] > end[0], j = end[side];
            const number A_OR = e[j].inboard < 0 ? 1.0 : A_O[e[j].inboard];
            const number l_TP = conj(A_O[j]) * (P[side] - r_O[j]);
            for (int32_t i = 0; i < e[j].count; i++) {
                const number r_q = A_OR * (l_q[e[j].group + i] + A_q[e[j].group + i] * l_TP);
                x[e[j].first + i] += side ? creal(r_q) : -creal(r_q);
                y[e[j].first + i] += side ? cimag(r_q) : -cimag(r_q);
            }
            end[side] = e[j].inboard;
        }
    }
}

void algorithm_2(int32_t n, const element *e, int32_t joints, const joint *k, int32_t coordinates, const number *l,
                 const number *A, const number *A_O, const number *l_q, const number *A_q, number *r_Oq, number *A_Oq,
                 double *J)
{
    for (int32_t i = 0; i < coordinates; i++) {
        for (int32_t j = 0; j < n; j++) {
            const int32_t R = e[j].inboard;
            const number r_q = R < 0 ? 0.0 : r_Oq[R], turned_q = R < 0 ? 0.0 : A_Oq[R];
            r_Oq[j] = r_q + turned_q * l[j];
            A_Oq[j] = turned_q * A[j];
            if (i < e[j].first || i >= e[j].first + e[j].count) continue;
            r_Oq[j] += (R < 0 ? 1.0 : A_O[R]) * l_q[e[j].group + i - e[j].first];
            A_Oq[j] += (R < 0 ? 1.0 : A_O[R]) * A_q[e[j].group + i - e[j].first];
        }
        for (int32_t c = 0; c < joints; c++) {
            number change = 0.0;
            for (int32_t end = 0; end < 2; end++) {
                const int32_t at = k[c].element[end];
                if (at < 0) continue;
                const number r_q = r_Oq[at] + A_Oq[at] * number_of(k[c].l[end]);
                change += end ? r_q : -r_q;
            }
            J[2 * c * coordinates + i] = creal(change);
            J[(2 * c + 1) * coordinates + i] = cimag(change);
        }
    }
}
