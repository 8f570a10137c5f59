// Pair steps of SMO for many machines, each in one block of THREADS threads, which own EACH points of its working set.
//
// REAL  precision of the gradient, float or double; K is float32, multipliers are float64
//
// Two barriers a step: after the point of least slope to rise is known in every warp, and after its partner of largest
// gain is. All ties go to the lowest lane of the lowest warp, so that equal runs take equal steps. Work that all threads
// do for the pair costs THREADS times, and is kept short.
#define NEVER 1e30
#ifndef DYNAMIC
#define DYNAMIC extern __shared__
#endif
typedef unsigned int word;

// A word that has the order of the number.
__device__ __forceinline__ word ordered(float x)
{
    word u = __float_as_uint(x);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}
// Slopes of the separable part where a grows and where it shrinks, as slope_up and slope_down of working_set.py.
__device__ __forceinline__ double rising(double a, double upper, double width, double below, double above)
{
    return a >= upper ? NEVER : a >= 0 ? width + above * a : below * a - width;
}
__device__ __forceinline__ double falling(double a, double lower, double width, double below, double above)
{
    return a <= lower ? -NEVER : a > 0 ? width + above * a : below * a - width;
}

// For every machine: K (q, q) symmetric, that of its slot.  G, a (q,) in place.  lower, upper, width (q,).  ridge (2, q).
// eps, steps: where to stop.  out: steps taken, last violation.
extern "C" __global__ __launch_bounds__(THREADS, 1)
void pair_steps(const float* __restrict__ K, const int* slots, REAL* G, double* a, const double* __restrict__ lower,
                const double* __restrict__ upper, const double* __restrict__ width, const double* __restrict__ ridge,
                int q, float floor, const float* all_eps, const int* all_steps, double* out)
{
    const size_t machine = blockIdx.x;
    K += slots[machine] * (size_t)q * q;
    G += machine * q; a += machine * q; lower += machine * q; upper += machine * q; width += machine * q;
    ridge += 2 * machine * q; out += 2 * machine;
    const float eps = all_eps[machine];
    const int steps = all_steps[machine];
    // sa (q,), sG (q,) and the diagonal of K (q,): 20 bytes a point at most.
    DYNAMIC double shared[];
    double* sa = shared;
    REAL* sG = (REAL*)(sa + q);
    float* sdiagonal = (float*)(sG + q);
    const double *below = ridge, *above = ridge + q;
    __shared__ word rise_key[32], gain_key[32], drop_key[32];
    __shared__ int rise_at[32], gain_at[32];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = THREADS / 32;
    const word all = 0xffffffffu;
    REAL g[EACH];
    float gf[EACH], up[EACH], down[EACH], curve[EACH], row[EACH];
    for (int e = 0; e < EACH; e++) {
        const int k = e * THREADS + t;
        g[e] = 0; up[e] = NEVER; down[e] = -NEVER; curve[e] = 1; row[e] = 0;
        if (k < q) {
            g[e] = G[k]; sG[k] = g[e]; sa[k] = a[k]; sdiagonal[k] = K[(size_t)k * q + k];
            up[e] = rising(a[k], upper[k], width[k], below[k], above[k]);
            down[e] = falling(a[k], lower[k], width[k], below[k], above[k]);
            curve[e] = sdiagonal[k] + (a[k] > 0 ? above[k] : below[k]);
        }
        gf[e] = g[e];
    }
    int done = 0, last_i = -1, last_j = -1;
    float worst = NEVER;
    // Multipliers of the pair before: they wait here, as sa is read until the next barrier.
    double new_i = 0, new_j = 0;
    __syncthreads();
    for (; done < steps; done++) {
        word best = all;
        int at = 0;
        #pragma unroll
        for (int e = 0; e < EACH; e++) {
            const word key = ordered(gf[e] + up[e]);
            if (key < best) { best = key; at = e * THREADS + t; }
        }
        word least = __reduce_min_sync(all, best), who = __ballot_sync(all, best == least);
        if (lane == __ffs(who) - 1) { rise_key[warp] = least; rise_at[warp] = at; }
        __syncthreads();
        best = lane < warps ? rise_key[lane] : all;
        least = __reduce_min_sync(all, best);
        who = __ballot_sync(all, best == least);
        const int i = rise_at[__ffs(who) - 1];
        // All gradients are infinite or NaN: the place of a thread without a point is the least.
        if (i >= q) break;
        const float slope = __uint_as_float((least >> 31) ? least ^ 0x80000000u : ~least);
        if (t == 0 && last_i >= 0) { sa[last_i] = new_i; sa[last_j] = new_j; }
        const float* Ki = K + (size_t)i * q;
        #pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int k = e * THREADS + t;
            if (k < q) { row[e] = __ldg(Ki + k); sG[k] = g[e]; }
        }
        // The curvature of i where it grows. sa[i] may be the pair's before: new_i and new_j are known to all threads.
        const double own_i = i == last_i ? new_i : i == last_j ? new_j : sa[i];
        const double width_i = __ldg(width + i), below_i = __ldg(below + i), above_i = __ldg(above + i);
        const float here = sdiagonal[i] + (own_i >= 0 ? above_i : below_i);
        word gain = 0, drop = 0;
        at = 0;
        #pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int k = e * THREADS + t;
            const float fall = k == i ? 0.0f : fmaxf(gf[e] + down[e] - slope, 0.0f);
            const word key = __float_as_uint(__fdividef(fall * fall, fmaxf(here + curve[e] - 2 * row[e], floor)));
            if (key > gain) { gain = key; at = k; }
            drop = max(drop, __float_as_uint(fall));
        }
        word most = __reduce_max_sync(all, gain);
        who = __ballot_sync(all, gain == most);
        word deepest = __reduce_max_sync(all, drop);
        if (lane == __ffs(who) - 1) { gain_key[warp] = most; gain_at[warp] = at; drop_key[warp] = deepest; }
        __syncthreads();
        gain = lane < warps ? gain_key[lane] : 0;
        most = __reduce_max_sync(all, gain);
        who = __ballot_sync(all, gain == most);
        const int j = gain_at[__ffs(who) - 1];
        worst = __uint_as_float(__reduce_max_sync(all, lane < warps ? drop_key[lane] : 0));
        if (!(worst > eps) || most == 0 || j >= q) break;
        const float* Kj = K + (size_t)j * q;
        float other[EACH];
        #pragma unroll
        for (int e = 0; e < EACH; e++) { const int k = e * THREADS + t; other[e] = k < q ? __ldg(Kj + k) : 0.0f; }
        const double ai = sa[i], aj = sa[j];
        const double top = ai >= 0 ? __ldg(upper + i) : 0, bottom = aj <= 0 ? __ldg(lower + j) : 0;
        const double side_i = ai >= 0 ? above_i : below_i, side_j = __ldg((aj > 0 ? above : below) + j);
        const REAL rise = side_i * ai + (ai >= 0 ? width_i : -width_i);
        const REAL fall = side_j * aj + (aj > 0 ? __ldg(width + j) : -__ldg(width + j));
        const REAL force = (sG[j] + fall) - (sG[i] + rise);
        const float curvature = here + sdiagonal[j] + (float)side_j - 2 * __ldg(Ki + j);
        const double delta = fmin((double)force / fmaxf(curvature, floor), fmin(top - ai, aj - bottom));
        // The choice is made in float32: in float64 the pair may violate nothing.
        if (!(delta > 0)) break;
        const REAL step = delta;
        #pragma unroll
        for (int e = 0; e < EACH; e++) { g[e] += step * (REAL)(row[e] - other[e]); gf[e] = g[e]; }
        new_i = delta == top - ai ? top : ai + delta;
        new_j = delta == aj - bottom ? bottom : aj - delta;
        last_i = i; last_j = j;
        #pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int k = e * THREADS + t;
            if (k == i || k == j) {
                const double own = k == i ? new_i : new_j;
                up[e] = rising(own, upper[k], width[k], below[k], above[k]);
                down[e] = falling(own, lower[k], width[k], below[k], above[k]);
                curve[e] = sdiagonal[k] + (own > 0 ? above[k] : below[k]);
            }
        }
    }
    __syncthreads();
    if (t == 0 && last_i >= 0) { sa[last_i] = new_i; sa[last_j] = new_j; }
    __syncthreads();
    for (int e = 0; e < EACH; e++) {
        const int k = e * THREADS + t;
        if (k < q) { G[k] = g[e]; a[k] = sa[k]; }
    }
    if (t == 0) { out[0] = done; out[1] = worst; }
}
