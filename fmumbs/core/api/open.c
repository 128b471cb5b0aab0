/* open.c: one arena for an instance, and how it begins. */
#include "open.h"

#include "../maths/vectors.h"
#include "../image/read.h"
#include "../instance/instance.h"
#include "../instance/message.h"
#include "../tree/planar_fit.h"
#include "../forces/excitation.h"
#include "../loops/loop_plan.h"
#include "../kernels/kernels.h"
#include "../motion/parameters.h"
#include "structure.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FM_LINE 64 /* arrays begin on a cache line */

/* Under the address sanitizer every array, also of the image, has a fence behind it, so that it sees who leaves his. */
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

/* Hands out parts of the arena, or counts them while there is none. */
static void *place(unsigned char *base, size_t *used, size_t count, size_t size)
{
    void *here = base == NULL ? NULL : base + *used;
    const size_t end = *used + count * size;
    *used = ((end + (FM_LINE - 1)) & ~(size_t)(FM_LINE - 1)) + FM_FENCE;
    if (base != NULL) fence(base + end, *used - end);
    return here;
}

/* The same, with a copy of what is somewhere else. While there is no arena, it stays there. */
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

static size_t lay_out(fm_instance *s, unsigned char *base)
{
    const fm_model *m = &s->model;
    const size_t links = (size_t)m->n.links, ny = (size_t)m->ny, speeds = (size_t)m->n.speeds;
    const size_t inputs = (size_t)m->n.modes + 6 * (size_t)m->n.loads;
    size_t used = 0;
    s->state = place(base, &used, m->state_doubles, sizeof(double));
    double *next = s->state;
#define V(name, count)              \
    s->name = next;                 \
    if (base != NULL) next += count;
    FM_STATE_ARRAYS(V)
#undef V
    s->kept = place(base, &used, m->state_doubles, sizeof(double));
    s->link = place(base, &used, links, sizeof *s->link);
    s->pivot = place(base, &used, 2 * links, sizeof(double));
    s->motion = place(base, &used, links, sizeof *s->motion);
    s->lane = place(base, &used, links / FM_LANE_WIDTH + 1, sizeof *s->lane);
    s->turned = place(base, &used, links, sizeof *s->turned);
    s->ball = place(base, &used, (size_t)m->balls, sizeof *s->ball);
    s->general = place(base, &used, (size_t)m->n.generals, sizeof *s->general);
    s->modal = place(base, &used, (size_t)m->n.modals, sizeof *s->modal);
    s->world = place(base, &used, links, sizeof *s->world);
    s->pending = place(base, &used, links / 2 + 1, sizeof *s->pending);
    s->angle_link = place(base, &used, links, sizeof *s->angle_link);
    s->ball_link = place(base, &used, links, sizeof *s->ball_link);
    s->slide_link = place(base, &used, links, sizeof *s->slide_link);
    s->range = place(base, &used, 2 * (links / 2 + 1), sizeof *s->range);
    const size_t planars = (size_t)m->planars;
    s->plane_place = place(base, &used, links, sizeof *s->plane_place);
    s->plane_link = place(base, &used, planars, sizeof *s->plane_link);
    s->plane_axes = place(base, &used, planars, sizeof *s->plane_axes);
    s->plane_pending = place(base, &used, planars / 2 + 1, sizeof *s->plane_pending);
    s->plane = place(base, &used, (planars + (FM_PLANE_WIDTH - 1)) / FM_PLANE_WIDTH * FM_PLANE_SIZE, sizeof(double));
    const size_t looped = s->loop.blocks > 0 ? planars : 0;
    s->placed = place(base, &used, looped > 0 ? ny : 0, sizeof(double));
    s->plane_world = place(base, &used, looped + 1, sizeof *s->plane_world);
    s->plane_root = place(base, &used, planars, sizeof *s->plane_root);
    s->plane_joint = place(base, &used, looped > 0 ? (size_t)s->loop.blocks : 0, sizeof *s->plane_joint);
    s->plane_block = place(base, &used, looped > 0 ? (size_t)m->n.joints : 0, sizeof *s->plane_block);
    s->plane_row = place(base, &used, looped > 0 ? (size_t)m->n.rows : 0, sizeof *s->plane_row);
    s->plane_mode = place(base, &used, looped > 0 ? s->loop.paths : 0, sizeof *s->plane_mode);
    s->tau_now = place(base, &used, speeds, sizeof(double));
    s->applied = place(base, &used, 6 * links, sizeof(double));
    s->in_loop = place(base, &used, links, sizeof *s->in_loop);
    s->cut_wrench = place(base, &used, m->n.modes > m->n.speeds ? 6 * (size_t)m->n.joints : 0, sizeof(double));
    s->wrench = place(base, &used, 6 * links, sizeof(double));
    s->udot = place(base, &used, speeds, sizeof(double));
    s->stage = place(base, &used, FM_STAGES * ny, sizeof(double));
    s->trial = place(base, &used, ny, sizeof(double));
    s->least = place(base, &used, ny, sizeof(double));
    s->probe = place(base, &used, 2 * ny, sizeof(double));
    s->input_now = place(base, &used, inputs, sizeof(double));
    s->reversed_ball = place(base, &used, (size_t)m->balls, sizeof *s->reversed_ball);
    s->linked = place(base, &used, m->reversed > 0 ? ny : 0, sizeof(double));
    s->linked_tau = place(base, &used, m->reversed > 0 ? speeds : 0, sizeof(double));
    const size_t laws = (size_t)m->n.laws, held = laws < FM_HELD ? laws : FM_HELD;
    s->law_now = place(base, &used, 2 * laws, sizeof(double));
    s->law_force = place(base, &used, laws, sizeof(double));
    s->law_v = place(base, &used, laws, sizeof(double));
    s->law_seen = place(base, &used, 4 * laws, sizeof(double));
    s->law_rates = place(base, &used, laws > 0 ? ny + speeds : 0, sizeof(double));
    s->held = place(base, &used, held, sizeof *s->held);
    s->held_where = place(base, &used, held, sizeof *s->held_where);
    s->held_side = place(base, &used, held, sizeof *s->held_side);
    s->held_range = place(base, &used, 2 * held, sizeof(double));
    s->held_a = place(base, &used, held, sizeof(double));
    s->held_f = place(base, &used, held, sizeof(double));
    s->held_x = place(base, &used, held, sizeof(double));
    s->held_aim = place(base, &used, held, sizeof(double));
    s->held_A = place(base, &used, held * held, sizeof(double));
    s->held_L = place(base, &used, held * held, sizeof(double));
    const size_t rows = (size_t)m->n.rows;
    s->loop.block = put(base, &used, s->loop.block, (size_t)s->loop.blocks, sizeof *s->loop.block);
    s->loop.meeting = put(base, &used, s->loop.meeting, s->loop.meetings, sizeof *s->loop.meeting);
    s->loop.run = put(base, &used, s->loop.run, s->loop.runs, sizeof *s->loop.run);
    s->loop.path = put(base, &used, s->loop.path, s->loop.paths, sizeof *s->loop.path);
    s->loop.link = put(base, &used, s->loop.link, s->loop.paths, sizeof *s->loop.link);
    s->loop_y = place(base, &used, s->loop.y, sizeof(double));
    s->loop_z = place(base, &used, s->loop.y, sizeof(double));
    s->loop_L = place(base, &used, s->loop.L, sizeof(double));
    s->loop_diagonal = place(base, &used, rows, sizeof(double));
    s->loop_modes = place(base, &used, speeds, sizeof(double));
    s->loop_turned = place(base, &used, rows > 0 ? 12 * links : 0, sizeof(double));
    s->loop_c = place(base, &used, 3 * rows, sizeof(double));
    s->loop_wrench = place(base, &used, 6 * rows, sizeof(double));
    s->loop_rhs = place(base, &used, rows, sizeof(double));
    s->lambda = place(base, &used, rows, sizeof(double));
    s->loop_most = place(base, &used, rows, sizeof(double));
    s->loop_kept = place(base, &used, rows, sizeof(double));
    s->loop_pivot = place(base, &used, speeds, sizeof(double));
    const size_t closed = rows > 0 ? 1 : 0, joints = closed * (size_t)m->n.joints;
    double **least[] = {&s->least_idle, &s->least_p, &s->least_step, &s->least_fall, &s->least_more, &s->least_change};
    for (size_t i = 0; i < sizeof least / sizeof *least; i++) *least[i] = place(base, &used, rows, sizeof(double));
    s->least_R = place(base, &used, 6 * joints, sizeof(double));
    s->least_along = place(base, &used, 6 * joints, sizeof(double));
    s->least_at = place(base, &used, 3 * joints, sizeof(double));
    s->least_metric = place(base, &used, closed * speeds, sizeof(double));
    s->loop_change = place(base, &used, speeds, sizeof(double));
    s->bridge_node = place(base, &used, closed * FM_NODES * ny, sizeof(double));
    s->bridge_root = place(base, &used, (FM_NODES + 1) * rows, sizeof(double));
    s->step_end = place(base, &used, closed * ny, sizeof(double));
    s->step_corrected = place(base, &used, closed * ny, sizeof(double));
    s->bridge_way = place(base, &used, closed * speeds, sizeof(double));
    s->bridge_udot = place(base, &used, 3 * closed * speeds, sizeof(double));
    s->bridge_rate = place(base, &used, closed * speeds, sizeof(double));
    s->bridge_lambda = place(base, &used, rows, sizeof(double));
    s->bridge_rhs = place(base, &used, rows, sizeof(double));
    s->bridge_y = place(base, &used, closed * ny, sizeof(double));
    s->bridge_label = place(base, &used, closed * speeds, sizeof *s->bridge_label);
    const size_t modes = (size_t)m->n.modes, units = modes > (size_t)m->n.joints ? modes : (size_t)m->n.joints;
    s->start_order = place(base, &used, modes, sizeof *s->start_order);
    s->start_link = place(base, &used, modes, sizeof *s->start_link);
    s->start_hold = place(base, &used, modes, sizeof *s->start_hold);
    s->start_list = place(base, &used, units, sizeof *s->start_list);
    s->start_free = place(base, &used, speeds, sizeof(double));
    s->start_most = place(base, &used, rows, sizeof(double));
    s->start_at = place(base, &used, closed * ny, sizeof(double));
    s->start_try = place(base, &used, closed * ny, sizeof(double));
    s->start_from = place(base, &used, 3 * closed * ny, sizeof(double));
    s->start_cut = place(base, &used, closed * (size_t)m->n.cut_positions, sizeof(double));
    s->seed = place(base, &used, inputs, sizeof(double));
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
    m->ny = m->n.positions + m->n.speeds;
    for (int32_t i = 0; i < m->n.links; i++) {
        const int ball = image->link_kind[i] == FM_LINK_SPHERICAL;
        m->balls += ball;
        m->reversed += ball && image->joint_reversed[image->link_joint[i]];
    }
    m->planars = fm_planar_count(image);
#define V(name, count) m->state_doubles += (size_t)(count);
    FM_STATE_ARRAYS(V)
#undef V
    return model;
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
    if (capacity > 0) (void)snprintf(message, capacity, "%s", sentence);
    return FM_ERROR;
}

