/* test_factors.c: factors of random dense matrices, by what they must give: A x = b, R = sum of w w' and K = sum of
 * gamma w w', J' lambda = force; least eigenvalues, by that of another matrix with the same ones. lu_complex.c and
 * fm_lu_solve_transposed take the transpose of A.
 */
#include "images.h"

#include "maths/cholesky.h"
#include "maths/diagonalise.h"
#include "maths/hessenberg.h"
#include "maths/lu.h"
#include "maths/lu_complex.h"
#include "maths/products.h"
#include "maths/reflections.h"

#define N 9
#define DRAWS 300
#define WITHIN 1e-9 /* of draws whose conditions are up to 1e5 */

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

/* B B' + part of 1: positive definite for part > 0. */
static void definite(uint64_t *seed, int rank, double part, int32_t n, double *A)
{
    double B[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) B[i][j] = j < rank ? uniform(seed) : 0.0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) A[i * n + j] = fm_product(B[i], B[j], N) + (i == j ? part : 0.0);
}

static void check_solution(const double *A, int32_t n, const double *x, const double *b)
{
    for (int32_t i = 0; i < n; i++) CHECK(fabs(fm_product(A + i * n, x, n) - b[i]) < WITHIN);
}

static void ones(double unit[N])
{
    for (int i = 0; i < N; i++) unit[i] = 1.0;
}

static void test_lu(uint64_t *seed)
{
    double A[N * N], LU[N * N], b[N], x[N];
    int32_t exchanged[N];
    double unit[N];
    for (int32_t n = 1; n <= N; n++)
        for (int way = 0; way < 2; way++) {
            definite(seed, N, way ? 0.1 : 0.0, n, A);
            for (int32_t i = 0; i < n * n && !way; i++) A[i] = uniform(seed);
            if (!way) A[0] = 0.0; /* so that rows have to be exchanged */
            if (n == 1 && !way) A[0] = 2.0;
            for (int32_t i = 0; i < n; i++) b[i] = x[i] = 0.01 * uniform(seed);
            memcpy(LU, A, sizeof A);
            ones(unit), fm_lu_factor(LU, n, unit, way ? NULL : exchanged);
            fm_lu_solve(LU, n, way ? NULL : exchanged, x);
            double most = 0.0;
            for (int32_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
            if (most < 1e4) check_solution(A, n, x, b);
        }
}

static void transpose(const double *A, int32_t n, double *out)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) out[j * n + i] = A[i * n + j];
}

