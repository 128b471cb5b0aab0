/* state.c: saves and loads states: a header that identifies the model, then the instance's block of doubles. */
#include "state.h"

#include "../instance/instance.h"
#include "../instance/message.h"
#include "../motion/parameters.h"

#include <math.h>
#include <string.h>

#define FM_STATE_MAGIC "FMUSTATE"

typedef struct header {
    char magic[8];
    uint32_t version, reserved;
    uint64_t doubles, checksum;
    uint8_t hash[32];
} header;

size_t fm_state_size(const fm_instance *s)
{
    return sizeof(header) + s->model.state_doubles * sizeof(double);
}

fm_status fm_state_save(const fm_instance *s, void *bytes, size_t size)
{
    header h;
    if (size < fm_state_size(s)) return FM_ERROR;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, FM_STATE_MAGIC, 8);
    h.version = FM_IMAGE_VERSION;
    h.doubles = s->model.state_doubles;
    h.checksum = fm_checksum(s->state, s->model.state_doubles * sizeof(double));
    memcpy(h.hash, s->image.hash, sizeof h.hash);
    memcpy(bytes, &h, sizeof h);
    memcpy((char *)bytes + sizeof h, s->state, s->model.state_doubles * sizeof(double));
    return FM_OK;
}

/* Whether times allow an integrator to continue: finite, and its time not before the present. */
static int clock_fits(const fm_instance *s, const void *values)
{
    double clock[FM_CLOCK_SIZE];
    memcpy(clock, (const char *)values + (size_t)(s->clock - s->state) * sizeof *clock, sizeof clock);
    for (int i = 0; i < FM_CLOCK_SIZE; i++)
        if (!isfinite(clock[i])) return 0;
    return clock[FM_AHEAD] == 0.0 || clock[FM_TIME] <= clock[FM_TIME_HEAD];
}

fm_status fm_do_state_load(fm_instance *s, const void *bytes, size_t size)
{
    header h;
    if (size != fm_state_size(s))
        return fm_say(s, FM_ERROR, "the saved state has %lu bytes, this model's has %lu: it belongs to another model",
                      (unsigned long)size, (unsigned long)fm_state_size(s));
    memcpy(&h, bytes, sizeof h);
    const void *values = (const char *)bytes + sizeof h;
    if (memcmp(h.magic, FM_STATE_MAGIC, 8) != 0 || h.doubles != s->model.state_doubles)
        return fm_say(s, FM_ERROR, "these bytes are not a saved state");
    if (h.version != FM_IMAGE_VERSION)
        return fm_say(s, FM_ERROR, "the saved state has version %lu, this library reads version %lu",
                      (unsigned long)h.version, (unsigned long)FM_IMAGE_VERSION);
    if (memcmp(h.hash, s->image.hash, sizeof h.hash) != 0)
        return fm_say(s, FM_ERROR, "the saved state belongs to another model image");
    if (h.checksum != fm_checksum(values, (size_t)h.doubles * sizeof(double)))
        return fm_say(s, FM_ERROR, "the saved state is damaged: its checksum is wrong");
    if (!clock_fits(s, values)) return fm_say(s, FM_ERROR, "the saved state is damaged: its times are inconsistent");
    memcpy(s->state, values, (size_t)h.doubles * sizeof(double));
    fm_derive(s);
    s->valid = FM_VALID_NOTHING;
    return FM_OK;
}
