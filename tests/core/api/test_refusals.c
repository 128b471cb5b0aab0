/* test_refusals.c: a refused call leaves the instance unchanged, and every call ends. All cases were found by fuzz/, or
 * while it was written. */
#include "images.h"
#include "image/schemes.h"

static unsigned char *save(const fm_instance *s)
{
    unsigned char *state = allocate(fm_state_size(s), 1);
    CHECK(fm_state_save(s, state, fm_state_size(s)) == FM_OK);
    return state;
}

static void check_refused(const fm_instance *s, fm_status status, unsigned char *before)
{
    unsigned char *after = save(s);
    CHECK(status == FM_ERROR && fm_message(s)[0] != 0);
    CHECK(memcmp(before, after, fm_state_size(s)) == 0);
    free(before);
    free(after);
}

static int is_quaternion(const fm_variable_info *v)
{
    return v->state && strncmp(fm_kind((uint32_t)v->kind)->description, "quaternion", 10) == 0;
}

static int set_quaternions(fm_instance *s, double value)
{
    int count = 0;
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        fm_variable_info info;
        CHECK(fm_variable(s, i, &info) == FM_OK);
        if (!is_quaternion(&info)) continue;
        CHECK(fm_set(s, &i, 1, &value) == FM_OK);
        count++;
    }
    return count;
}

/* Finite numbers, and quaternions with a direction. */
static void check_states(fm_instance *s)
{
    double square = 0.0;
    for (uint32_t i = 0; i < fm_variable_count(s); i++) {
        fm_variable_info info;
        double value;
        CHECK(fm_variable(s, i, &info) == FM_OK && fm_get(s, &i, 1, &value) == FM_OK);
        CHECK(!info.state || isfinite(value));
        if (!is_quaternion(&info)) continue;
        square = (info.component == 0 ? 0.0 : square) + value * value;
        CHECK(info.component < 3 || fabs(square - 1.0) < 1e-9);
    }
}

/* Assembly that is refused for lack of inertia: guesses and time are unchanged, including quaternions of any length. */
static void check_start(fm_instance *s)
{
    CHECK(fm_reset(s) == FM_OK && choose(s, 0.0, 1e-3, 1e-6));
    set_every(s, "mass", 0.0);
    set_every(s, "inertia", 0.0);
    set_every(s, "rotor_inertia", 0.0);
    set_every(s, "q", 0.7);
    unsigned char *before = save(s);
    const fm_status status = fm_assemble(s, 5.0);
    if (status == FM_ERROR) check_refused(s, status, before);
    else free(before); /* all its modes follow paths */
}

/* Steps so short that their number is unlimited, before and after assembly. */
static void check_short_steps(fm_instance *s)
{
    CHECK(fm_reset(s) == FM_OK && choose(s, 1.0, 1e-99, 1e-6) && fm_assemble(s, 0.0) == FM_OK);
    unsigned char *before = save(s);
    check_refused(s, fm_step(s, 1.0), before);
    CHECK(!choose(s, 1.0, 0.0, 1e-6) && !choose(s, 1.0, 1e-300, 1e-6) && !choose(s, 0.5, 1e-3, 1e-6));
}

/* A step whose length overflows. */
static void check_long_step(fm_instance *s)
{
    CHECK(fm_reset(s) == FM_OK && choose(s, 0.0, 1e-3, 1e-6));
    if (fm_assemble(s, -1.7e308) != FM_OK) return; /* no path is defined at that time */
    unsigned char *before = save(s);
    check_refused(s, fm_step(s, 1.7e308), before);
}

/* Ends a step that goes on, as a million of its integration steps take minutes under the sanitizers. */
static int asked_twice(void *asked)
{
    return ++*(int *)asked % 2 == 0;
}

/* Unbounded motion: however the step ends, the states must be valid for another assembly. */
static void check_wild_motion(fm_instance *s)
{
    int asked = 0;
    fm_interrupt(s, asked_twice, &asked);
    static const char *const moving[] = {"tau", "f", "force", "torque", "qd", "w", "v", "u", "kappa"};
    static const double huge[] = {1e30, 1e40, 1e50, 1e60, 1e75, 1e100, 1e150, 1e155, 1e200, 1e293, 1e300, 1.7e308};
    for (size_t i = turn(12); i < 2 * sizeof huge / sizeof *huge; i += each_of(12)) {
        CHECK(fm_reset(s) == FM_OK && choose(s, (double)((walked / 2 + i) % FM_SCHEME_COUNT), 1e-3, 1e-6));
        const size_t kinds = i % 2 ? sizeof moving / sizeof *moving : 4;
        for (size_t j = 0; j < kinds; j++) set_every(s, moving[j], huge[i / 2]);
        if (fm_assemble(s, 0.0) != FM_OK) continue;
        for (int n = 1; n <= 4; n++) (void)fm_step(s, 2e-3 * n);
        check_states(s);
    }
    fm_interrupt(s, NULL, NULL);
}

/* A quaternion of length zero, or of infinite length. */
static void check_quaternions(fm_instance *s)
{
    static const double wrong[] = {0.0, 1e-200, 1e160, 1.7e308};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(fm_reset(s) == FM_OK && choose(s, 1.0, 1e-3, 1e-6));
        if (set_quaternions(s, wrong[i]) == 0) return;
        unsigned char *before = save(s);
        check_refused(s, fm_assemble(s, 0.0), before);
    }
}

/* So many pieces of paths in one step that it would not end, whatever solver.step is. */
static void check_many_pieces(fm_instance *s)
{
    CHECK(fm_reset(s) == FM_OK && choose(s, 1.0, 1e99, 1e-6) && fm_assemble(s, 0.0) == FM_OK);
    const fm_status status = fm_step(s, 2e99);
    CHECK(strcmp(current, "kicked.fmb") != 0 || (status == FM_ERROR && strstr(fm_message(s), "pieces") != NULL));
}

static void check_refusals(const image *one)
{
    fm_instance *s = open_image(one);
    if (choose(s, 0.0, 1e-3, 1e-6)) {
        check_start(s);
        check_short_steps(s);
        check_long_step(s);
        check_wild_motion(s);
        check_quaternions(s);
        check_many_pieces(s);
    }
    fm_close(s);
}

int main(void)
{
    return walk(check_refusals, EVERY);
}