/* A x = b and (A + i B)(x + i y) = b + i c from factors of the transpose; rows have to be exchanged. */
static void test_transposed(uint64_t *seed)
{
    double A[N * N], B[N * N], LU[N * N], re[N * N], im[N * N], b[N], c[N], x[N], y[N], unit[N];
    int32_t exchanged[N];
    for (int32_t n = 2; n <= N; n++) {
        double most = 0.0;
        for (int32_t i = 0; i < n * n; i++) A[i] = uniform(seed), B[i] = uniform(seed);
        A[0] = B[0] = 0.0;
        for (int32_t i = 0; i < n; i++) b[i] = x[i] = 0.01 * uniform(seed), c[i] = y[i] = 0.01 * uniform(seed);
        transpose(A, n, LU);
        ones(unit), fm_lu_factor(LU, n, unit, exchanged);
        fm_lu_solve_transposed(LU, n, exchanged, x);
        for (int32_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
        if (most < 1e4) check_solution(A, n, x, b);
        memcpy(x, b, sizeof x);
        transpose(A, n, re), transpose(B, n, im);
        ones(unit), fm_lu_complex_factor(re, im, n, unit, exchanged);
        fm_lu_complex_solve(re, im, n, exchanged, x, y);
        most = 0.0;
        for (int32_t i = 0; i < n; i++) most = fmax(most, fmax(fabs(x[i]), fabs(y[i])));
        for (int32_t i = 0; i < n && most < 1e4; i++) {
            CHECK(fabs(fm_product(A + i * n, x, n) - fm_product(B + i * n, y, n) - b[i]) < WITHIN);
            CHECK(fabs(fm_product(A + i * n, y, n) + fm_product(B + i * n, x, n) - c[i]) < WITHIN);
        }
    }
}

/* Rows in other units, powers of two: the same exchanges and the same digits. */
static void test_units_of_rows(uint64_t *seed)
{
    double A[N * N], B[N * N], re[N * N], im[N * N], x[N], y[N], unit[N], size[N];
    int32_t exchanged[N], also[N];
    for (int32_t n = 2; n <= N; n++) {
        for (int32_t i = 0; i < n; i++) {
            size[i] = ldexp(1.0, (int)(12.0 * uniform(seed)));
            x[i] = uniform(seed), y[i] = x[i] / size[i];
            for (int32_t j = 0; j < n; j++) A[i * n + j] = uniform(seed), B[i * n + j] = A[i * n + j] / size[i];
        }
        memcpy(re, A, sizeof re), ones(unit), fm_lu_factor(re, n, unit, exchanged);
        fm_lu_solve(re, n, exchanged, x);
        memcpy(re, B, sizeof re), memcpy(unit, size, sizeof unit), fm_lu_factor(re, n, unit, also);
        fm_lu_solve(re, n, also, y);
        CHECK(memcmp(exchanged, also, (size_t)n * sizeof *also) == 0 && memcmp(x, y, (size_t)n * sizeof *x) == 0);

        memset(im, 0, sizeof im), ones(unit), fm_lu_complex_factor(A, im, n, unit, exchanged);
        memset(im, 0, sizeof im), fm_lu_complex_factor(B, im, n, size, also);
        CHECK(memcmp(exchanged, also, (size_t)n * sizeof *also) == 0);
    }
}

/* A pivot that is not positive counts as infinite: its unknown is zero, and the others do without it. */
static void test_pivots_that_vanish(void)
{
    double A[9] = {4.0, 0.0, 2.0, 0.0, -1e-18, 0.0, 2.0, 0.0, 3.0}, x[3] = {8.0, 5.0, 8.0};
    fm_lu_factor(A, 3, NULL, NULL);
    fm_lu_solve(A, 3, NULL, x);
    CHECK(x[0] == 1.0 && x[1] == 0.0 && x[2] == 2.0);
}

static void test_cholesky(uint64_t *seed)
{
    double A[N * N], L[N * (N + 2)], b[N], x[N];
    for (int32_t n = 1; n <= N; n++) {
        definite(seed, N, 0.1, n, A);
        for (int32_t i = 0; i < n; i++) {
            memcpy(L + i * (N + 2), A + i * n, (size_t)n * sizeof *A);
            b[i] = x[i] = uniform(seed);
        }
        CHECK(fm_cholesky_factor(L, n, N + 2));
        fm_cholesky_solve(L, n, N + 2, x);
        check_solution(A, n, x, b);
    }
    double indefinite[4] = {1.0, 2.0, 2.0, 1.0};
    CHECK(!fm_cholesky_factor(indefinite, 2, 2));
}

/* Also where R has a rank below six; the w are then as many. */
static void test_both(uint64_t *seed)
{
    for (int rank = 0; rank <= 6; rank++) {
        double R[6][6], K[6][6], kept[6][6], w[6][6], gamma[6], scale[6], some[6][6], c[6][6];
        definite(seed, rank, 0.0, 6, R[0]);
        memcpy(kept, R, sizeof R);
        for (int i = 0; i < 6; i++) scale[i] = exp(uniform(seed));
        CHECK(fm_diagonalise_both(R, kept, scale, w, gamma) == rank);
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) some[i][j] = i < rank ? w[i][j] : 0.0;
        for (int i = 0; i < rank; i++)
            for (int j = 0; j <= i; j++) c[i][j] = c[j][i] = uniform(seed); /* K = sum of c_ij w_i w_j' */
        for (int a = 0; a < 6; a++)
            for (int b = 0; b < 6; b++) {
                K[a][b] = 0.0;
                for (int i = 0; i < rank; i++)
                    for (int j = 0; j < rank; j++) K[a][b] += c[i][j] * some[i][a] * some[j][b];
            }
        memcpy(R, kept, sizeof R);
        CHECK(fm_diagonalise_both(R, K, scale, w, gamma) == rank);
        for (int a = 0; a < 6; a++)
            for (int b = 0; b < 6; b++) {
                double both[2] = {0.0, 0.0};
                for (int i = 0; i < rank; i++) both[0] += w[i][a] * w[i][b], both[1] += gamma[i] * w[i][a] * w[i][b];
                CHECK(fabs(both[0] - kept[a][b]) < WITHIN && fabs(both[1] - K[a][b]) < WITHIN);
            }
    }
}

