/* loop_plan.c: which rows couple, and the elimination order of K; computed once, when an instance is opened.
 *
 * The rows of one cut joint or coupling form a block. Its path consists of the velocity variables of the moving links
 * between its two ends and the ground. Two blocks couple if their paths share a link, and then they share the path's
 * link next to the ground, their top. So the blocks at one top form a clique, a block belongs to one clique for each of
 * its ends, and eliminating it merges these into one clique of the remaining blocks. Blocks are eliminated in passes,
 * each taking all blocks with few neighbours; the limit is doubled from pass to pass.
 *
 * While positions are assembled, paths have the screws of general links in place of their speeds.
 */
#include "loop_plan.h"

#include "../image/joints.h"
#include "../instance/plane.h"

#include <stdlib.h>
#include <string.h>

#define FM_MOST_NUMBERS ((size_t)1 << 23) /* size limit of each array here; images that exceed it are refused */
#define FM_MOST_WORK ((size_t)1 << 28)    /* limit of steps along pairs of paths */

typedef struct clique {
    int32_t start, count; /* its blocks in `list` */
    int32_t merged;       /* the clique it was merged into, or itself */
    int32_t looked;       /* the search that visited it last */
} clique;

typedef struct planning {
    const fm_image *m;
    fm_loop_plan *out;
    int32_t *top;   /* of each link; -1: nothing moves between it and the ground */
    clique *clique; /* of each link that is a top; merged ones at the later link */
    int32_t *list;  /* members of cliques, then what each eliminated block reaches */
    size_t listed, capacity;
    int32_t *place;  /* of each block in the order, -1: not yet */
    int32_t *reach;  /* 2 a block, in the image's order: start and count in `list` of what it reaches */
    int32_t *mark;   /* of each block */
    int32_t *start;  /* of each block in the image's order: first row */
    int32_t blocks, looks, placing;
    size_t paths;
    int32_t *walk, *walked, walks; /* links of a path, and the walk in which each was met */
} planning;

/* The links that a row acts on, one by one; -2: no more. */
static int32_t link_of_row(const fm_image *m, int32_t row, int32_t which)
{
    if (m->row_kind[row] == FM_ROW_COUPLED) {
        const int32_t coupling = m->row_coupling[row];
        return which < m->coupling_count[coupling] ? m->term_link[m->coupling_first[coupling] + which] : -2;
    }
    if (which > 1) return -2;
    return which == 0 ? m->joint_M_link[m->row_joint[row]] : m->joint_F_link[m->row_joint[row]];
}

static void find_blocks(planning *p)
{
    const fm_image *m = p->m;
    for (int32_t i = 0; i < m->n.rows; i++) {
        const int32_t first = p->blocks > 0 ? p->start[p->blocks - 1] : 0;
        if (p->blocks == 0 || m->row_joint[i] != m->row_joint[first] || m->row_kind[i] == FM_ROW_COUPLED ||
            i - first == FM_JOINT_MODES)
            p->start[p->blocks++] = i;
    }
    p->start[p->blocks] = m->n.rows;
}

static void find_tops(planning *p)
{
    for (int32_t i = 0; i < p->m->n.links; i++) {
        const int32_t parent = p->m->link_parent[i], above = parent < 0 ? -1 : p->top[parent];
        p->top[i] = above >= 0 ? above : fm_link_speeds(p->m, i) > 0 ? i : -1;
        p->clique[i].merged = i;
    }
}

static int32_t standing(planning *p, int32_t c)
{
    while (p->clique[c].merged != c) {
        const int32_t next = p->clique[c].merged;
        p->clique[c].merged = p->clique[next].merged;
        c = next;
    }
    return c;
}

/* The clique of a block's end, -1: none; -2: no such end. */
static int32_t clique_of(planning *p, int32_t block, int32_t which)
{
    const int32_t link = link_of_row(p->m, p->start[block], which);
    if (link == -2) return -2;
    return link < 0 || p->top[link] < 0 ? -1 : standing(p, p->top[link]);
}

/* Whether a clique is visited for the first time since p->looks was incremented. */
static int is_new(planning *p, int32_t c)
{
    if (c < 0 || p->clique[c].looked == p->looks) return 0;
    p->clique[c].looked = p->looks;
    return 1;
}

static int grow(planning *p, size_t more)
{
    if (p->listed + more <= p->capacity) return 1;
    if (p->listed + more > FM_MOST_NUMBERS) return 0;
    const size_t wanted = 2 * (p->listed + more);
    int32_t *larger = realloc(p->list, wanted * sizeof *larger);
    if (larger == NULL) return 0;
    p->list = larger;
    p->capacity = wanted;
    return 1;
}

/* Forms the cliques. 0: out of memory. */
static int join_cliques(planning *p)
{
    for (int pass = 0; pass < 2; pass++) {
        if (!grow(p, 0)) return 0; /* a coupling of many coordinates is in as many cliques */
        for (int32_t b = 0; b < p->blocks; b++, p->looks++)
            for (int32_t w = 0, c; (c = clique_of(p, b, w)) != -2; w++) {
                if (!is_new(p, c)) continue;
                if (pass == 1) p->list[p->clique[c].start + p->clique[c].count] = b;
                p->clique[c].count++;
            }
        for (int32_t i = 0; pass == 0 && i < p->m->n.links; i++) {
            p->clique[i].start = (int32_t)p->listed;
            p->listed += (size_t)p->clique[i].count;
            p->clique[i].count = 0;
        }
    }
    return 1;
}

