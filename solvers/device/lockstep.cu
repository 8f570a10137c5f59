// Parts of a round of SMO for many machines on common points: K (m, m) is stored once, every machine has a slot in arrays
// of one row a machine, and a launch names the slots that take part. All sums have a fixed order, which depends on neither
// the slot nor the other machines.
//
// THREADS  threads of a block of `look`, a power of 2
#define NEVER 1e30
#define COLUMNS 32
#define SLICES 8

enum Operation { LEAST, MOST, SUM };

// The reduction of a number of every thread, in all threads.
__device__ __forceinline__ double reduced(double x, Operation operation, double* room)
{
    const int t = threadIdx.x;
    __syncthreads();
    room[t] = x;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            const double other = room[t + half];
            room[t] = operation == SUM ? room[t] + other : operation == LEAST ? fmin(room[t], other) : fmax(room[t], other);
        }
    }
    __syncthreads();
    return room[0];
}

// Slopes and estimated gap, as `_seen` of smo_problem.py, in one block a machine.  a, G, z, lower, upper, width, inside,
// rise, fall, free (slots, m).  ridge, costs (slots, 2, m).  out (machines, 6): least, most, level, gap, dual, and the
// number of points outside of the working set that violate optimality by more than a tenth of the largest violation.
extern "C" __global__ __launch_bounds__(THREADS)
void look(const int* slots, const double* a, const double* G, const double* z, const double* lower, const double* upper,
          const double* width, const double* ridge, const double* costs, const bool* inside, double* rise, double* fall,
          bool* free, double* out, int m)
{
    __shared__ double room[THREADS];
    const int t = threadIdx.x;
    const size_t row = slots[blockIdx.x] * (size_t)m;
    a += row; G += row; z += row; lower += row; upper += row; width += row; inside += row;
    rise += row; fall += row; free += row; ridge += 2 * row; costs += 2 * row;
    double least = NEVER, most = -NEVER, total = 0, count = 0;
    for (int k = t; k < m; k += THREADS) {
        const double above = width[k] + ridge[m + k] * a[k], below = ridge[k] * a[k] - width[k];
        const double up = a[k] >= upper[k] ? NEVER : G[k] + (a[k] >= 0 ? above : below);
        const double down = a[k] <= lower[k] ? -NEVER : G[k] + (a[k] > 0 ? above : below);
        rise[k] = up; fall[k] = down; free[k] = up == down;
        least = fmin(least, up); most = fmax(most, down);
        if (up == down) { total += up; count += 1; }
    }
    least = reduced(least, LEAST, room); most = reduced(most, MOST, room);
    total = reduced(total, SUM, room); count = reduced(count, SUM, room);
    double level = count > 0 ? total / count : 0.5 * (least + most);
    level = fmax(fmin(level, fmax(least, most)), fmin(least, most));
    double gap = 0, dual = 0, outside = 0;
    const double margin = 0.1 * (most - least);
    for (int k = t; k < m; k += THREADS) {
        dual += a[k] * (0.5 * (z[k] - G[k]));
        for (int side = 0; side < 2; side++) {
            const double sign = side ? 1 : -1, part = fmax(sign * a[k], 0.0), u = sign * (level - G[k]) - width[k];
            const double loss = fmax(u, 0.0), c = costs[side * m + k], r = ridge[side * m + k];
            dual -= part * (width[k] + 0.5 * r * part);
            if (c > 0) gap += (r > 0 ? 0.5 * loss * loss / r + 0.5 * r * part * part : c * loss) - part * u;
        }
        if (!inside[k] && (rise[k] < level - margin || fall[k] > level + margin)) outside += 1;
    }
    gap = reduced(gap, SUM, room); dual = reduced(dual, SUM, room); outside = reduced(outside, SUM, room);
    if (t == 0) {
        double* own = out + 6 * blockIdx.x;
        own[0] = least; own[1] = most; own[2] = level; own[3] = gap; own[4] = dual; own[5] = outside;
    }
}

// The blocks of K of the sets W (slots, q), in float32: (slots, q, q).  One block of threads a row.
extern "C" __global__
void gather(const double* K, const int* slots, const long long* W, float* blocks, int m, int q)
{
    const size_t slot = slots[blockIdx.y], row = slot * q + blockIdx.x;
    const double* source = K + W[row] * (size_t)m;
    for (int k = threadIdx.x; k < q; k += 256) blocks[row * q + k] = source[W[slot * q + k]];
}

// f[slot] += sum over k of v_k K[rows_k], for every machine: rows, v (machines, n), f (slots, m).  A block of 256 threads
// has 32 columns, and adds every eighth row in turn.
extern "C" __global__ __launch_bounds__(COLUMNS * SLICES)
void follow(const double* K, const int* slots, const long long* rows, const double* v, double* f, int m, int n)
{
    __shared__ double room[SLICES][COLUMNS];
    const int lane = threadIdx.x % COLUMNS, slice = threadIdx.x / COLUMNS, i = blockIdx.x * COLUMNS + lane;
    rows += (size_t)n * blockIdx.y; v += (size_t)n * blockIdx.y;
    double sum = 0;
    for (int k = slice; k < n; k += SLICES)
        if (v[k] != 0 && i < m) sum = fma(v[k], K[rows[k] * (size_t)m + i], sum);
    room[slice][lane] = sum;
    __syncthreads();
    if (slice == 0 && i < m) {
        for (int k = 1; k < SLICES; k++) sum += room[k][lane];
        f[slots[blockIdx.y] * (size_t)m + i] += sum;
    }
}
