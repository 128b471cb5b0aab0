/* test_response.c: responses to the inputs are computed at rest, but links move as in y where that of a force is read,
 * which a power multiplies by velocities; they stay so for what is read next.
 */
#include "images.h"

#include "instance/instance.h"
#include "outputs/update.h"

/* Finds a reference: the first input, or the first joint's wrench; UINT32_MAX: there is none. */
static uint32_t first_of(const fm_instance *s, int input)
{
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        fm_variable_info info;
        if (fm_variable(s, i, &info) != FM_OK) continue;
        if (input ? info.causality == FM_INPUT : info.kind == FM_J_WRENCH_F) return i;
    }
    return UINT32_MAX;
}

static void check_links_move(const image *one)
{
    const double seed = 1.0;
    fm_instance *s = open_image(one);
    const size_t size = (size_t)s->image.n.links * sizeof *s->world;
    const uint32_t input = first_of(s, 1), wrench = first_of(s, 0);
    double response;
    fm_world *before = allocate((size_t)s->image.n.links, sizeof *before);
    if (input != UINT32_MAX && wrench != UINT32_MAX && fm_assemble(s, 0.0) == FM_OK) {
        for (int32_t i = 0; i < s->image.n.speeds; i++) s->y[s->image.n.positions + i] = 0.5 + 0.1 * i;
        s->valid = FM_VALID_NOTHING;
        fm_update(s, FM_VALID_WORLD);
        memcpy(before, s->world, size);
        CHECK(fm_directional_derivative(s, &wrench, 1, &input, 1, &seed, &response) == FM_OK);
        CHECK((s->valid & FM_VALID_WORLD) && memcmp(before, s->world, size) == 0);
    }
    free(before);
    fm_close(s);
}

int main(void)
{
    return walk(check_links_move, EVERY);
}
