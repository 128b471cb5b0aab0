/* casadi.c: code that CasADi generated for one tree as a peer: GENERATED, a file, BODIES, and the sizes of its work
 * arrays. */
#include GENERATED

#include <stdlib.h>
#include <string.h>

#include "peer.h"

struct peer {
    double given[3][BODIES], found[BODIES], w[W + 1];
    const double *arg[ARG + 3];
    double *res[RES + 1];
    casadi_int iw[IW + 1];
};

peer *peer_open(const peer_tree *tree, int32_t variant)
{
    (void)variant;
    return tree->bodies == BODIES ? calloc(1, sizeof(peer)) : NULL;
}

void peer_close(peer *p)
{
    free(p);
}

void peer_set(peer *p, const double *position, const double *velocity, const double *torque)
{
    memcpy(p->given[0], position, sizeof p->given[0]);
    memcpy(p->given[1], velocity, sizeof p->given[1]);
    memcpy(p->given[2], torque, sizeof p->given[2]);
}

void peer_evaluate(peer *p, int64_t times)
{
    for (int64_t i = 0; i < times; ++i) {
        for (int k = 0; k < 3; ++k) p->arg[k] = p->given[k];
        p->res[0] = p->found;
        accelerations(p->arg, p->res, p->iw, p->w, 0);
    }
}

void peer_accelerations(const peer *p, double *acceleration)
{
    memcpy(acceleration, p->found, sizeof p->found);
}