/* Of rows that share some coordinates: J H = [L 0], so that J' lambda has the lambda that it was made of. */
static void test_reflections(uint64_t *seed)
{
    enum { ROWS = 5 };
    double v[ROWS * N], beta[ROWS], L[ROWS * ROWS], J[ROWS][N], row[N], lambda[ROWS], force[N], found[ROWS];
    int32_t at[ROWS * N], count[ROWS], pivot[ROWS], next[ROWS], reached[ROWS], first[N], listed[N], taken[N], path[N];
    fm_reflections r = {v, at, count, beta, pivot, next, reached, L, first, listed, taken, 0, ROWS, N};
    memset(listed, 0, sizeof listed);
    memset(L, 0, sizeof L);
    for (int32_t n = 0; n < N; n++) path[n] = n;
    fm_reflect_begin(&r, NULL, 0);
    for (int q = 0; q < ROWS; q++) {
        for (int n = 0; n < N; n++) row[n] = J[q][n] = uniform(seed) > 0.2 || n == q ? uniform(seed) : 0.0;
        L[q * (ROWS + 1)] = sqrt(fm_reflect_row(&r, row, path, N));
        lambda[q] = uniform(seed);
    }
    fm_reflect_multiply(&r, lambda, force);
    for (int n = 0; n < N; n++) {
        double sum = 0.0;
        for (int q = 0; q < ROWS; q++) sum += J[q][n] * lambda[q];
        CHECK(fabs(force[n] - sum) < WITHIN);
    }
    fm_reflect_solve(&r, force, found);
    for (int q = 0; q < ROWS; q++) CHECK(fabs(found[q] - lambda[q]) < WITHIN);
}

/* Of upper Hessenberg matrices with few different entries, many of them zero, as structures have them. The transpose
 * about the other diagonal is one as well, and has the same eigenvalues; those that coincide have fewer digits. */
static void test_least_eigenvalue(uint64_t *seed)
{
    double A[N * N], B[N * N], one, other;
    for (int32_t n = 1; n <= N; n++) {
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                const double drawn = 0.25 * floor(2.0 * uniform(seed) + 0.5);
                A[i * n + j] = i > j + 1 ? 0.0 : i == j + 1 && drawn == 0.0 ? 0.5 : drawn;
            }
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) B[i * n + j] = A[(n - 1 - j) * n + n - 1 - i];
        CHECK(fm_least_eigenvalue(A, n, &one) && fm_least_eigenvalue(B, n, &other));
        CHECK(fabs(one - other) < 1e-3);
    }
}

int main(void)
{
    uint64_t seed = 7;
    current = "factors";
    for (int n = 0; n < DRAWS; n++) {
        test_lu(&seed);
        test_transposed(&seed);
        test_units_of_rows(&seed);
        test_cholesky(&seed);
        test_both(&seed);
        test_reflections(&seed);
        test_least_eigenvalue(&seed);
    }
    test_pivots_that_vanish();
    return 0;
}
