/* fmu_component.c: life cycle of an instance.
 *
 *   opened -> instantiated -> initialization mode -> step complete <-> step failed -> terminated
 *                                                 -> event mode <-> continuous-time mode -> terminated
 *
 * Values may be set before and during initialization mode; the mechanism is assembled when a value is first read, or
 * when the mode ends.
 */
#include "fmu.h"
#include "fmu_resource.h"

#include <stdlib.h>
#include <string.h>

/* Sends the reason why the arguments of fmu_open are invalid. 0: they are. */
static int are_valid(fmu_component *c, fmu_kind kind, const char *identity)
{
    if (!*c->name) (void)fmu_say(c, FMU_ERROR, "the instance name is empty; give each instance a name of its own");
    else if (kind != FMU_CO_SIMULATION && kind != FMU_MODEL_EXCHANGE)
        (void)fmu_say(c, FMU_ERROR, "%d is no kind of FMU; pass %s", (int)kind, c->host.version->kinds);
    else if (!identity)
        (void)fmu_say(c, FMU_ERROR, "no %s was given; pass the one of modelDescription.xml", c->host.version->identity);
    else return 1;
    return 0;
}

/* Whether an identity is that of the model; *arrays: of its FMU whose vectors are arrays. */
static int is_identity(const fmu_component *c, const fm_instance *core, const char *identity, int *arrays)
{
    const size_t length = strlen(fm_guid(core));
    if (strncmp(fm_guid(core), identity, length) != 0) return 0;
    *arrays = c->host.version->arrays && strcmp(identity + length, c->host.version->arrays) == 0;
    return *arrays || identity[length] == 0;
}

/* Opens the core's instance; NULL, after sending a message, on failure. */
static fm_instance *open_core(fmu_component *c, const char *identity, const char *resources, int *arrays)
{
    char why[FMU_MESSAGE / 2] = "";
    fmu_image image;
    fm_instance *core = NULL;
    if (!fmu_image_find(&image, resources, why, sizeof why)) {
        (void)fmu_say(c, FMU_ERROR, "%s", why);
        return NULL;
    }
    if (!fm_hash_fits(image.bytes, image.size)) {
        (void)fmu_say(c, FMU_ERROR,
                      "the model image was altered: its SHA-256 differs from the one in its header; export again");
    } else if (fm_open_with_derivatives(image.bytes, image.size, &core, why, sizeof why) != FM_OK) {
        (void)fmu_say(c, FMU_ERROR, "%s", why);
        core = NULL;
    } else if (!is_identity(c, core, identity, arrays)) {
        (void)fmu_say(c, FMU_ERROR,
                      "%s '%s' is not that of the model, '%s'; modelDescription.xml and resources belong to different "
                      "FMUs, export again",
                      c->host.version->identity, identity, fm_guid(core));
        fm_close(core);
        core = NULL;
    }
    fmu_image_free(&image);
    return core;
}

static void start_again(fmu_component *c)
{
    fmu_experiment fresh = {0.0, 0.0, 0, FMU_INSTANTIATED, 1, FMU_OK, 0, 0, 0};
    c->experiment = fresh;
}

/* A copy of a component, with its own name and, with arrays, lists of elements; NULL without memory. */
static fmu_component *keep(const fmu_component *draft, int arrays)
{
    const size_t length = strlen(draft->name) + 1;
    fmu_component *c = malloc(sizeof *c + length);
    if (!c) return NULL;
    *c = *draft;
    c->name = memcpy(c + 1, draft->name, length);
    if (!arrays) return c;
    c->elements = malloc((2 * (size_t)fm_variable_count(c->core) + 1) * sizeof *c->elements);
    if (c->elements) return c;
    free(c);
    return NULL;
}

fmu_component *fmu_open(const fmu_host *host, const char *name, fmu_kind kind, const char *identity,
                        const char *resources, int logging)
{
    int arrays = 0;
    fmu_component draft = {0}, *c; /* the draft sends messages until there is a component */
    draft.host = *host;
    draft.kind = kind;
    draft.name = name ? name : "";
    draft.call = "Instantiate";
    draft.mode = fm_float_read();
    draft.log = FMU_LOG_PROBLEMS;
    if (!are_valid(&draft, kind, identity)) return NULL;
    draft.core = open_core(&draft, identity, resources, &arrays);
    if (!draft.core) return NULL;
    start_again(&draft);
    c = keep(&draft, arrays);
    if (c) {
        c->log = logging ? FMU_LOG_ALL : FMU_LOG_PROBLEMS;
    } else {
        (void)fmu_say(&draft, FMU_ERROR, "not enough memory");
        fm_close(draft.core);
    }
    return c;
}

void fmu_close(fmu_component *c)
{
    if (!c) return;
    fmu_drop_states(c);
    fm_close(c->core);
    free(c->elements);
    free(c);
}

fmu_status fmu_enter_initialization(fmu_component *c)
{
    c->experiment.phase = FMU_INITIALIZATION;
    c->experiment.unassembled = 1;
    return FMU_OK;
}

fmu_status fmu_terminate(fmu_component *c)
{
    c->experiment.phase = FMU_TERMINATED;
    return fmu_say(c, FMU_OK, "ended at %.12g s", fm_time(c->core));
}

fmu_status fmu_reset(fmu_component *c)
{
    const fmu_status status = fmu_answer(c, fm_reset(c->core));
    if (status == FMU_OK) start_again(c);
    return status;
}
