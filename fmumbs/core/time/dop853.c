/* dop853.c: trial steps by Dormand and Prince's method of order 8, their error and their dense output of order 7.
 *
 * The coefficients are those of DOP853 by E. Hairer and G. Wanner: Hairer, Norsett, Wanner, Solving Ordinary
 * Differential Equations I, II.5 and II.6.
 */
#include "../motion/rates.h"
#include "../motion/scratch.h"
#include "explicit.h"
#include "scheme.h"
#include "scratch.h"
#include "stages.h"

#include <math.h>
#include <string.h>

/* times eps^(-1/8): how much more than the tolerance eps the last term of the dense output may be */
#define FM_LAST_TERM 30.0
#define FM_LAST_LARGEST 0.0084 /* the maximum of x^4 (1 - x)^3, the last term by its coefficient */
#define FM_ALL_STAGES FM_STAGES_OF_DOP853
#define FM_LAST 12 /* the stage at the end of the step; those after it are for the dense output */

static const double A[FM_ALL_STAGES][FM_ALL_STAGES - 1] = {
    {0.0},
    {0.05260015195876773},
    {0.0197250569845379, 0.0591751709536137},
    {0.02958758547680685, 0.0, 0.08876275643042054},
    {0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792},
    {0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242},
    {0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125},
    {0.03709200011850479, 0.0, 0.0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
     0.008273789163814023},
    {0.6241109587160757, 0.0, 0.0, -3.3608926294469414, -0.868219346841726, 27.59209969944671, 20.154067550477894,
     -43.48988418106996},
    {0.47766253643826434, 0.0, 0.0, -2.4881146199716677, -0.590290826836843, 21.230051448181193, 15.279233632882423,
     -33.28821096898486, -0.020331201708508627},
    {-0.9371424300859873, 0.0, 0.0, 5.186372428844064, 1.0914373489967295, -8.149787010746927, -18.52006565999696,
     22.739487099350505, 2.4936055526796523, -3.0467644718982196},
    {2.273310147516538, 0.0, 0.0, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
     -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636},
    {0.054293734116568765, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
     0.3111643669578199, -0.1521609496625161, 0.20136540080403034, 0.04471061572777259},
    {0.056167502283047954, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25350021021662483, -0.2462390374708025, -0.12419142326381637,
     0.15329179827876568, 0.00820105229563469, 0.007567897660545699, -0.008298},
    {0.03183464816350214, 0.0, 0.0, 0.0, 0.0, 0.028300909672366776, 0.053541988307438566, -0.05492374857139099, 0.0,
     0.0, -0.00010834732869724932, 0.0003825710908356584, -0.00034046500868740456, 0.1413124436746325},
    {-0.42889630158379194, 0.0, 0.0, 0.0, 0.0, -4.697621415361164, 7.683421196062599, 4.06898981839711,
     0.3567271874552811, 0.0, 0.0, 0.0, -0.0013990241651590145, 2.9475147891527724, -9.15095847217987},
};
static const double C[] = {0.0,
                           0.05260015195876773,
                           0.0789002279381516,
                           0.1183503419072274,
                           0.2816496580927726,
                           0.3333333333333333,
                           0.25,
                           0.3076923076923077,
                           0.6512820512820513,
                           0.6,
                           0.8571428571428571,
                           1.0,
                           1.0,
                           0.1,
                           0.2,
                           0.7777777777777778};
static const double E5[] = {0.01312004499419488,
                            0.0,
                            0.0,
                            0.0,
                            0.0,
                            -1.2251564463762044,
                            -0.4957589496572502,
                            1.6643771824549864,
                            -0.35032884874997366,
                            0.3341791187130175,
                            0.08192320648511571,
                            -0.022355307863886294,
                            0.0};
static const double E3[] = {-0.18980075407240762,
                            0.0,
                            0.0,
                            0.0,
                            0.0,
                            4.450312892752409,
                            1.8915178993145003,
                            -5.801203960010585,
                            -0.4226823213237919,
                            -0.1521609496625161,
                            0.20136540080403034,
                            0.02265179219836082,
                            0.0};
/* The sixth divided difference of the slopes of stages 1 and 6 to 11, an estimate of order 6. Its factor makes it the
 * error of a step at the limit of stability on the real axis, h lambda = -6.39. */
