/* mujoco.c: MuJoCo's mj_forward as a peer, with all that a mechanism without contacts does not need turned off.
 *
 * Loops are closed by its equality constraints (connect), which are soft: SOLREF and SOLIMP make them stiff.
 */
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

enum {
    NOT_NEEDED = mjDSBL_FRICTIONLOSS | mjDSBL_LIMIT | mjDSBL_CONTACT | mjDSBL_SPRING | mjDSBL_DAMPER |
        mjDSBL_ACTUATION | mjDSBL_SENSOR,
    FOR_LOOPS = mjDSBL_CONSTRAINT | mjDSBL_EQUALITY
};

static const double SOLREF = 0.002, SOLIMP = 0.9999; /* time constant [s], impedance; the usual are 0.02 and 0.9 */

struct peer {
    mjModel *model;
    mjData *data;
};

static mjsBody *add_body(mjsBody *parent, const peer_tree *tree, int i)
{
    mjsBody *body = mjs_addBody(parent, NULL);
    memcpy(body->pos, tree->hinge + 3 * i, sizeof body->pos);
    memcpy(body->ipos, tree->com + 3 * i, sizeof body->ipos);
    memcpy(body->inertia, tree->inertia + 3 * i, sizeof body->inertia);
    body->mass = tree->mass[i];
    body->explicitinertial = 1;
    return body;
}

static void add_joint(mjsBody *body, int kind)
{
    mjsJoint *joint = mjs_addJoint(body, NULL);
    joint->type = kind == PEER_BALL ? mjJNT_BALL : mjJNT_HINGE;
    for (int k = 0; k < 3; ++k) joint->axis[k] = k == (kind == PEER_BALL ? PEER_REVOLUTE_Z : kind);
}

static const char *name_of(mjsBody *const *body, int i)
{
    return i < 0 ? "world" : mjs_getString(mjs_getName(body[i]->element));
}

static void add_loop(mjSpec *spec, mjsBody *const *body, const int32_t *closing)
{
    mjsEquality *loop = mjs_addEquality(spec, NULL);
    loop->type = mjEQ_CONNECT;
    loop->objtype = mjOBJ_BODY;
    loop->solref[0] = SOLREF;
    loop->solimp[0] = loop->solimp[1] = SOLIMP;
    mjs_setString(loop->name1, name_of(body, closing[0]));
    mjs_setString(loop->name2, name_of(body, closing[1]));
}

static mjModel *compile(const peer_tree *tree)
{
    mjSpec *spec = mj_makeSpec();
    mjsBody **body = malloc((size_t)tree->bodies * sizeof *body);
    spec->option.disableflags = NOT_NEEDED | (tree->loops ? 0 : FOR_LOOPS);
    memcpy(spec->option.gravity, tree->gravity, sizeof spec->option.gravity);
    for (int i = 0; i < tree->bodies; ++i) {
        mjsBody *parent = tree->parent[i] < 0 ? mjs_findBody(spec, "world") : body[tree->parent[i]];
        body[i] = add_body(parent, tree, i);
        add_joint(body[i], tree->joint[i]);
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        mjs_setName(body[i]->element, name);
    }
    for (int i = 0; i < tree->loops; ++i) add_loop(spec, body, tree->closing + 2 * i);
    mjModel *model = mj_compile(spec, NULL);
    for (int i = 0; model && i < tree->loops; ++i) /* the compiler's own second point is where the first is at qpos0 */
        memcpy(model->eq_data + mjNEQDATA * i, tree->point + 6 * i, 6 * sizeof *tree->point);
    free(body);
    mj_deleteSpec(spec);
    return model;
}

peer *peer_open(const peer_tree *tree, int32_t variant)
{
    (void)variant;
    mjModel *model = compile(tree);
    if (!model) return NULL;
    peer *p = malloc(sizeof *p);
    p->model = model;
    p->data = mj_makeData(model);
    return p;
}

void peer_close(peer *p)
{
    mj_deleteData(p->data);
    mj_deleteModel(p->model);
    free(p);
}

void peer_set(peer *p, const double *position, const double *velocity, const double *torque)
{
    memcpy(p->data->qpos, position, (size_t)p->model->nq * sizeof *position);
    memcpy(p->data->qvel, velocity, (size_t)p->model->nv * sizeof *velocity);
    memcpy(p->data->qfrc_applied, torque, (size_t)p->model->nv * sizeof *torque);
}

void peer_evaluate(peer *p, int64_t times)
{
    for (int64_t i = 0; i < times; ++i) mj_forward(p->model, p->data);
}

void peer_accelerations(const peer *p, double *acceleration)
{
    memcpy(acceleration, p->data->qacc, (size_t)p->model->nv * sizeof *acceleration);
}
