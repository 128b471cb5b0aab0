/* profile.c: which velocity variables the forces of each depend on; computed once, when an instance is opened.
 *
 * Two velocity variables couple in the tangent stiffness if one carries the other in the tree, or if both are on the
 * way between the ends of a spring, a cut joint or a coupling. Links are put in order by breadth-first search (E.
 * Cuthill, J. McKee, Proc. 24th Nat. Conf. ACM (1969) 157) from one that is far from others, so that the matrix has
 * entries in row i from column first[i] to the diagonal only, and in column i from there as well (A. Jennings, Computer
 * J. 9 (1966) 281). Columns whose rows do not overlap have one colour: one difference of the forces gives all of them.
 */
#include "profile.h"

#include "../image/joints.h"
#include "../forces/elements.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

#define FM_MOST_ENTRIES ((size_t)1 << 20) /* below the diagonal: beyond that products without a matrix have to do */
#define FM_MOST_WALKED ((size_t)1 << 24)  /* links on all ways together */

typedef struct finding {
    const fm_image *m;
    fm_profile *out;
    int32_t *from, *to;           /* neighbours of each link: to[from[i]] .. to[from[i + 1]] */
    int32_t *queue, *seen, *rank; /* rank: the first variable of each link in the order */
    int32_t looks;
    size_t walked;
} finding;

/* The two links of edge e: a link and its parent, the links of force elements, those of cut joints. 0: no more. */
static int edge_at(const fm_image *m, int32_t e, int32_t ends[2])
{
    if (e < m->n.links) {
        ends[0] = m->link_parent[e], ends[1] = e;
        return 1;
    }
    e -= m->n.links;
    if (e < fm_count_pairs(m)) {
        fm_pair_links(m, e, ends);
        return 1;
    }
    e -= fm_count_pairs(m);
    if (e >= m->n.joints) return 0;
    ends[0] = ends[1] = -1;
    if (fm_is_cut_joint(m, e)) ends[0] = m->joint_F_link[e], ends[1] = m->joint_M_link[e];
    return 1;
}

static void find_neighbours(finding *f)
{
    const int32_t links = f->m->n.links;
    int32_t ends[2];
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t e = 0; edge_at(f->m, e, ends); e++)
            for (int k = 0; k < 2; k++) {
                if (ends[0] < 0 || ends[1] < 0 || ends[0] == ends[1]) continue;
                if (pass == 0) f->from[ends[k] + 1]++;
                else f->to[f->from[ends[k]]++] = ends[1 - k];
            }
        if (pass == 0)
            for (int32_t i = 0; i < links; i++) f->from[i + 1] += f->from[i];
    }
    for (int32_t i = links; i > 0; i--) f->from[i] = f->from[i - 1];
    f->from[0] = 0;
}

/* Links that are connected to one, in the order of their distance, to queue[at]. Returns their number. */
static int32_t search(finding *f, int32_t link, int32_t at)
{
    int32_t end = at;
    f->looks++;
    f->queue[end++] = link;
    f->seen[link] = f->looks;
    for (int32_t head = at; head < end; head++)
        for (int32_t n = f->from[f->queue[head]]; n < f->from[f->queue[head] + 1]; n++) {
            if (f->seen[f->to[n]] == f->looks) continue;
            f->seen[f->to[n]] = f->looks;
            f->queue[end++] = f->to[n];
        }
    return end - at;
}

static void put_in_order(finding *f)
{
    const fm_image *m = f->m;
    int32_t found = 0, place = 0;
    for (int32_t i = 0; i < m->n.links; i++) f->rank[i] = -1;
    for (int32_t i = 0; i < m->n.links; i++) {
        if (f->rank[i] >= 0) continue;
        const int32_t far = f->queue[found + search(f, i, found) - 1];
        const int32_t end = found + search(f, far, found);
        for (; found < end; found++) {
            const int32_t link = f->queue[found], speeds = fm_link_speeds(m, link);
            f->rank[link] = place;
            for (int32_t j = 0; j < speeds; j++) f->out->place[m->link_u[link] + j] = place++;
        }
    }
}

/* The least place on the way from F to M, less what both share, at most `least`; to be the first of all on it, if
 * `write`. */
