// Entries of a kernel matrix from features, and their products with a vector: no entry of a product is stored.
//
// REAL            float or double
// PER             4 or 8: a thread computes PER x PER entries, a block of 256 threads 16 PER x 16 PER
// KC              features of a tile in shared memory
// JOIN(s, x, z)   the sum s after one more feature
// VALUE(s)        the entry of the sum s
//
// Expressions of IEEE operations alone, compiled with --fmad=false, give products with a bound on their errors:
// see multiplier.py.
#define SIDE (16 * PER)
#define PADDED (SIDE + 4)

__device__ __forceinline__ REAL power(REAL base, int degree)
{
    REAL result = 1;
    for (int k = 0; k < degree; k++) result *= base;
    return result;
}

// e^-t for t >= 0, with a relative error of at most 4 units of 2^-53: t = k ln 2 - r, |r| < 0.347, a Taylor sum of degree
// 13, an exact scaling. 0 above 700, where e^-t is below 1e-304. Every operation is one of IEEE 754; those of CUDA's exp
// have no proven bound.
__device__ __forceinline__ double exp_of_minus(double t)
{
    if (!(t <= 700.0)) return 0.0;
    const double k = rint(t * 1.4426950408889634);
    double r = fma(-k, 0.6931471805599453, t);
    r = -fma(-k, 2.3190468138462996e-17, r);
    double p = 1.6059043836821613e-10;
    p = fma(p, r, 2.08767569878681e-09);
    p = fma(p, r, 2.505210838544172e-08);
    p = fma(p, r, 2.755731922398589e-07);
    p = fma(p, r, 2.7557319223985893e-06);
    p = fma(p, r, 2.48015873015873e-05);
    p = fma(p, r, 0.0001984126984126984);
    p = fma(p, r, 0.001388888888888889);
    p = fma(p, r, 0.008333333333333333);
    p = fma(p, r, 0.041666666666666664);
    p = fma(p, r, 0.16666666666666666);
    p = fma(p, r, 0.5);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    return ldexp(p, -(int)k);
}

// Place of the e-th of a thread's points: four neighbours at a time, so that they are read from shared memory at once.
__device__ __forceinline__ int place(int t, int e) { return 64 * (e / 4) + 4 * t + e % 4; }

// Sums of the features of X's points from `column` on and of Z's from `row` on.
__device__ __forceinline__ void sums(const REAL* X, const REAL* Z, int n, int q, int d, int column, int row,
                                     REAL (*x)[PADDED], REAL (*z)[PADDED], REAL (*s)[PER])
{
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int e = 0; e < PER; e++)
        for (int g = 0; g < PER; g++) s[e][g] = 0;
    for (int c = 0; c < d; c += KC) {
        __syncthreads();
        for (int k = threadIdx.x; k < SIDE * KC; k += 256) {
            const int point = k / KC, t = k % KC;
            x[t][point] = column + point < n && c + t < d ? X[(size_t)(column + point) * d + c + t] : (REAL)0;
            z[t][point] = row + point < q && c + t < d ? Z[(size_t)(row + point) * d + c + t] : (REAL)0;
        }
        __syncthreads();
        #pragma unroll
        for (int t = 0; t < KC; t++) {
            REAL a[PER], b[PER];
            #pragma unroll
            for (int e = 0; e < PER; e++) { a[e] = x[t][place(tx, e)]; b[e] = z[t][place(ty, e)]; }
            #pragma unroll
            for (int e = 0; e < PER; e++)
                #pragma unroll
                for (int g = 0; g < PER; g++) s[e][g] = JOIN(s[e][g], a[e], b[g]);
        }
    }
}

// out[k, i] = sum over j of k's part of the rows of v_j VALUE(X_i, Z_j): (n, d), (q, d), (q,) -> (parts, n). The sum of a
// thread has PER terms in REAL; all others are in float64, in a fixed order.
extern "C" __global__ __launch_bounds__(256)
void product(const REAL* X, const REAL* Z, const double* v, double* out, int n, int q, int d, int per)
{
    __shared__ __align__(16) REAL x[KC][PADDED];
    __shared__ __align__(16) REAL z[KC][PADDED];
    __shared__ double room[SIDE], w[SIDE];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int column = blockIdx.x * SIDE, first = blockIdx.y * per, last = min(first + per, q);
    REAL s[PER][PER];
    double total[PER];
    for (int e = 0; e < PER; e++) total[e] = 0;
    for (int start = first; start < last; start += SIDE) {
        sums(X, Z, n, last, d, column, start, x, z, s);
        __syncthreads();
        for (int k = threadIdx.x; k < SIDE; k += 256) w[k] = start + k < last ? v[start + k] : 0.0;
        __syncthreads();
        #pragma unroll
        for (int e = 0; e < PER; e++) {
            REAL part = 0;
            #pragma unroll
            for (int g = 0; g < PER; g++) part = fma((REAL)w[place(ty, g)], (REAL)VALUE(s[e][g]), part);
            total[e] += part;
        }
    }
    for (int k = threadIdx.x; k < SIDE; k += 256) room[k] = 0;
    for (int k = 0; k < 16; k++) {
        __syncthreads();
        if (ty == k)
            for (int e = 0; e < PER; e++) room[place(tx, e)] += total[e];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < SIDE; k += 256)
        if (column + k < n) out[(size_t)blockIdx.y * n + column + k] = room[k];
}

// out[i, j] = VALUE(X_i, Z_j): (n, d), (q, d) -> (n, q).
extern "C" __global__ __launch_bounds__(256)
void block(const REAL* X, const REAL* Z, REAL* out, int n, int q, int d)
{
    __shared__ __align__(16) REAL x[KC][PADDED];
    __shared__ __align__(16) REAL z[KC][PADDED];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, column = blockIdx.y * SIDE, row = blockIdx.x * SIDE;
    REAL s[PER][PER];
    // Neighbours of a warp write neighbouring entries: tx counts the columns of out.
    sums(Z, X, q, n, d, column, row, x, z, s);
    for (int e = 0; e < PER; e++)
        for (int g = 0; g < PER; g++) {
            const int j = column + place(tx, e), i = row + place(ty, g);
            if (i < n && j < q) out[(size_t)i * q + j] = VALUE(s[e][g]);
        }
}