static int32_t neighbours(planning *p, int32_t block)
{
    int32_t count = 0;
    p->looks++;
    for (int32_t w = 0, c; (c = clique_of(p, block, w)) != -2; w++)
        if (is_new(p, c)) count += p->clique[c].count - 1;
    return count;
}

/* An eliminated block reaches the clique into which its own are merged. */
static int eliminate(planning *p, int32_t block, int32_t place)
{
    int32_t into = -1, reached = 0;
    if (!grow(p, (size_t)neighbours(p, block) + 1)) return 0;
    const int32_t start = (int32_t)p->listed;
    p->place[block] = place;
    p->mark[block] = block + 1;
    for (int32_t w = 0, c; (c = clique_of(p, block, w)) != -2; w++) {
        if (c < 0 || c == into) continue;
        for (int32_t i = 0; i < p->clique[c].count; i++) {
            const int32_t other = p->list[p->clique[c].start + i];
            if (p->mark[other] == block + 1) continue;
            p->mark[other] = block + 1;
            p->list[start + reached++] = other;
        }
        if (into >= 0) p->clique[into].merged = c;
        into = c;
    }
    if (into >= 0) p->clique[into].start = start, p->clique[into].count = reached;
    p->reach[2 * block] = start, p->reach[2 * block + 1] = reached;
    p->listed += (size_t)reached;
    return 1;
}

static int order_blocks(planning *p)
{
    int32_t done = 0;
    for (int32_t b = 0; b < p->blocks; b++) p->place[b] = -1;
    for (int32_t few = 1; done<p->blocks; few = few> INT32_MAX / 2 ? INT32_MAX : 2 * few) /* 32 passes at most */
        for (int32_t b = 0; b < p->blocks; b++)
            if (p->place[b] < 0 && neighbours(p, b) <= few && !eliminate(p, b, done++)) return 0;
    return 1;
}

static int compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int32_t variables_of(const planning *p, int32_t link)
{
    const int screws = p->placing && p->m->link_kind[link] == FM_LINK_GENERAL;
    return screws ? p->m->general_screws[p->m->link_general[link]] : fm_link_speeds(p->m, link);
}

/* The j-th variable of a link. */
static int32_t variable_of(const planning *p, int32_t link, int32_t j)
{
    const int screws = p->placing && p->m->link_kind[link] == FM_LINK_GENERAL;
    return screws ? fm_screw_variable(p->m, link, j) : p->m->link_u[link] + j;
}

/* The path of a block: its ends and their ancestors, as far as they move, from the leaves. `write` 0: only its length.
 */
static size_t find_path(planning *p, int32_t block, int write)
{
    const fm_image *m = p->m;
    int32_t found = 0;
    size_t length = 0;
    p->walks++;
    for (int32_t w = 0, i; (i = link_of_row(m, p->start[block], w)) != -2; w++)
        for (; i >= 0 && p->walked[i] != p->walks; i = m->link_parent[i]) p->walked[i] = p->walks, p->walk[found++] = i;
    qsort(p->walk, (size_t)found, sizeof *p->walk, compare);
    for (int32_t n = found - 1; n >= 0; n--)
        for (int32_t j = 0, at = p->walk[n], count = variables_of(p, at); j < count; j++, length++)
            if (write) p->out->path[p->paths + length] = variable_of(p, at, j), p->out->link[p->paths + length] = at;
    return length;
}

/* The common parts of the paths of two blocks; `runs` NULL: only their number. */
static int32_t find_runs(const planning *p, const fm_block *a, const fm_block *b, int32_t *runs)
{
    const int32_t *bias_x = p->out->link + a->path, *bias_y = p->out->link + b->path;
    int32_t count = 0;
    for (int32_t i = 0, j = 0, on = 0; i < a->length && j < b->length;) {
        if (bias_x[i] != bias_y[j]) {
            on = 0;
            if (bias_x[i] > bias_y[j]) i++;
            else j++;
            continue;
        }
        if (!on && runs != NULL) runs[3 * count] = i, runs[3 * count + 1] = j, runs[3 * count + 2] = 0;
        count += !on;
        on = 1;
        if (runs != NULL) runs[3 * count - 1]++;
        i++, j++;
    }
    return count;
}

