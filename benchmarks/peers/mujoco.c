/* mujoco.c: MuJoCo's mj_forward as a peer, with all that a tree without contacts does not need turned off. */
#include <mujoco/mujoco.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

enum {
    NOT_NEEDED = mjDSBL_CONSTRAINT | mjDSBL_EQUALITY | mjDSBL_FRICTIONLOSS | mjDSBL_LIMIT | mjDSBL_CONTACT |
                 mjDSBL_SPRING | mjDSBL_DAMPER | mjDSBL_ACTUATION | mjDSBL_SENSOR
};

struct peer {
    mjModel *model;
    mjData *data;
};

static mjsBody *add_body(mjsBody *parent, const peer_tree *tree, int i) {
    mjsBody *body = mjs_addBody(parent, NULL);
    memcpy(body->pos, tree->hinge + 3 * i, sizeof body->pos);
    memcpy(body->ipos, tree->com + 3 * i, sizeof body->ipos);
    memcpy(body->inertia, tree->inertia + 3 * i, sizeof body->inertia);
    body->mass = tree->mass[i];
    body->explicitinertial = 1;
    return body;
}

static void add_joint(mjsBody *body, int kind) {
    mjsJoint *joint = mjs_addJoint(body, NULL);
    joint->type = kind == PEER_BALL ? mjJNT_BALL : mjJNT_HINGE;
    for (int k = 0; k < 3; ++k)
        joint->axis[k] = k == (kind == PEER_BALL ? PEER_REVOLUTE_Z : kind);
}

static mjModel *compile(const peer_tree *tree) {
    mjSpec *spec = mj_makeSpec();
    mjsBody **body = malloc((size_t)tree->bodies * sizeof *body);
    spec->option.disableflags = NOT_NEEDED;
    memcpy(spec->option.gravity, tree->gravity, sizeof spec->option.gravity);
    for (int i = 0; i < tree->bodies; ++i) {
        mjsBody *parent = tree->parent[i] < 0 ? mjs_findBody(spec, "world") : body[tree->parent[i]];
        body[i] = add_body(parent, tree, i);
        add_joint(body[i], tree->joint[i]);
    }
    mjModel *model = mj_compile(spec, NULL);
    free(body);
    mj_deleteSpec(spec);
    return model;
}

peer *peer_open(const peer_tree *tree, int32_t variant) {
    (void)variant;
    mjModel *model = compile(tree);
    if (!model)
        return NULL;
    peer *p = malloc(sizeof *p);
    p->model = model;
    p->data = mj_makeData(model);
    return p;
}

void peer_close(peer *p) {
    mj_deleteData(p->data);
    mj_deleteModel(p->model);
    free(p);
}

void peer_set(peer *p, const double *position, const double *velocity, const double *torque) {
    memcpy(p->data->qpos, position, (size_t)p->model->nq * sizeof *position);
    memcpy(p->data->qvel, velocity, (size_t)p->model->nv * sizeof *velocity);
    memcpy(p->data->qfrc_applied, torque, (size_t)p->model->nv * sizeof *torque);
}

void peer_evaluate(peer *p, int64_t times) {
    for (int64_t i = 0; i < times; ++i)
        mj_forward(p->model, p->data);
}

void peer_accelerations(const peer *p, double *acceleration) {
    memcpy(acceleration, p->data->qacc, (size_t)p->model->nv * sizeof *acceleration);
}
