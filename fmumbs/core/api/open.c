/* open.c: creates an instance in one block of memory, and resets it. */
#include "open.h"

#include "../adjoint/build.h"
#include "../time/hosted.h"
#include "../maths/text.h"
#include "../maths/vectors.h"
#include "../image/joints.h"
#include "../image/read.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../tree/planar_fit.h"
#include "../forces/elements.h"
#include "../forces/forces.h"
#include "../forces/laws.h"
#include "../forces/excitation.h"
#include "../loops/realised.h"
#include "../loops/loop_plan.h"
#include "../loops/scratch.h"
#include "../statics/profile.h"
#include "../kernels/kernels.h"
#include "../outputs/exact_places.h"
#include "../motion/actuated.h"
#include "../motion/independent.h"
#include "../motion/parameters.h"
#include "../motion/scratch.h"
#include "../assembly/scratch.h"
#include "../time/scratch.h"
#include "../statics/scratch.h"
#include "structure.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FM_LINE 64 /* arrays start on a cache line */
#define FM_TOO_MUCH (SIZE_MAX / 2) /* bytes: more than a process may allocate at once */

/* With the address sanitizer every array, also of the image, is followed by a poisoned gap, which detects overruns. */
#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(const volatile void *at, size_t bytes);
#define FM_FENCE FM_LINE
#define fence(at, bytes) __asan_poison_memory_region(at, bytes)
#define apart(base, used, from, count, size) set_apart(base, used, from, count, size)
#else
#define FM_FENCE 0
#define fence(at, bytes) ((void)0)
#define apart(base, used, from, count, size) (from)
#endif

/* The parts of an instance with arrays: S(type, member, arrays). */
#define FM_REDUCED_ROWS(A) FM_REFLECTION_ARRAYS(A, n.reduced * n.rows, n.reduced * n.speeds)
#define FM_REALISED_ROWS(A) FM_REFLECTION_ARRAYS(A, n.opposed * n.rows, n.opposed * n.speeds)
#define FM_ACTUATED_ROWS(A) FM_REFLECTION_ARRAYS(A, (n.acting * n.rows + n.actuators), n.acting * n.speeds)
#define FM_SHARED(S)                                     \
    S(fm_planar, planar, FM_PLANAR_ARRAYS)               \
    S(fm_work, work, FM_WORK_ARRAYS)                     \
    S(fm_stiff, stiff, FM_STIFF_ARRAYS)                  \
    S(fm_reduced, reduced, FM_REDUCED_ARRAYS)            \
    S(fm_reflections, reduced.rows, FM_REDUCED_ROWS)     \
    S(fm_reflections, realised->rows, FM_REALISED_ROWS)  \
    S(fm_reflections, actuated->rows, FM_ACTUATED_ROWS)  \
    S(fm_laws, laws, FM_LAW_ARRAYS)                      \
    S(fm_loop, loop, FM_LOOP_ARRAYS)                     \
    S(fm_hosted, hosted, FM_HOSTED_ARRAYS)

/* The scratch memory of single rooms: S(type, member of fm_instance, arrays). */
#define FM_SCRATCH(S)                                    \
    S(fm_realised, realised, FM_REALISED_ARRAYS)         \
    S(fm_implicit, implicit, FM_IMPLICIT_ARRAYS)         \
    S(fm_following, following, FM_FOLLOWING_ARRAYS)      \
    S(fm_friction, friction, FM_FRICTION_ARRAYS)         \
    S(fm_singular, singular, FM_SINGULAR_ARRAYS)         \
    S(fm_least, least, FM_LEAST_ARRAYS)                  \
    S(fm_actuated, actuated, FM_ACTUATED_ARRAYS)         \
    S(fm_assembly, assembly, FM_ASSEMBLY_ARRAYS)         \
    S(fm_integrator, integrator, FM_INTEGRATOR_ARRAYS)   \
    S(fm_graph, graph, FM_GRAPH_SCRATCH)                 \
    S(fm_statics, statics, FM_STATICS_ARRAYS)

/* An instance with the scratch memory of all rooms. */
typedef struct whole {
    fm_instance instance;
#define S(type, part, ARRAYS) type part;
    FM_SCRATCH(S)
#undef S
} whole;