/* Blocks in their order, with their paths and innovations. */
static int describe_blocks(planning *p)
{
    fm_loop_plan *out = p->out;
    for (int32_t b = 0; b < p->blocks; b++) {
        fm_block *k = out->block + p->place[b];
        k->first = p->start[b];
        k->rows = p->start[b + 1] - p->start[b];
        const size_t length = find_path(p, b, 0);
        k->path = (int32_t)out->paths, k->length = (int32_t)length;
        k->y = out->y;
        out->paths += length;
        out->y += length * (size_t)(k->rows > FM_PLANE_ROWS ? k->rows : FM_PLANE_ROWS);
        if (out->y > FM_MOST_NUMBERS) return 0;
    }
    out->path = malloc((out->paths + 1) * sizeof *out->path);
    out->link = malloc((out->paths + 1) * sizeof *out->link);
    if (out->path == NULL || out->link == NULL) return 0;
    for (int32_t b = 0; b < p->blocks; b++) {
        (void)find_path(p, b, 1);
        p->paths += (size_t)out->block[p->place[b]].length;
    }
    return 1;
}

/* The columns of K's factor. */
static int describe_columns(planning *p)
{
    fm_loop_plan *out = p->out;
    size_t work = 0, runs = 0;
    for (int32_t b = 0; b < p->blocks; b++) out->meetings += (size_t)p->reach[2 * b + 1];
    out->meeting = malloc((out->meetings + 1) * sizeof *out->meeting);
    if (out->meeting == NULL) return 0;
    int32_t next = 0;
    for (int32_t b = 0; b < p->blocks; b++) p->mark[p->place[b]] = b;
    for (int32_t at = 0; at < p->blocks; at++) {
        fm_block *k = out->block + at;
        const int32_t count = p->reach[2 * p->mark[at] + 1];
        int32_t *reached = p->list + p->reach[2 * p->mark[at]];
        for (int32_t i = 0; i < count; i++) reached[i] = p->place[reached[i]];
        qsort(reached, (size_t)count, sizeof *reached, compare);
        k->below = next, k->belows = count;
        k->L = out->L;
        out->L += (size_t)(k->rows * k->rows);
        for (int32_t i = 0; i < count; i++) {
            fm_meeting *e = out->meeting + next++;
            const fm_block *other = out->block + reached[i];
            e->block = reached[i];
            e->L = out->L;
            out->L += (size_t)(k->rows * other->rows);
            e->run = (int32_t)runs;
            e->runs = find_runs(p, k, other, NULL);
            runs += (size_t)e->runs;
            work += (size_t)(k->length + other->length);
            if (out->L > FM_MOST_NUMBERS || runs > FM_MOST_NUMBERS / 3 || work > FM_MOST_WORK) return 0;
        }
    }
    out->runs = 3 * runs;
    return 1;
}

/* The common parts of the paths of blocks that meet. */
static int describe_runs(planning *p)
{
    fm_loop_plan *out = p->out;
    out->run = malloc((out->runs + 1) * sizeof *out->run);
    if (out->run == NULL) return 0;
    for (int32_t at = 0; at < p->blocks; at++)
        for (int32_t i = 0; i < out->block[at].belows; i++) {
            const fm_meeting *e = out->meeting + out->block[at].below + i;
            (void)find_runs(p, out->block + at, out->block + e->block, out->run + 3 * e->run);
        }
    return 1;
}

void fm_free_plan(fm_loop_plan *plan)
{
    free(plan->block);
    free(plan->meeting);
    free(plan->run);
    free(plan->path);
    free(plan->link);
    memset(plan, 0, sizeof *plan);
}

/* Plans the elimination; fm_free_plan frees the result. `placing`: while positions are assembled. 0: out of memory, or
 * too many loops. */
int fm_plan_loops(const fm_image *m, int placing, fm_loop_plan *out)
{
    const size_t rows = (size_t)m->n.rows, links = (size_t)m->n.links;
    planning p;
    memset(out, 0, sizeof *out);
    if (rows == 0) return 1;
    memset(&p, 0, sizeof p);
    p.m = m, p.out = out, p.looks = 1, p.placing = placing;
    p.capacity = 2 * rows;
    p.top = malloc((links + 1) * sizeof *p.top);
    p.clique = calloc(links + 1, sizeof *p.clique);
    p.walk = malloc((links + 1) * sizeof *p.walk);
    p.walked = calloc(links + 1, sizeof *p.walked);
    p.list = malloc(p.capacity * sizeof *p.list);
    p.place = malloc(rows * sizeof *p.place);
    p.reach = malloc(2 * rows * sizeof *p.reach);
    p.mark = calloc(rows, sizeof *p.mark);
    p.start = malloc((rows + 1) * sizeof *p.start);
    int fits = p.top != NULL && p.clique != NULL && p.list != NULL && p.place != NULL && p.reach != NULL &&
               p.mark != NULL && p.start != NULL && p.walk != NULL && p.walked != NULL;
    if (fits) {
        find_blocks(&p);
        find_tops(&p);
        out->blocks = p.blocks;
        out->block = calloc((size_t)p.blocks, sizeof *out->block);
        fits = out->block != NULL && join_cliques(&p) && order_blocks(&p) && describe_blocks(&p) &&
               describe_columns(&p) && describe_runs(&p);
    }
    free(p.top), free(p.clique), free(p.list), free(p.place), free(p.reach), free(p.mark), free(p.start);
    free(p.walk), free(p.walked);
    if (!fits) fm_free_plan(out);
    return fits;
}
