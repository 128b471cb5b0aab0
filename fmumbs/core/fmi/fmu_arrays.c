/* fmu_arrays.c: references of the elements of arrays, which one reference stands for.
 *
 * The elements of an array have consecutive references in the core; that of the first is the array's.
 */
#include "fmu.h"

/* The number of elements of `count` variables; 0, after a message, if one is an element itself. */
static int count_elements(fmu_component *c, const uint32_t *reference, size_t count, size_t *elements)
{
    *elements = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t length = fm_array_length(c->core, reference[i]);
        if (length == 0) {
            (void)fmu_say(c, FMU_ERROR, "value reference %u does not exist; it is within an array", reference[i]);
            return 0;
        }
        *elements += length;
    }
    return 1;
}

/* Refuses another number of values than of elements. */
static int are_as_many(fmu_component *c, size_t elements, size_t values, const char *what)
{
    if (elements == values) return 1;
    (void)fmu_say(c, FMU_ERROR, "%lu values are given for %lu %s", (unsigned long)values, (unsigned long)elements,
                  what);
    return 0;
}

int fmu_elements(fmu_component *c, int list, const uint32_t **reference, size_t *count, size_t values)
{
    const size_t room = fm_variable_count(c->core);
    uint32_t *element = c->elements + (list ? room : 0);
    size_t elements = 0, n = 0;
    if (!c->elements || !*reference) return are_as_many(c, *count, values, "variables, which are scalars");
    if (!count_elements(c, *reference, *count, &elements)) return 0;
    if (!are_as_many(c, elements, values, "elements of variables")) return 0;
    if (elements == *count) return 1;
    if (elements > room) {
        (void)fmu_say(c, FMU_ERROR, "%lu elements are more than the FMU has; ask for each once",
                      (unsigned long)elements);
        return 0;
    }
    for (size_t i = 0; i < *count; i++) {
        const uint32_t length = fm_array_length(c->core, (*reference)[i]);
        for (uint32_t k = 0; k < length; k++) element[n++] = (*reference)[i] + k;
    }
    *reference = element;
    *count = n;
    return 1;
}