/* Its instance, which finds that memory. */
static fm_instance *joined(whole *all)
{
#define S(type, part, ARRAYS) all->instance.part = &all->part;
    FM_SCRATCH(S)
#undef S
    return &all->instance;
}

/* Places an array in the block, or, while there is none, counts its size, of which FM_TOO_MUCH stands for any more. */
static void *place(unsigned char *base, size_t *used, uint64_t count, size_t size)
{
    void *here = base == NULL ? NULL : base + *used;
    if (count > (FM_TOO_MUCH - *used) / size) *used = FM_TOO_MUCH;
    if (*used >= FM_TOO_MUCH) return here;
    const size_t end = *used + (size_t)count * size;
    *used = ((end + (FM_LINE - 1)) & ~(size_t)(FM_LINE - 1)) + FM_FENCE;
    if (base != NULL) fence(base + end, *used - end);
    return here;
}

/* The same for a copy of existing data; while there is no block, returns the original. */
static void *put(unsigned char *base, size_t *used, void *from, size_t count, size_t size)
{
    void *to = place(base, used, count, size);
    if (base == NULL) return from;
    return count > 0 ? memcpy(to, from, count * size) : to;
}

#ifdef __SANITIZE_ADDRESS__
static const void *set_apart(unsigned char *base, size_t *used, const void *from, size_t count, size_t size)
{
    void *to = place(base, used, count, size);
    return to != NULL && count > 0 ? memcpy(to, from, count * size) : to;
}
#endif

/* The number of frictions that the joint's own reaction loads. */
static size_t owned_of(const fm_image *m)
{
    size_t count = 0;
    for (int32_t i = 0; i < m->n.frictions; i++) count += fm_is_owned(m, i) ? 1 : 0;
    return count;
}

/* The most conditions of the graph that hold at once. */
static size_t conditions_of(const fm_instance *s)
{
    const fm_model *m = &s->model;
    return (size_t)(m->n.laws < FM_STICKING ? m->n.laws : FM_STICKING) + owned_of(&s->image);
}

/* The number of stops with a restitution that impulses are sought for at a time. */
static size_t struck_of(const fm_image *m)
{
    size_t count = 0;
    for (int32_t i = 0; i < m->n.laws && count < FM_STICKING; i++) count += m->law_hard[i] ? 1 : 0;
    return count;
}

