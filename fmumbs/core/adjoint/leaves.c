/* leaves.c: the leaves of a graph: what it reads of the instance. */
#include "leaves.h"

#include "../forces/circuit.h"
#include "../forces/contact.h"
#include "../forces/cylinder.h"
#include "../forces/gear.h"
#include "../forces/laws.h"
#include "../forces/sides.h"
#include "../image/joints.h"
#include "../instance/instance.h"
#include "../loops/cut_joints.h"
#include "../tree/kinematics.h"
#include "../tree/reversed.h"
#include "graph.h"

#include <string.h>

/* The flank on which the teeth of a gear are, and whether they are pressed further. */
static void choose_flank(fm_instance *s, int32_t gear)
{
    const int32_t law = s->image.gear_law[gear];
    const fm_leaves *leaf = &s->graph->leaf;
    int32_t piece;
    double x, v;
    fm_law_at(s, law, s->y, &x, &v);
    if (!fm_law_slides(s, law, &piece)) piece = fm_law_piece(&s->image, law, x, v, 0);
    const fm_teeth teeth = fm_teeth_of(&s->image, gear, piece);
    s->graph->value[leaf->flank + gear] = teeth.flank, s->graph->value[leaf->pressed + gear] = teeth.pressed;
}

/* Which edges of a cylinder's valve are open, and whether the opening is cut. */
static void choose_edges(fm_instance *s, int32_t cylinder)
{
    const fm_leaves *leaf = &s->graph->leaf;
    double *value = s->graph->value;
    int side, follows;
    (void)fm_cylinder_opening(s, cylinder, &side, &follows);
    value[leaf->feeds + cylinder] = side > 0;
    value[leaf->follows + cylinder] = follows ? side : 0.0, value[leaf->cut + cylinder] = !follows;
}

/* Whether the current of a motor is held at its limit, and what the motor does while the law of its losses slides. */
static void choose_drive(fm_instance *s, int32_t motor)
{
    const int32_t law = s->image.motor_loss_law[motor];
    const fm_leaves *leaf = &s->graph->leaf;
    double *value = s->graph->value, by_x, by_v;
    value[leaf->curbed + motor] = fm_motor_held(s, motor);
    value[leaf->driving + motor] = value[leaf->driven + motor] = 0.0;
    if (law < 0 || !fm_law_slopes(s, law, s->y, &by_x, &by_v)) return;
    value[leaf->held + law] = 0.0;
    value[(by_x <= 0.0 ? leaf->driving : leaf->driven) + motor] = 1.0;
}

/* The piece of each law that slides; of those that stick there is none. */
static void choose_pieces(fm_instance *s)
{
    fm_graph *g = s->graph;
    for (int32_t i = 0; i < s->model.acting; i++) { /* those of spots are in choose_contacts */
        int32_t piece = -1, below;
        double x, v;
        const int32_t side = s->image.law_side[i], gear = s->image.law_gear[i], cylinder = s->image.law_cylinder[i];
        if (side >= 0) g->value[g->leaf.taut + side] = fm_side_is_taut(s, side, s->y);
        if (gear >= 0) choose_flank(s, gear);
        if (cylinder >= 0 && s->image.cylinder_law[cylinder] == i) choose_edges(s, cylinder);
        if (side >= 0 || gear >= 0 || cylinder >= 0 || s->image.law_motor[i] >= 0 || s->image.law_spot[i] >= 0)
            continue;
        if (!fm_law_sticks(s, i, &piece, &below, &v)) {
            g->value[g->leaf.held + i] = 0.0;
            fm_law_at(s, i, s->y, &x, &v);
            if (!fm_law_slides(s, i, &piece)) piece = fm_law_piece(&s->image, i, x, v, 0);
        } else {
            piece = -1;
        }
        g->piece[i] = piece;
    }
}

/* Whether each spot of a contact touches, slips, rolls and drills. */
static void choose_contacts(fm_instance *s)
{
    const fm_leaves *leaf = &s->graph->leaf;
    double *value = s->graph->value;
    fm_run_orientations(s, s->y);
    fm_make_world(s, s->y);
    for (int32_t i = 0; i < s->image.n.spots; i++) {
        const int32_t roll = s->image.spot_roll[i];
        fm_pressed at;
        const int touches = fm_spot_pressed(s, i, &at);
        value[leaf->touches + i] = touches;
        value[leaf->slips + i] = touches && fm_spot_slips(s, i);
        if (roll < 0) continue;
        const fm_turned turned = touches ? fm_turned_at(s, roll, &at, s->y) : (fm_turned){.slips = {0}};
        for (int p = 0; p < FM_PARTS; p++) value[leaf->rolls + 2 * roll + p] = turned.slips[p];
    }
}

/* The positions of cut joints at the present state. */
static void place_cut_joints(fm_instance *s)
{
    const fm_image *m = &s->image;
    fm_run_orientations(s, s->y);
    fm_make_world(s, s->y);
    for (int32_t j = 0; j < m->n.joints; j++) {
        fm_coordinates at;
        if (!fm_is_cut_joint(m, j) || m->joint_nu[j] == 0 || fm_is_pin(m, j)) continue;
        fm_cut_joint_coordinates(s, j, 0, &at);
        memcpy(s->graph->value + s->graph->leaf.cut_now + m->joint_p[j], at.p, (size_t)m->joint_np[j] * sizeof(double));
    }
}

/* Copies the leaves at the present state, with positions of cut joints or without; accelerations and multipliers must
 * be those of it. */
void fm_graph_load(fm_instance *s, int cuts)
{
    const fm_model *m = &s->model;
    fm_graph *g = s->graph;
#define L(name, array, numbers)                                                                                        \
    if ((numbers) > 0) memcpy(g->value + g->leaf.name, s->array, (size_t)(numbers) * sizeof *g->value);
    FM_LEAVES(L)
#undef L
    g->value[g->leaf.hosted] = s->clock[FM_HOSTED];
    if (m->n.laws > 0) {
        fm_laws_place(s, s->y);
        choose_pieces(s);
    }
    for (int32_t i = 0; i < m->n.motors; i++) choose_drive(s, i);
    if (m->n.spots > 0) choose_contacts(s);
    if (cuts) place_cut_joints(s);
}

/* The place of a number of the state among the values; FM_NO_SLOT: the graph does not read it. */
int32_t fm_graph_place(const fm_instance *s, const double *stored)
{
    const fm_model *m = &s->model;
    const fm_leaves *leaf = &s->graph->leaf;
#define L(name, array, numbers)                                                                                        \
    if (stored >= s->array && stored < s->array + (numbers)) return leaf->name + (int32_t)(stored - s->array);
    FM_STORED_LEAVES(L)
#undef L
    return FM_NO_SLOT;
}
