/* diagonalise.c: two symmetric matrices of six rows, R without negative eigenvalues, by the same vectors. */
#include "diagonalise.h"

#include <math.h>

#define FM_ROUNDED_PIVOT 1e-13 /* of a pivot: round-off */

/* R = sum of w w' by pivots, the largest times `scale` first. Returns how many there are, their rows in `row`. */
static int pivots(double R[6][6], const double scale[6], double w[6][6], int row[6])
{
    double first[6];
    for (int i = 0; i < 6; i++) first[i] = R[i][i];
    for (int n = 0; n < 6; n++) {
        int at = 0;
        for (int i = 1; i < 6; i++) at = R[i][i] * scale[i] > R[at][at] * scale[at] ? i : at;
        if (!(R[at][at] > FM_ROUNDED_PIVOT * first[at])) return n;
        row[n] = at;
        const double root = sqrt(R[at][at]);
        for (int i = 0; i < 6; i++) w[n][i] = R[i][at] / root;
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) R[i][j] -= w[n][i] * w[n][j];
        R[at][at] = 0.0;
    }
    return 6;
}

/* Diagonalises the symmetric B by Jacobi's rotations, which it applies to the w, too. Each takes 2 B_pq^2 from the sum
 * of the squares off the diagonal, and angles are at most 45 degrees: sweeps converge (G. E. Forsythe, P. Henrici,
 * Trans. AMS 94 (1960) 1), quadratically in the end. Draws over 32 decades took up to 7. */
static void diagonalise(int n, double B[6][6], double w[6][6])
{
    for (int turned = 1; turned;) {
        turned = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (!(fabs(B[p][q]) > FM_ROUNDED_PIVOT * (fabs(B[p][p]) + fabs(B[q][q])))) continue;
                const double far = 0.5 * (B[q][q] - B[p][p]) / B[p][q];
                const double t = (far < 0.0 ? -1.0 : 1.0) / (fabs(far) + sqrt(far * far + 1.0)),
                             c = 1.0 / sqrt(t * t + 1.0), si = t * c;
                for (int k = 0; k < n; k++) {
                    const double x = B[k][p], y = B[k][q];
                    B[k][p] = c * x - si * y, B[k][q] = si * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    const double x = B[p][k], y = B[q][k];
                    B[p][k] = c * x - si * y, B[q][k] = si * x + c * y;
                }
                B[p][q] = B[q][p] = 0.0; /* round-off there would be turned without end */
                for (int k = 0; k < 6; k++) {
                    const double x = w[p][k], y = w[q][k];
                    w[p][k] = c * x - si * y, w[q][k] = si * x + c * y;
                }
                turned = 1;
            }
    }
}

/* R = sum of w w' and, as far as the w reach, K = sum of gamma w w'; the pivots of R are compared times `scale`.
 * Returns how many w there are. Overwrites R. */
int fm_diagonalise_both(double R[6][6], double K[6][6], const double scale[6], double w[6][6], double gamma[6])
{
    double B[6][6];
    int row[6];
    const int n = pivots(R, scale, w, row);
    for (int i = 0; i < n; i++) /* B = W^-1 K W^-T at the rows of the pivots, where W is lower triangular */
        for (int j = 0; j < n; j++) {
            double sum = K[row[i]][row[j]];
            for (int k = 0; k < i; k++) sum -= w[k][row[i]] * B[k][j];
            B[i][j] = sum / w[i][row[i]];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = B[i][j];
            for (int k = 0; k < j; k++) sum -= B[i][k] * w[k][row[j]];
            B[i][j] = sum / w[j][row[j]];
        }
    diagonalise(n, B, w);
    for (int i = 0; i < n; i++) gamma[i] = B[i][i];
    return n;
}