static int32_t walk(finding *f, int32_t F, int32_t M, int32_t least, int write)
{
    while (F != M) { /* a parent's index is smaller than its child's */
        int32_t *end = F > M ? &F : &M;
        const int32_t place = f->rank[*end], speeds = fm_link_speeds(f->m, *end);
        if (speeds > 0) least = place < least ? place : least;
        for (int32_t j = 0; write && j < speeds; j++)
            if (f->out->first[place + j] > least) f->out->first[place + j] = least;
        *end = f->m->link_parent[*end];
        f->walked++;
    }
    return least;
}

static void couple(finding *f, int32_t F, int32_t M)
{
    (void)walk(f, F, M, walk(f, F, M, INT32_MAX, 0), 1);
}

/* All links that a coupling turns move together in its row. */
static void couple_terms(finding *f, int32_t coupling)
{
    const int32_t first = f->m->coupling_first[coupling], end = first + f->m->coupling_count[coupling];
    int32_t least = INT32_MAX;
    for (int write = 0; write < 2; write++)
        for (int32_t n = first; n < end; n++) {
            const int32_t place = f->rank[f->m->term_link[n]];
            if (!write) least = place < least ? place : least;
            else if (f->out->first[place] > least) f->out->first[place] = least;
        }
}

/* The first column of each row. 0: too much work. */
static int find_first(finding *f)
{
    int32_t ends[2];
    for (int32_t i = 0; i < f->m->n.speeds; i++) f->out->first[i] = i;
    for (int32_t i = 0; i < f->m->n.links && f->walked < FM_MOST_WALKED; i++) couple(f, -1, i);
    for (int32_t e = f->m->n.links; f->walked < FM_MOST_WALKED && edge_at(f->m, e, ends); e++)
        couple(f, ends[0], ends[1]);
    for (int32_t i = 0; i < f->m->n.couplings; i++) couple_terms(f, i);
    return f->walked < FM_MOST_WALKED;
}

/* Offsets of the rows, the last row of each column, and colours. 0: too many entries. */
static int describe(finding *f)
{
    fm_profile *p = f->out;
    const int32_t n = f->m->n.speeds;
    for (int32_t r = 0; r < n; r++) {
        p->start[r] = (int32_t)p->entries;
        p->entries += (size_t)(r - p->first[r]);
        if (p->entries > FM_MOST_ENTRIES) return 0;
        for (int32_t c = p->first[r]; c <= r; c++) p->last[c] = r;
    }
    int32_t *reach = f->queue; /* the last row of each colour so far; there are at least as many places as variables */
    for (int32_t c = 0; c < n; c++) {
        int32_t k = 0;
        while (k < p->colours && reach[k] >= p->first[c]) k++;
        p->colours += k == p->colours;
        p->colour[c] = k;
        reach[k] = p->last[c];
    }
    return 1;
}

void fm_free_profile(fm_profile *p)
{
    free(p->place);
    memset(p, 0, sizeof *p);
}

/* Whether a matrix is of use: for force elements and loops, whose stiffness the sweeps do not take in. */
static int is_wanted(const fm_image *m)
{
    return fm_count_pairs(m) + m->n.rows > 0;
}

/* The profile of a mechanism; fm_free_profile frees it. It is empty if the matrix is
 * of no use or too large. 0: out of memory. */
int fm_find_profile(const fm_image *m, fm_profile *out)
{
    const size_t links = (size_t)m->n.links, speeds = (size_t)m->n.speeds,
                 edges = links + (size_t)fm_count_pairs(m) + (size_t)m->n.joints;
    const size_t more = links > speeds ? links : speeds;
    finding f = {.m = m, .out = out};
    memset(out, 0, sizeof *out);
    if (!is_wanted(m)) return 1;
    int32_t *scratch = calloc(3 * links + more + 2 * edges + 2, sizeof *scratch);
    out->place = calloc(FM_PROFILE_ARRAYS * speeds, sizeof *out->place);
    const int fits = scratch != NULL && out->place != NULL;
    if (fits) {
        f.from = scratch, f.seen = f.from + links + 1, f.rank = f.seen + links;
        f.queue = f.rank + links, f.to = f.queue + more;
        fm_split_profile(out, m->n.speeds);
        find_neighbours(&f);
        put_in_order(&f);
        if (!find_first(&f) || !describe(&f)) fm_free_profile(out);
    }
    free(scratch);
    if (!fits) fm_free_profile(out);
    return fits;
}

/* The arrays of a profile, one after the other from `place`. */
void fm_split_profile(fm_profile *p, int32_t n)
{
    p->n = n;
    p->first = p->place + n, p->last = p->first + n, p->colour = p->last + n, p->start = p->colour + n;
}