static fm_counts counts_of(const fm_instance *s)
{
    const fm_model *m = &s->model;
    const size_t links = (size_t)m->n.links, speeds = (size_t)m->n.speeds, ny = (size_t)m->ny, rows = (size_t)m->n.rows;
    const size_t modes = (size_t)m->n.modes, joints = (size_t)m->n.joints, laws = (size_t)m->n.laws;
    const fm_counts n = {
        .links = links,
        .speeds = speeds,
        .modes = modes,
        .ny = ny,
        .required = m->inverse ? modes + 6 * (size_t)m->n.loads : 0,
        .actuators = (size_t)m->actuators,
        .acting = (size_t)m->acts,
        .inputs = modes + 6 * (size_t)m->n.loads + (size_t)m->n.controls,
        .joints = joints,
        .balls = (size_t)m->balls,
        .generals = (size_t)m->n.generals,
        .modals = (size_t)m->n.modals,
        .shapes = (size_t)m->n.shapes,
        .shape_pairs = (size_t)m->n.shape_pairs,
        .frames = (size_t)m->n.frames,
        .frame_shapes = (size_t)m->n.frame_shapes,
        .followers = (size_t)m->n.followers,
        .reversed = m->reversed > 0 ? ny : 0,
        .reversed_speeds = m->reversed > 0 ? speeds : 0,
        .planars = (size_t)m->planars,
        .plane_blocks = ((size_t)m->planars + (FM_PLANE_WIDTH - 1)) / FM_PLANE_WIDTH,
        .plane_loops = s->plan.blocks > 0 && m->planars > 0,
        .state = s->model.state_doubles,
        .closed = rows > 0,
        .placed = (size_t)fm_placed(s),
        .rows = rows,
        .blocks = (size_t)s->plan.blocks,
        .paths = s->plan.paths,
        .columns = s->plan.y > s->assembly->plan.y ? s->plan.y : s->assembly->plan.y,
        .factor = s->plan.L,
        .cut_positions = (size_t)m->n.cut_positions,
        .vias = (size_t)m->n.vias,
        .cut_joints = m->n.modes > m->n.speeds ? joints : 0,
        .cut_modes = modes - speeds,
        .units = modes > joints ? modes : joints,
        .laws = laws,
        .held = laws < FM_STICKING ? laws : FM_STICKING,
        .struck = struck_of(&s->image),
        .compliances = (size_t)s->implicit->room,
        .small = (size_t)s->integrator->small,
        .dense = s->integrator->small > 0 ? speeds + rows : 0,
        .dense_rows = s->integrator->small > 0 ? rows : 0,
        .dense_bristles = s->integrator->small > 0 ? (size_t)m->n.bristles : 0,
        .frictions = (size_t)m->n.frictions,
        .friction_modes = m->n.frictions > 0 ? modes : 0,
        .owned = owned_of(&s->image),
        .owning = owned_of(&s->image) > 0,
        .passing = rows > 0 || owned_of(&s->image) > 0,
        .controls = (size_t)m->n.controls,
        .bristles = (size_t)m->n.bristles,
        .own_pieces = m->n.gears > 0 || m->n.motors > 0 ? (size_t)m->n.law_pieces : 0,
        .spots = (size_t)m->n.spots,
        .spotted = m->n.spots > 0,
        .stateful = m->stateful > 0 ? speeds : 0,
        .krylov = (size_t)s->statics->room,
        .matrix = (size_t)s->statics->profile.n,
        .graph = (size_t)s->graph->values,
        .graph_nodes = (size_t)s->graph->dynamics,
        .graph_inner = (size_t)s->graph->before_outputs,
        .graph_room = (size_t)s->graph->room,
        .conditions = s->graph->built ? conditions_of(s) : 0,
        .profile = s->statics->profile.entries,
        .matrix_columns = s->statics->profile.n > 0 ? s->plan.y : 0,
        .reduced = (size_t)m->reduced,
        .weighed = m->reduced || s->integrator->small > 0,
        .independent = m->n.dependent_u > 0,
        .following = fm_count_following(&s->image),
        .realised = (size_t)m->realised,
        .driven = m->realised > 0,
        .opposed = m->realised > 0 && m->reduced,
        .internal = m->realised > 0 && speeds <= FM_INTERNAL ? speeds : 0,
    };
    return n;
}

static void keep_plan(fm_loop_plan *p, unsigned char *base, size_t *used)
{
    p->block = put(base, used, p->block, (size_t)p->blocks, sizeof *p->block);
    p->meeting = put(base, used, p->meeting, p->meetings, sizeof *p->meeting);
    p->run = put(base, used, p->run, p->runs, sizeof *p->run);
    p->path = put(base, used, p->path, p->paths, sizeof *p->path);
    p->link = put(base, used, p->link, p->paths, sizeof *p->link);
}

static void keep_graph(fm_graph *g, const fm_model *m, unsigned char *base, size_t *used)
{
    if (!g->built) return;
#define A(type, name, count) g->name = put(base, used, g->name, (size_t)(count), sizeof *g->name);
    FM_GRAPH_ARRAYS(A)
#undef A
}

/* Copies what was planned on the heap. */
static void keep_plans(fm_instance *s, unsigned char *base, size_t *used)
{
    keep_plan(&s->plan, base, used);
    keep_plan(&s->assembly->plan, base, used);
    fm_profile *profile = &s->statics->profile;
    profile->place = put(base, used, profile->place, FM_PROFILE_ARRAYS * (size_t)profile->n, sizeof *profile->place);
    fm_split_profile(profile, profile->n);
    keep_graph(s->graph, &s->model, base, used);
}

