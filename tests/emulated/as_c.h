// CUDA C as C++ on a processor: the threads of a block are coroutines, which change at barriers and warp functions.
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>
using std::exp2; using std::fma; using std::fmax; using std::fmin; using std::ldexp; using std::max; using std::min; using std::rint; using std::sqrt;
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define DYNAMIC extern
#define __ldg(p) (*(p))
#define __fdividef(x, y) ((x) / (y))
#define __ffs(x) __builtin_ffs(x)
struct Dim { int x, y; };
static Dim threadIdx, blockIdx;
double shared[1 << 16];

static ucontext_t scheduler;
static std::vector<ucontext_t> contexts;
static std::vector<char> ended;
static std::function<void()> body;
static int here;
static void yield_thread() { swapcontext(&contexts[here], &scheduler); }
static void begin_thread() { body(); ended[here] = 1; yield_thread(); }

struct Barrier { int waiting = 0, generation = 0; };
static void wait_at(Barrier& b, int size)
{
    const int mine = b.generation;
    if (++b.waiting == size) { b.waiting = 0; b.generation++; return; }
    while (b.generation == mine) yield_thread();
}
static Barrier of_block;
static int block_size;
static void __syncthreads() { wait_at(of_block, block_size); }

struct Warp { Barrier barrier; unsigned slots[2][32]; };
static std::vector<Warp> warps_here;
static const unsigned* gathered(unsigned value)
{
    Warp& w = warps_here[threadIdx.x / 32];
    const int turn = w.barrier.generation & 1;
    w.slots[turn][threadIdx.x % 32] = value;
    wait_at(w.barrier, 32);
    return w.slots[turn];
}
static unsigned __reduce_min_sync(unsigned, unsigned value)
{
    const unsigned* all = gathered(value);
    unsigned least = all[0];
    for (int k = 1; k < 32; k++) least = min(least, all[k]);
    return least;
}
static unsigned __reduce_max_sync(unsigned, unsigned value)
{
    const unsigned* all = gathered(value);
    unsigned most = all[0];
    for (int k = 1; k < 32; k++) most = max(most, all[k]);
    return most;
}
static unsigned __ballot_sync(unsigned, bool value)
{
    const unsigned* all = gathered(value);
    unsigned bits = 0;
    for (int k = 0; k < 32; k++) bits |= (all[k] ? 1u : 0u) << k;
    return bits;
}
static unsigned __float_as_uint(float x) { unsigned u; memcpy(&u, &x, 4); return u; }
static float __uint_as_float(unsigned u) { float x; memcpy(&x, &u, 4); return x; }

// Run a kernel on a grid, block after block.
static void launch(int across, int down, int threads, std::function<void()> kernel)
{
    const size_t stack = 1 << 16;
    std::vector<char> stacks(stack * threads);
    block_size = threads;
    body = kernel;
    for (blockIdx.y = 0; blockIdx.y < down; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < across; blockIdx.x++) {
            contexts.assign(threads, ucontext_t());
            ended.assign(threads, 0);
            warps_here.assign((threads + 31) / 32, Warp());
            of_block = Barrier();
            for (int t = 0; t < threads; t++) {
                getcontext(&contexts[t]);
                contexts[t].uc_stack.ss_sp = &stacks[stack * t];
                contexts[t].uc_stack.ss_size = stack;
                contexts[t].uc_link = nullptr;
                makecontext(&contexts[t], begin_thread, 0);
            }
            for (int left = threads; left > 0;)
                for (here = 0; here < threads; here++)
                    if (!ended[here]) {
                        threadIdx.x = here;
                        swapcontext(&scheduler, &contexts[here]);
                        left -= ended[here];
                    }
        }
}
