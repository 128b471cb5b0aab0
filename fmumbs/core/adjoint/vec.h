/* vec.h: vectors as values, for operations of many of them. */
#ifndef FM_VEC_H
#define FM_VEC_H

/* A vector as a value, which compilers keep in registers. */
typedef struct vec {
    double x, y, z;
} vec;

static inline vec at(const double *v)
{
    const vec out = {v[0], v[1], v[2]};
    return out;
}

static inline void put(double *to, vec v)
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
}

static inline vec sum(vec a, vec b)
{
    const vec out = {a.x + b.x, a.y + b.y, a.z + b.z};
    return out;
}

static inline vec scaled(double f, vec a)
{
    const vec out = {f * a.x, f * a.y, f * a.z};
    return out;
}

static inline vec less(vec a, vec b)
{
    const vec out = {a.x - b.x, a.y - b.y, a.z - b.z};
    return out;
}

static inline vec times(vec a, vec b)
{
    const vec out = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    return out;
}

static inline double along(vec a, vec b)
{
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

static inline void more(double *to, vec v)
{
    to[0] += v.x, to[1] += v.y, to[2] += v.z;
}

/* R v */
static inline vec out_of(const double *R, vec v)
{
    const vec out = {(R[0] * v.x + R[1] * v.y) + R[2] * v.z, (R[3] * v.x + R[4] * v.y) + R[5] * v.z,
                     (R[6] * v.x + R[7] * v.y) + R[8] * v.z};
    return out;
}

/* R' v */
static inline vec into(const double *R, vec v)
{
    const vec out = {(R[0] * v.x + R[3] * v.y) + R[6] * v.z, (R[1] * v.x + R[4] * v.y) + R[7] * v.z,
                     (R[2] * v.x + R[5] * v.y) + R[8] * v.z};
    return out;
}

/* I v: xx yy zz xy xz yz */
static inline vec weighed(const double *I, vec v)
{
    const vec out = {(I[0] * v.x + I[3] * v.y) + I[4] * v.z, (I[3] * v.x + I[1] * v.y) + I[5] * v.z,
                     (I[4] * v.x + I[5] * v.y) + I[2] * v.z};
    return out;
}

#endif