/* Places all arrays; returns the bytes that they take. */
static size_t lay_out(fm_instance *s, unsigned char *base)
{
    const fm_model *m = &s->model;
    const fm_counts n = counts_of(s);
    size_t used = 0;
    s->state = place(base, &used, m->state_doubles, sizeof(double));
    double *next = s->state;
#define V(name, count)              \
    s->name = next;                 \
    if (base != NULL) next += count;
    FM_STATE_ARRAYS(V)
#undef V
    s->kept = place(base, &used, m->state_doubles, sizeof(double));
    keep_plans(s, base, &used);
#define A(type, name, count) part->name = place(base, &used, count, sizeof *part->name);
#define S(type, member, ARRAYS)          \
    {                                    \
        type *const part = &s->member;   \
        ARRAYS(A)                        \
    }
    FM_SHARED(S)
#undef S
#define S(type, member, ARRAYS)          \
    {                                    \
        type *const part = s->member;    \
        ARRAYS(A)                        \
    }
    FM_SCRATCH(S)
#undef S
    fm_instance *const part = s;
    FM_TREE_ARRAYS(A)
#undef A
#define A(name, type, columns, rows, bound, lowest, unit, section) \
    s->image.name = apart(base, &used, s->image.name, (size_t)m->n.rows * columns, sizeof(FM_C_TYPE_##type));
    FM_IMAGE_ARRAYS(A)
#undef A
    return used;
}

static fm_model model_of(const fm_image *image)
{
    fm_model model, *m = &model;
    memset(m, 0, sizeof *m);
    m->n = image->n;
    m->bristles = m->n.positions + m->n.speeds;
    m->ny = m->bristles + m->n.bristles;
    for (int32_t i = 0; i < m->n.links; i++) {
        const int ball = image->link_kind[i] == FM_LINK_SPHERICAL;
        m->balls += ball;
        m->reversed += ball && image->joint_reversed[image->link_joint[i]];
    }
    m->forced = fm_has_forces(image), m->acted = fm_has_acts(image);
    m->stateful = fm_count_stateful(image);
    for (int32_t i = 0; i < m->n.laws; i++) m->acting = image->law_spot[i] < 0 ? i + 1 : m->acting;
    m->reduced = image->options[FM_OPTION_DYNAMICS] == (double)FM_COPCOD;
    for (int32_t i = 0; i < m->n.excitations; i++) m->realised += image->excitation_drive[i] >= 0;
    for (int32_t i = 0; i < m->n.variables; i++) m->inverse |= image->variable_kind[i] >= FM_FIRST_INVERSE;
    int32_t direct = 0;
    m->actuators = m->inverse ? fm_actuators(image, &direct) : 0;
    m->acts = m->inverse && !direct;
    m->planars = m->reduced || m->inverse || m->realised > 0 ? 0 : fm_planar_count(image);
#define V(name, count) m->state_doubles += (size_t)(count);
    FM_STATE_ARRAYS(V)
#undef V
    return model;
}

/* Room for the directions of compliances.c, of which those of the joints up to `matrices` come first. */
static int32_t room_of(const fm_image *m, int32_t *matrices)
{
    const int32_t most = FM_COMPLIANCES;
    int32_t tree = 0, cut = m->n.modes - m->n.speeds;
    for (int32_t i = 0; i < m->n.frictions; i++)
        cut += fm_is_cut_joint(m, m->friction_joint[i]) ? m->friction_count[i] : 0;
    for (*matrices = 0; *matrices < m->n.joints; ++*matrices) {
        if (!fm_has_matrix(m, *matrices)) continue;
        if (tree + m->joint_nu[*matrices] > most) break;
        tree += m->joint_nu[*matrices];
    }
    if (tree == 0) *matrices = 0;
    const int32_t directions = fm_count_directions(m);
    return directions > most || cut > most || directions + cut + tree > most ? most : directions + cut + tree;
}

/* Velocity variables where the implicit scheme solves dense systems (radau_small.c): so few, with the rows of loops,
 * that these cost less than evaluations; else 0. */
static int32_t small_of(const fm_model *model)
{
    const int32_t beside = model->n.modals + model->n.generals + (model->n.laws - model->n.sides) + model->stateful;
    return model->n.speeds + model->n.rows <= FM_MOST_DENSE && beside == 0 && !model->reduced ? model->n.speeds : 0;
}

static void write_guid(fm_instance *s)
{
    static const char digit[] = "0123456789abcdef";
    char *to = s->guid;
    *to++ = '{';
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
        *to++ = digit[s->image.hash[i] >> 4];
        *to++ = digit[s->image.hash[i] & 15];
    }
    *to++ = '}';
    *to = 0;
}

static fm_status refuse(char *message, size_t capacity, const char *sentence)
{
    if (capacity > 0) (void)fm_print(message, capacity, "%s", sentence);
    return FM_ERROR;
}

/* What the sizes of all arrays follow from: the plans of the loops and of statics' matrix and the graph, on the heap,
 * and what is used. Returns what there is no memory for, or NULL. */
static const char *prepare(fm_instance *s, int derivatives)
{
    const int32_t speeds = s->image.n.speeds, rows = s->image.n.rows;
    s->model = model_of(&s->image);
    if (!fm_plan_loops(&s->image, 0, &s->plan) ||
        (s->image.n.generals > 0 && !fm_plan_loops(&s->image, 1, &s->assembly->plan)))
        return "not enough memory for the loops: too many constraint rows act on the same links";
    s->implicit->room = room_of(&s->image, &s->stiff.matrices);
    s->integrator->small = small_of(&s->model);
    s->statics->room = speeds < FM_KRYLOV ? speeds : FM_KRYLOV;
    s->reduced.used = s->model.reduced;
    s->reduced.rows.rows = s->realised->rows.rows = rows;
    s->reduced.rows.speeds = s->realised->rows.speeds = s->actuated->rows.speeds = speeds;
    s->actuated->rows.rows = rows + s->model.actuators;
    if (s->model.realised == 0 && !fm_find_profile(&s->image, &s->statics->profile))
        return "not enough memory for the model image";
    const double nu = (double)s->model.n.speeds, nc = (double)s->model.n.rows; /* the squares of the reduced form */
    if (s->model.reduced && (3.0 * nu + nc) * (nu + nc) * sizeof(double) > (double)(SIZE_MAX / 4))
        return "not enough memory for the reduced formulation of so many coordinates";
    if (derivatives && !fm_build_graph(&s->image, &s->model, s->graph))
        return "not enough memory for the derivatives: open the model without them";
    return NULL;
}

/* The parts of the compliances' arrays that belong to each set. */
static void divide_directions(fm_instance *s)
{
    for (int i = 0; i < FM_COMPLIANCE_SETS; i++) {
        const size_t room = (size_t)s->implicit->room, at = (size_t)i * room, nu = (size_t)s->image.n.speeds;
        s->implicit->set[i] = (fm_compliances){0,
                                               0,
                                               s->implicit->J + at * nu,
                                               s->implicit->C + at * nu,
                                               s->implicit->L + at * room,
                                               s->implicit->JC + at * room,
                                               s->implicit->rho + at,
                                               s->implicit->gk + at,
                                               s->implicit->resists + at,
                                               s->implicit->rubs + at,
                                               0.0,
                                               0.0};
    }
}

/* The instance in one block with a copy of the image, all arrays zero; NULL: there is no memory for it, and why. Behind
 * the draft there is room for another one, whose arrays are laid out to measure them. */
static fm_instance *allocate(whole *draft, const void *image, size_t size, const char **why)
{
    draft[1] = draft[0];
    const size_t head = (sizeof *draft + (FM_LINE - 1)) & ~(size_t)(FM_LINE - 1);
    const size_t kept = (size + (FM_LINE - 1)) & ~(size_t)(FM_LINE - 1);
    const size_t work = lay_out(joined(draft + 1), NULL);
    const int fits = work < FM_TOO_MUCH - head - kept - FM_LINE;
    unsigned char *block = fits ? calloc(head + kept + work + FM_LINE, 1) : NULL;
    if (block == NULL) {
        *why = fits ? "not enough memory for the instance"
                    : "the model needs more memory than a process can have here: use a 64-bit host";
        return NULL;
    }
    unsigned char *base = block + (FM_LINE - (size_t)((uintptr_t)block & (FM_LINE - 1)));
    whole *all = (whole *)(void *)base;
    memcpy(base + head, image, size);
    *all = *draft;
    fm_instance *s = joined(all);
    const unsigned char *from = image;
#define A(name, type, columns, rows, bound, lowest, unit, section) \
    s->image.name = (const void *)(base + head + ((const unsigned char *)s->image.name - from));
    FM_IMAGE_ARRAYS(A)
#undef A
    s->bytes = block;
    (void)lay_out(s, base + head + kept);
    divide_directions(s);
    return s;
}

/* The same as fm_do_open, with two drafts that are zero. */
static fm_status open_by(whole *all, const void *bytes, size_t size, int derivatives, fm_instance **out, char *message,
                         size_t capacity)
{
    fm_instance *draft = joined(all);
    if (!fm_image_read(&draft->image, bytes, size, message, capacity)) return FM_ERROR;
    const char *why = prepare(draft, derivatives);
    fm_instance *s = why == NULL ? allocate(all, bytes, size, &why) : NULL;
    fm_free_plan(&draft->plan), fm_free_plan(&draft->assembly->plan), fm_free_profile(&draft->statics->profile);
    fm_free_graph(draft->graph);
    if (s == NULL) return refuse(message, capacity, why);
    for (int32_t u = 0; u < s->statics->profile.n; u++) s->statics->variable[s->statics->profile.place[u]] = u;
    write_guid(s);
    fm_derive_structure(s);
    fm_find_drives(s);
    fm_find_actuators(s);
    fm_find_following(s);
    fm_find_states(s);
    fm_find_knowns(s);
    fm_choose_kernels(s, fm_level_best());
    s->laws.use = s->laws.now;
    for (int32_t i = 0; i < s->image.n.laws; i++) s->laws.all[i] = i;
    fm_watch_all_laws(s);
    fm_laws_own(s);
    *out = s;
    return fm_do_reset(s);
}

fm_status fm_do_open(const void *bytes, size_t size, int derivatives, fm_instance **out, char *message, size_t capacity)
{
    *out = NULL;
    if (bytes == NULL) return refuse(message, capacity, "no model image was given");
    whole *all = calloc(2, sizeof *all); /* targets have small stacks */
    /* the image is read where its numbers are aligned, if need be in a copy */
    void *copy = (uintptr_t)bytes % sizeof(double) == 0 ? NULL : malloc(size + FM_LINE);
    if (copy != NULL) memcpy(copy, bytes, size);
    const void *image = copy != NULL ? copy : bytes;
    const int fits = all != NULL && (uintptr_t)image % sizeof(double) == 0;
    const fm_status status = fits ? open_by(all, image, size, derivatives, out, message, capacity)
                                  : refuse(message, capacity, "not enough memory for the model image");
    free(copy);
    free(all);
    return status;
}

void fm_close(fm_instance *s)
{
    if (s != NULL) free(s->bytes);
}

fm_status fm_do_reset(fm_instance *s)
{
    const fm_image *m = &s->image;
    memset(s->state, 0, s->model.state_doubles * sizeof(double));
    copy(s->y, m->start_p, m->n.positions);
    copy(s->y + m->n.positions, m->start_u, m->n.speeds);
    copy(s->y + s->model.bristles, m->start_z, m->n.bristles);
    copy(s->guess, s->y, s->model.ny);
    copy(s->base, s->y, s->model.ny);
    if (s->model.inverse) copy(s->given, s->y, m->n.positions + m->n.speeds);
    copy(s->cut_p, m->cut_start, m->n.cut_positions);
    copy(s->gravity, m->gravity, 3);
    copy(s->options, m->options, FM_OPTIONS);
    copy(s->closure, m->closure, 4);
    copy(s->tau, m->start_tau, m->n.modes);
    copy(s->control, m->control_start, m->n.controls);
    copy(s->coupled_stiffness, m->coupled_stiffness, m->n.coupled);
    copy(s->coupled_damping, m->coupled_damping, m->n.coupled);
    copy(s->screw_stiffness, m->screw_stiffness, m->n.screws);
    copy(s->screw_damping, m->screw_damping, m->n.screws);
    copy(s->screw_rest, m->screw_rest, m->n.screws);
#define P(V, kind, array, columns, rows) copy(s->array, m->array, (columns) * m->n.rows);
    FM_PARAMETERS(P, )
#undef P
    for (int32_t i = 0; i < m->n.loads; i++) {
        copy(s->load + 6 * i, m->load_force + 3 * i, 3);
        copy(s->load + 6 * i + 3, m->load_torque + 3 * i, 3);
    }
    (void)fm_set_actuators(s, 0);
    s->clock[FM_ERROR_LAST] = 1e-4;
    s->valid = FM_VALID_NOTHING;
    s->message[0] = 0;
    fm_end_smooth(s);
    fm_derive(s);
    return FM_OK;
}

const char *fm_guid(const fm_instance *s)
{
    return s->guid;
}
