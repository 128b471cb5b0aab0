/* structure.c: calls what prepares an instance from its image, once, in the order of their dependencies. */
#include "structure.h"

#include "../instance/instance.h"
#include "../tree/general.h"
#include "../tree/links.h"
#include "../tree/bend.h"
#include "../tree/modal.h"
#include "../tree/planar.h"
#include "../tree/reversed.h"
#include "../loops/planar_loops.h"
#include "../loops/turning_axes.h"
#include "../assembly/held_values.h"
#include "../motion/least.h"

void fm_derive_structure(fm_instance *s)
{
    fm_links_structure(s);
    s->model.excited = s->image.n.excitations > 0;
    fm_general_structure(s);
    fm_mark_loops(s);
    fm_assembly_structure(s);
    fm_reversed_structure(s);
    fm_modal_structure(s);
    fm_bend_structure(s);
    fm_arrange_slots(s);
    fm_planar_structure(s);
    fm_planar_loops_structure(s);
    fm_turning_structure(s);
    if (s->image.n.rows > 0) fm_least_structure(s);
}
