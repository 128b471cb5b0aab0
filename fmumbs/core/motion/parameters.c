/* parameters.c: quantities derived from the instance's parameters. */
#include "parameters.h"

#include "../instance/instance.h"
#include "../tree/links.h"
#include "../tree/modal.h"
#include "../tree/planar.h"
#include "../forces/gear.h"
#include "../forces/motor.h"
#include "../loops/delassus.h"
#include "friction.h"
#include "own_states.h"

/* Called after every change of a parameter. */
void fm_derive(fm_instance *s)
{
    fm_links_derive(s);
    fm_modal_derive(s);
    fm_planar_derive(s);
    fm_use_rows(s);
    fm_friction_derive(s);
    fm_own_derive(s);
    fm_gears_derive(s);
    fm_motors_derive(s);
    s->model.obeys = 0;
}
