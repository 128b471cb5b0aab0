/* schemes.h: every scheme of integration, once. S(number, id, name, order, fixed, stages, terms, method, purpose)
 *
 * number: the value of solver.scheme; id: FM_id; name: in Python and on the command line; order: of its steps; fixed: 1
 * for equal steps, 0 for error control; stages: derivatives of the state that a step works with; terms: coefficients of
 * its dense output, of a variable; method: as the FMU describes it; purpose: as the command line does. What it does is
 * the constant fm_scheme_NAME in a file of its own in time/.
 */
#ifndef FM_SCHEMES_H
#define FM_SCHEMES_H

#include <stdint.h>

#define FM_FIRST_SCHEME(S)                                                               \
    S(0, DORMAND_PRINCE, dopri5, 5, 0, 7, 5, "Dormand-Prince 5(4) with error control",   \
      "of order 5, for what is not stiff")

#define FM_OTHER_SCHEMES(S)                                                              \
    S(1, RUNGE_KUTTA, rk4, 4, 1, 4, 0, "Runge-Kutta 4 with fixed step",                  \
      "of order 4, with fixed steps")                                                    \
    S(2, RADAU, radau, 5, 0, 7, 5, "Radau IIA of order 5 with error control, for stiff mechanisms", \
      "of order 5, for stiff mechanisms")                                                \
    S(3, AUTO, auto, 5, 0, 7, 5, "whichever of 0 and 2 advances further for its cost",   \
      "the default: dopri5, or radau where that advances further for its cost")          \
    S(4, DOP853, dop853, 8, 0, 16, 8, "DOP853 of order 8 with error control",            \
      "of order 8, for tolerances below about 1e-7")

#define FM_SCHEMES(S) FM_FIRST_SCHEME(S) FM_OTHER_SCHEMES(S)

/* What all of them are, as a text: "0 Dormand-Prince 5(4) with error control, 1 ..." */
#define FM_FIRST_METHOD(number, id, name, order, fixed, stages, terms, method, purpose) #number " " method
#define FM_NEXT_METHOD(number, id, name, order, fixed, stages, terms, method, purpose) ", " #number " " method
#define FM_SCHEME_METHODS FM_FIRST_SCHEME(FM_FIRST_METHOD) FM_OTHER_SCHEMES(FM_NEXT_METHOD)

typedef enum fm_scheme_id {
#define S(number, id, name, order, fixed, stages, terms, method, purpose) FM_##id = number,
    FM_SCHEMES(S)
#undef S
        FM_SCHEME_COUNT
} fm_scheme_id;

enum { /* the sizes of each */
#define S(number, id, name, order, fixed, stages, terms, method, purpose) \
    FM_STAGES_OF_##id = stages, FM_TERMS_OF_##id = terms,
       FM_SCHEMES(S)
#undef S
           FM_SIZES_OF_SCHEMES
};

/* The largest of these sizes. */
#define S(number, id, name, order, fixed, stages, terms, method, purpose) char of_##id[stages];
union fm_stages_of_schemes {
    FM_SCHEMES(S)
};
#undef S
#define S(number, id, name, order, fixed, stages, terms, method, purpose) char of_##id[(terms) + 1];
union fm_terms_of_schemes {
    FM_SCHEMES(S)
};
#undef S
#define FM_STAGES ((int32_t)sizeof(union fm_stages_of_schemes))
#define FM_DENSE_TERMS ((int32_t)sizeof(union fm_terms_of_schemes) - 1)

#endif