fm_status fm_do_open(const void *bytes, size_t size, fm_instance **out, char *message, size_t capacity)
{
    fm_instance draft;
    memset(&draft, 0, sizeof draft);
    *out = NULL;
    if (bytes == NULL) return refuse(message, capacity, "there is no model image");
    /* The image is read where it can be aligned: in a copy that opens the arena. */
    void *copy = malloc(size + FM_LINE);
    if (copy == NULL) return refuse(message, capacity, "no memory for the model image");
    memcpy(copy, bytes, size);
    if (!fm_image_read(&draft.image, copy, size, message, capacity)) {
        free(copy);
        return FM_ERROR;
    }
    draft.model = model_of(&draft.image);
    fm_loop_plan plan;
    if (!fm_plan_loops(&draft.image, &plan)) {
        free(copy);
        return refuse(message, capacity, "no memory for so many loops that move one another: there are too many rows on "
                                         "the same links");
    }
    draft.loop = plan;
    const size_t head = (sizeof draft + (FM_LINE - 1)) & ~(size_t)(FM_LINE - 1);
    const size_t kept = (size + (FM_LINE - 1)) & ~(size_t)(FM_LINE - 1);
    const size_t work = lay_out(&draft, NULL);
    unsigned char *block = calloc(head + kept + work + FM_LINE, 1);
    if (block == NULL) {
        free(copy);
        fm_forget_plan(&plan);
        return refuse(message, capacity, "no memory for the instance");
    }
    unsigned char *base = block + (FM_LINE - (size_t)((uintptr_t)block & (FM_LINE - 1)));
    memcpy(base + head, copy, size);
    free(copy);
    fm_instance *s = (fm_instance *)(void *)base;
    *s = draft;
    (void)fm_image_read(&s->image, base + head, size, message, capacity);
    s->bytes = block;
    (void)lay_out(s, base + head + kept);
    fm_forget_plan(&plan);
    write_guid(s);
    fm_derive_structure(s);
    (void)fm_level_use(s, fm_level_best());
    s->law_use = s->law_now;
    *out = s;
    return fm_do_reset(s);
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
    copy(s->guess, s->y, s->model.ny);
    copy(s->base, s->y, s->model.ny);
    copy(s->cut_p, m->cut_start, m->n.cut_positions);
    copy(s->gravity, m->gravity, 3);
    copy(s->options, m->options, 3);
    copy(s->closure, m->closure, 4);
    copy(s->tau, m->start_tau, m->n.modes);
    copy(s->stiffness, m->stiffness, m->n.modes);
    copy(s->damping, m->damping, m->n.modes);
    copy(s->rest, m->rest, m->n.modes);
    copy(s->rotor_inertia, m->rotor_inertia, m->n.modes);
    copy(s->mass, m->mass, m->n.bodies);
    copy(s->inertia, m->inertia, 6 * m->n.bodies);
    copy(s->spring_stiffness, m->spring_stiffness, m->n.springs);
    copy(s->spring_damping, m->spring_damping, m->n.springs);
    copy(s->spring_free_length, m->spring_free_length, m->n.springs);
    for (int32_t i = 0; i < m->n.loads; i++) {
        copy(s->load + 6 * i, m->load_force + 3 * i, 3);
        copy(s->load + 6 * i + 3, m->load_torque + 3 * i, 3);
    }
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

int32_t fm_level_best(void)
{
#if defined(FM_HAVE_AVX2) && defined(__GNUC__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? 1 : 0;
#else
    return 0;
#endif
}

fm_status fm_level_use(fm_instance *s, int32_t level)
{
    if (level < 0 || level > fm_level_best())
        return fm_say(s, FM_ERROR, "level %ld of the kernels is not to be had here", (long)level);
    s->kernels = &fm_kernels_plain;
#ifdef FM_HAVE_AVX2
    if (level == 1) s->kernels = &fm_kernels_avx2;
#endif
    s->level = level;
    s->valid = FM_VALID_NOTHING;
    return FM_OK;
}
