/* casadi_host.c: calls functions of two mechanisms, linked statically, as acados does: it asks for sizes and work
 * vectors, and calls with NULL as memory. Prints the sum of each result, and those of a function that CasADi generated.
 */
#include <stdio.h>
#include <stdlib.h>

typedef double casadi_real; /* and -Dcasadi_int=int */

#define FUNCTION(name)                                                                                                 \
    int name(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem);                     \
    casadi_int name##_n_in(void), name##_n_out(void);                                                                  \
    const casadi_int *name##_sparsity_in(casadi_int i), *name##_sparsity_out(casadi_int i);                            \
    int name##_work(casadi_int *arg, casadi_int *res, casadi_int *iw, casadi_int *w);
#define DECLARE(name) FUNCTION(name)
#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)
DECLARE(NAMED(FIRST, _x_next))
DECLARE(NAMED(SECOND, _x_next))
DECLARE(NAMED(NAMED(adj1_, FIRST), _x_dot))
FUNCTION(generated)

static int nnz(const casadi_int *sparsity)
{
    return sparsity[2] ? sparsity[0] * sparsity[1] : sparsity[2 + sparsity[1]];
}

static void call(int (*run)(const casadi_real **, casadi_real **, casadi_int *, casadi_real *, int),
                 casadi_int (*n_in)(void), casadi_int (*n_out)(void), const casadi_int *(*in)(casadi_int),
                 const casadi_int *(*out)(casadi_int),
                 int (*work)(casadi_int *, casadi_int *, casadi_int *, casadi_int *))
{
    const casadi_real *arg[40];
    casadi_real *res[40], sum = 0.0;
    casadi_int sizes[4];
    if (work(sizes, sizes + 1, sizes + 2, sizes + 3)) exit(2);
    for (int i = 0; i < n_in(); i++) {
        casadi_real *values = malloc((nnz(in(i)) + 1) * sizeof *values);
        for (int k = 0; k < nnz(in(i)); k++) values[k] = 0.01 * (k + 1);
        arg[i] = values;
    }
    for (int i = 0; i < n_out(); i++) res[i] = malloc((nnz(out(i)) + 1) * sizeof *res[i]);
    if (run(arg, res, malloc((sizes[2] + 1) * sizeof(casadi_int)), malloc((sizes[3] + 1) * sizeof(casadi_real)), 0))
        exit(3);
    for (int i = 0; i < n_out(); i++)
        for (int k = 0; k < nnz(out(i)); k++) sum += (k + 1) * res[i][k];
    printf("%.12g\n", sum);
}

#define CALL(name) call(name, name##_n_in, name##_n_out, name##_sparsity_in, name##_sparsity_out, name##_work)
#define CALL_NAMED(name) CALL(name)

int main(void)
{
    CALL_NAMED(NAMED(FIRST, _x_next));
    CALL_NAMED(NAMED(SECOND, _x_next));
    CALL_NAMED(NAMED(NAMED(adj1_, FIRST), _x_dot));
    CALL(generated);
    return 0;
}