static const double E6[] = {
    0.04188926283437027,
    0.0,
    0.0,
    0.0,
    0.0,
    -11.373119123151053,
    -3.51015535409618,
    14.322957072884329,
    -1.193593678317188,
    1.6666467355780143,
    0.045375084267708136,
    0.0,
    0.0,
};
static const double D[4][FM_ALL_STAGES] = {
    {-8.428938276109013, 0.0, 0.0, 0.0, 0.0, 0.5667149535193777, -3.0689499459498917, 2.38466765651207,
     2.117034582445028, -0.871391583777973, 2.2404374302607883, 0.6315787787694688, -0.08899033645133331,
     18.148505520854727, -9.194632392478356, -4.436036387594894},
    {10.427508642579134, 0.0, 0.0, 0.0, 0.0, 242.28349177525817, 165.20045171727028, -374.5467547226902,
     -22.113666853125306, 7.733432668472264, -30.674084731089398, -9.332130526430229, 15.697238121770845,
     -31.139403219565178, -9.35292435884448, 35.81684148639408},
    {19.985053242002433, 0.0, 0.0, 0.0, 0.0, -387.0373087493518, -189.17813819516758, 527.8081592054236,
     -11.57390253995963, 6.8812326946963, -1.0006050966910838, 0.7777137798053443, -2.778205752353508,
     -60.19669523126412, 84.32040550667716, 11.99229113618279},
    {-25.69393346270375, 0.0, 0.0, 0.0, 0.0, -154.18974869023643, -231.5293791760455, 357.6391179106141,
     93.40532418362432, -37.45832313645163, 104.0996495089623, 29.8402934266605, -43.53345659001114, 96.32455395918828,
     -39.17726167561544, -149.72683625798564},
};

/* One trial step of length h from the head; returns its error, NaN if the state is not finite. The estimate of order 5
 * is corrected by that of order 3: Hairer, Norsett, Wanner, (II.10.17). It vanishes at h lambda = -5.654, where a step
 * is off by a quarter of what is stiff; there that of order 6 takes its place, which is smaller in other steps. */
static double trial(fm_instance *s, double t, double h, int rejected)
{
    (void)rejected;
    if (!fm_explicit_stages(s, t, h, A[0], FM_ALL_STAGES - 1, C, FM_LAST)) return NAN;
    double five = fm_explicit_error(s, h, E5, FM_LAST);
    const double six = fm_explicit_error(s, h, E6, FM_LAST), three = fm_explicit_error(s, h, E3, FM_LAST);
    if (isnan(six) || isnan(five) || isnan(three)) return NAN;
    if (isinf(six) || isinf(five) || isinf(three)) return INFINITY;
    five = six > five ? six : five;
    return five > 0.0 ? five / sqrt(1.0 + 0.01 * (three / five) * (three / five)) : 0.0;
}

/* The coefficient k of the last four of the dense output, in state i. */
static double coefficient(const fm_instance *s, double h, int k, int32_t i)
{
    double sum = 0.0;
    for (int j = 0; j < FM_ALL_STAGES; j++) sum += D[k][j] * fm_stage(s, j)[i];
    return h * sum;
}

/* The further evaluations for the dense output of the step that was tried last. Returns its last term,
 * of order 7 in the step, beside what is allowed: at the limit of stability a step may end well and be wild within. */
static double within(fm_instance *s, double t, double h)
{
    const double allowed = FM_LAST_TERM / fm_eighth_root(s->options[FM_OPTION_TOLERANCE]);
    const int32_t near = s->loop.near_singular;
    double worst = 0.0;
    for (int j = FM_LAST + 1; j < FM_ALL_STAGES; j++) {
        s->singular->on_branch = s->singular->was_near;
        fm_explicit_stage(s, t, h, A[j], C[j], j, s->work.probe);
    }
    s->singular->on_branch = 0;
    s->loop.near_singular = near;
    for (int32_t i = 0; i < s->model.ny; i++) {
        const double a = fabs(s->head[i]), b = fabs(s->integrator->trial[i]);
        const double last =
            FM_LAST_LARGEST * fabs(coefficient(s, h, 3, i)) / (allowed * fm_weight(s, i, a > b ? a : b));
        worst = last > worst || isnan(last) ? last : worst;
        if (isnan(worst)) return worst;
    }
    return worst;
}

/* The dense output of a step that was tried last: with `all`, of order 7, for which within() evaluates; else only its
 * ends, for a step that is not read within. */
static void keep(fm_instance *s, double h, int all)
{
    const int32_t ny = s->model.ny;
    const double *end = fm_stage(s, FM_LAST), *next = s->integrator->trial;
    double *r = s->dense;
    for (int32_t i = 0; i < ny; i++) {
        const double diff = next[i] - s->head[i], bend = h * s->slope[i] - diff;
        r[i] = s->head[i];
        r[ny + i] = diff;
        r[2 * ny + i] = bend;
        r[3 * ny + i] = (diff - h * end[i]) - bend;
        for (int k = 0; k < 4; k++) r[(4 + k) * ny + i] = all ? coefficient(s, h, k, i) : 0.0;
    }
}

const fm_scheme fm_scheme_dop853 = {
    .trial = trial,
    .within = within,
    .keep = keep,
    .factor = fm_explicit_factor,
    .root = fm_eighth_root,
    .last = FM_LAST,
};
