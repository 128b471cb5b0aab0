/* derivatives.c: stands behind the core in numbers of 113 bits (quadruple.py): its values, and their derivatives by
 * differences, for a program in doubles.
 */
#define SHOWN __attribute__((visibility("default")))
#define FM_STEP 0x1p-18f128 /* its fourth power, 2e-22, is the error of a difference; what iterations leave, over it */

typedef struct widened {
    const unsigned char *from;
    unsigned char *to; /* NULL: only counts */
    size_t size;
    const char *section;
} widened;

static void widen_bytes(widened *w, const void *bytes, size_t count)
{
    if (w->to != NULL) memcpy(w->to + w->size, bytes, count);
    w->size += count;
}

static void widen_array(widened *w, const char *section, char type, size_t count)
{
    if (w->section == NULL || strcmp(w->section, section) != 0) {
        widen_bytes(w, w->from, 8), w->from += 8;
        w->section = section;
    }
    if (type == 'd') {
        for (size_t i = 0; i < count; i++, w->from += sizeof(binary64)) {
            binary64 narrow;
            memcpy(&narrow, w->from, sizeof narrow);
            double wide = narrow;
            widen_bytes(w, &wide, sizeof wide);
        }
        return;
    }
    size_t bytes = count * (type == 'i' ? sizeof(int32_t) : 1);
    bytes = (bytes + 7u) & ~(size_t)7u;
    widen_bytes(w, w->from, bytes), w->from += bytes;
}

static size_t widen_image(const unsigned char *image, unsigned char *to)
{
    fm_sizes n;
    widened w = {image, to, 0, NULL};
    widen_bytes(&w, w.from, sizeof(fm_header)), w.from += sizeof(fm_header);
    memcpy(&n, w.from, sizeof n);
    size_t padded = (sizeof n + 7u) & ~(size_t)7u;
    widen_bytes(&w, w.from, padded), w.from += padded;
#define A(name, type, columns, rows, bound, lowest, unit, section) widen_array(&w, section, #type[0], (size_t)n.rows * columns);
    FM_IMAGE_ARRAYS(A)
#undef A
    return w.size;
}

SHOWN fm_instance *quadruple_open(const void *image, char *message, size_t capacity)
{
    const size_t size = widen_image(image, NULL);
    unsigned char *wide = aligned_alloc(64, (size + 63u) & ~(size_t)63u);
    fm_instance *s = NULL;
    fm_header header;
    if (wide == NULL) return NULL;
    widen_image(image, wide);
    memcpy(&header, wide, sizeof header);
    header.size = size;
    header.checksum = fm_checksum(wide + sizeof header, size - sizeof header);
    memcpy(wide, &header, sizeof header);
    (void)fm_open(wide, size, &s, message, capacity);
    free(wide);
    return s;
}

SHOWN void quadruple_close(fm_instance *s)
{
    fm_close(s);
}

SHOWN const char *quadruple_message(fm_instance *s)
{
    return fm_message(s);
}

/* Assembles at the time t with variables (count) set. 0: not; quadruple_message says why. */
SHOWN int quadruple_assemble(fm_instance *s, const binary64 *t, const uint32_t *reference, size_t count,
                             const binary64 *value)
{
    fm_events events;
    for (size_t i = 0; i < count; i++) {
        double wide = value[i];
        if (fm_set(s, reference + i, 1, &wide) != FM_OK) return 0;
    }
    return fm_assemble(s, *t) == FM_OK && fm_update_events(s, &events) == FM_OK;
}

/* value (unknowns) at the time t and the states x (n), the inputs and parameters that are set, and out (unknowns,
 * knowns), its derivatives by central differences and one extrapolation, NAN by a parameter at its bound. known: below
 * n a state, others are n and a reference; size (knowns): their sizes.
 */
SHOWN int quadruple_derivatives(fm_instance *s, const binary64 *t, const binary64 *x, size_t n, const uint32_t *unknown,
                                size_t unknowns, const uint32_t *known, size_t knowns, const binary64 *size,
                                binary64 *value, binary64 *out)
{
    fm_events events; /* pieces of laws and paths are those of the states */
    double *state = malloc((n + 4 * unknowns + 1) * sizeof *state), *f = state + n;
    int fits = state != NULL;
    for (size_t i = 0; fits && i < n; i++) state[i] = x[i];
    fits = fits && fm_set_continuous(s, *t, state) == FM_OK && fm_update_events(s, &events) == FM_OK &&
           fm_set_continuous(s, *t, state) == FM_OK && fm_get(s, unknown, unknowns, f) == FM_OK;
    for (size_t i = 0; fits && i < unknowns; i++) value[i] = (binary64)f[i];
    for (size_t k = 0; fits && k < knowns; k++) {
        const int is_state = known[k] < n;
        const uint32_t reference = is_state ? 0 : known[k] - (uint32_t)n;
        double start = 0;
        if (is_state) start = state[known[k]];
        else fits = fm_get(s, &reference, 1, &start) == FM_OK;
        const double h = FM_STEP * (double)size[k];
        const double at[5] = {start + h, start - h, start + h / 2, start - h / 2, start};
        int bounded = 0; /* a parameter at its bound */
        for (int j = 0; fits && j < 5; j++) { /* the last one goes back */
            if (is_state) state[known[k]] = at[j];
            else bounded |= fm_set(s, &reference, 1, at + j) != FM_OK;
            fits = fits && fm_set_continuous(s, *t, state) == FM_OK &&
                   (j == 4 || fm_get(s, unknown, unknowns, f + j * unknowns) == FM_OK);
        }
        for (size_t i = 0; fits && i < unknowns; i++) {
            const double wide = (f[i] - f[unknowns + i]) / (2 * h);
            const double near = (f[2 * unknowns + i] - f[3 * unknowns + i]) / h;
            out[i * knowns + k] = bounded ? (binary64)NAN : (binary64)((4 * near - wide) / 3);
        }
    }
    free(state);
    return fits;
}
