// Checks of kernels: what they compute, in every order, and how what is wrong with them is found.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "check.h"

namespace check {
namespace {

// What most cases launch. The cases say nothing of its line numbers, but for those with a comment.
const char* const source = R"cuda(
extern "C" __global__ void no_work() {}

// extern "C" __global__ void commented_out(

extern "C" __global__ void __launch_bounds__(256) sum(const float* __restrict__ values, float* total, int count) {
    __shared__ float partial[256];
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += values[i];
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, partial[0]);
}

// Reads what a neighbour writes, without a barrier in between.
extern "C" __global__ void shift_without_barrier(float* values, int in_ascending_order) {
    __shared__ float copy[64];
    copy[threadIdx.x] = values[threadIdx.x];
    const int last = blockDim.x - 1;
    const int from = in_ascending_order ? max((int)threadIdx.x - 1, 0) : min((int)threadIdx.x + 1, last);
    values[threadIdx.x] = copy[from];
}

template <typename T>
__device__ T first_of_shared(T value, bool write) {
    __shared__ T shared[2];
    if (write) shared[0] = value;
    return shared[0];
}

extern "C" __global__ void unwritten_shared(float* out) {
    __shared__ float plain[4];
    out[2 * blockIdx.x] = plain[1] + first_of_shared(0.0f, false);
    plain[1] = 1;
    out[2 * blockIdx.x + 1] = first_of_shared(1.0f, true);
}

extern "C" __global__ void shuffles(int* out) {
    const int lane = threadIdx.x % 32;
    int* mine = out + 16 * threadIdx.x;
    mine[0] = __shfl_sync(0xFFFFFFFF, lane * 10, 5);
    mine[1] = __shfl_sync(0xFFFFFFFF, lane, 9, 8);
    mine[2] = __shfl_up_sync(0xFFFFFFFF, lane, 3);
    mine[3] = __shfl_up_sync(0xFFFFFFFF, lane, 1, 4);
    mine[4] = __shfl_down_sync(0xFFFFFFFF, lane, 3);
    mine[5] = __shfl_down_sync(0xFFFFFFFF, lane, 1, 4);
    mine[6] = __shfl_xor_sync(0xFFFFFFFF, lane, 16);
    mine[7] = __shfl_xor_sync(0xFFFFFFFF, lane, 4, 4);
    mine[8] = (int)__shfl_xor_sync(0xFFFFFFFF, lane + 0.5, 1) + (int)__shfl_xor_sync(0xFFFFFFFF, (float)lane, 1);
    mine[9] = (int)__ballot_sync(0xFFFFFFFF, lane % 3 == 0);
    mine[10] = __any_sync(0xFFFFFFFF, lane == 31) * 2 + __any_sync(0xFFFFFFFF, lane == 32);
    mine[11] = __all_sync(0xFFFFFFFF, lane < 32) * 2 + __all_sync(0xFFFFFFFF, lane < 31);
    mine[12] = -1;
    if (lane >= 24) mine[12] = __shfl_xor_sync(0xFF000000, lane, 1);
    else if (lane < 4) mine[12] = __shfl_xor_sync(0xF, lane, 2);
    __syncwarp();
    if (lane == 7) return;
    mine[13] = (int)__ballot_sync(0xFFFFFFFF, 1);
    mine[14] = (int)__shfl_sync(0xFFFFFFFF, 4000000000u, 0) == (int)4000000000u;
}

// Lanes meet in groups that overlap in time, and one exits while others wait for it.
extern "C" __global__ void groups(int* out) {
    const unsigned lane = threadIdx.x;
    int sum = 0;
    if (lane == 0) sum = __shfl_sync(0x3, 100, 1);
    if (lane == 1) {
        sum = __shfl_sync(0x6, 200, 2);
        sum += __shfl_sync(0x3, 201, 0);
    }
    if (lane == 2) sum = __shfl_sync(0x6, 300, 1);
    if (lane == 3) return;
    if (lane == 4) sum = (int)__ballot_sync(0x18, 1);
    if (lane == 5) sum = (int)__ballot_sync(0x60, 1);
    if (lane == 6) {
        sum = (int)__ballot_sync(0xC0, 1);
        sum += (int)__ballot_sync(0x60, 1);
    }
    if (lane == 7) return;
    out[lane] = sum;
}

extern "C" __global__ void grid_indices(int* out) {
    const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int threads = blockDim.x * blockDim.y * blockDim.z;
    atomicAdd(&out[block * threads + thread], 1 + thread % warpSize);
}

__device__ unsigned counter = 0;

extern "C" __global__ void atomics(unsigned* numbers, int* extremes, double* sum, float* last) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&numbers[0], i);
    atomicMax(&numbers[1], i);
    atomicMin(&extremes[0], -(int)i);
    atomicMax(&extremes[1], (int)i - 5);
    atomicAdd(sum, 0.5);
    while (atomicCAS(&numbers[2], i, i + 1) == i) {}
    __threadfence();
    if (atomicAdd(&counter, 1) == gridDim.x * blockDim.x - 1) *last = atomicExch(&last[1], 3.0f);
}

// One block leaves a number to the next: right only if blocks run in ascending order.
extern "C" __global__ void blocks_in_order(int* out) {
    out[blockIdx.x + 1] = out[blockIdx.x] + 1;
}

struct Scale {
    float by;
    int times;
};

__constant__ float table[4] = {1, 2, 4, 8};

#define KERNEL(name, type)                                                              \
    extern "C" __global__ void name(const type* in, type* out, const Scale scale, int n) { \
        const unsigned i = threadIdx.x;                                                 \
        if (i >= n) return;                                                             \
        out[i] = in[i] * (type)(scale.by * scale.times * table[i % 4]);                 \
    }
KERNEL(scale_f32, float)
KERNEL(scale_f64, double)

__device__ __forceinline__ float4 twice(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }

extern "C" __global__ void vectors(const float4* in, float4* out) { out[threadIdx.x] = twice(__ldg(&in[threadIdx.x])); }

extern "C" __global__ void misaligned(float* in) {
    *reinterpret_cast<float4*>(in + 1) = make_float4(1, 2, 3, 4);
}

extern "C" __global__ void arithmetic(float* out) {
    #pragma unroll
    for (int i = 0; i < 2; ++i) out[i] = __uint_as_float(__float_as_uint(2.5f)) + __int_as_float(__float_as_int(0.5f));
    out[2] = rsqrtf(4.0f) + __frsqrt_rn(16.0f);
    out[3] = __fmaf_rn(2, 3, 4) + fmaf(1, 2, 3);
    out[4] = __expf(0.0f) + __logf(1.0f) + __fdividef(6, 3);
    out[5] = max(1, 2) + min(3u, 4u) + max(1.5f, NAN) + (float)min(2.0, 1.0);
    out[6] = -INFINITY;
    out[7] = tanhf(0.0f) + sqrtf(9.0f) + fabsf(-1.0f) + erff(0.0f) + powf(2.0f, 3.0f);
    out[8] = __popc(255u) + __clz(1) + __ffs(8) + (__umulhi(0x80000000u, 4u) == 2);
    const size_t wide = sizeof(uint64_t) + sizeof(uint16_t);
    out[9] = wide + make_uint2(1, 2).y + make_int4(1, 2, 3, 4).w;
}

extern "C" __global__ void write_at(char* out, long long at, int value) { out[at] = value; }
extern "C" __global__ void read_at(const float* in, float* out, long long at) { *out = in[at]; }

extern "C" __global__ void shared_index(float* out, int at) {
    __shared__ float values[32][8];
    values[0][at] = 1;
    __syncthreads();
    *out = values[0][0];
}

extern "C" __global__ void divide(int* values) { values[0] = values[0] / values[1]; }

__device__ __noinline__ int dig(volatile int* values, int depth) {
    volatile int room[64];
    room[0] = depth;
    return depth == 0 ? values[0] : dig(values, depth - 1) + room[0];
}
extern "C" __global__ void deep(int* values, int depth) { values[1] = dig(values, depth); }

extern "C" __global__ void many_barriers(float* values) {
    __shared__ float s[256];
    float mine = values[blockIdx.x * blockDim.x + threadIdx.x];
    for (int round = 0; round < 5; ++round) {
        s[threadIdx.x] = mine;
        __syncthreads();
        mine += s[(threadIdx.x + 1) % blockDim.x];
        __syncthreads();
    }
    values[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

extern "C" __global__ void add_one(float* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += 1;
}

#line 100
extern "C" __global__ void different_barriers(int kind) {
    if (threadIdx.x < 16) {
        __syncthreads();  // line 102
    } else if (kind == 0) {
        __syncthreads();  // line 104
    } else if (kind == 1) {
        __ballot_sync(0xFFFFFFFF, 1);  // line 106
    }
}

#line 110
extern "C" __global__ void bad_shuffle(int kind, int* out) {
    const int lane = threadIdx.x;
    if (kind == 0 && lane == 3) return;
    if (kind == 0) out[lane] = __shfl_xor_sync(0xFFFFFFFF, lane, 1);  // line 113
    if (kind == 1 && lane < 4) out[lane] = __shfl_down_sync(0xF, lane, 2);  // line 114
    if (kind == 2) out[lane] = __shfl_sync(0x1, lane, 0);  // line 115
    if (kind == 3) out[lane] = lane == 0 ? __any_sync(0xFFFFFFFF, 1) : __all_sync(0xFFFFFFFF, 1);  // line 116
}
)cuda";

// ---- What is right in every order ----

void reduction() {
    open_gpu();
    std::vector<float> values(10000);
    float expected = 0;
    for (size_t i = 0; i < values.size(); ++i) expected += values[i] = static_cast<float>(i % 7);
    const Address in = upload(values), total = upload<float>({0});
    for (const unsigned threads : {1u, 32u, 64u, 256u}) {
        EXPECT(cuda().set(total, 0, 4) == 0);
        launch("sum", 7, threads, in, total, static_cast<int>(values.size()));
        EXPECT(download<float>(total, 1)[0] == expected);
    }
}

void shuffles() {
    open_gpu();
    const Address out = allocate(64 * 16 * 4);
    launch("shuffles", 1, 64, out);
    const std::vector<int> found = download<int>(out, 64 * 16);
    for (int thread = 0; thread < 64; ++thread) {
        const int lane = thread % 32;
        const int* mine = &found[static_cast<size_t>(16 * thread)];
        const int up = lane < 3 ? lane : lane - 3, up4 = lane % 4 == 0 ? lane : lane - 1;
        const int down = lane > 28 ? lane : lane + 3, down4 = lane % 4 == 3 ? lane : lane + 1;
        const int xor4 = lane >= 4 && (lane & 4) != 0 ? lane ^ 4 : lane;
        EXPECT(mine[0] == 50 && mine[1] == lane / 8 * 8 + 1);
        EXPECT(mine[2] == up && mine[3] == up4 && mine[4] == down && mine[5] == down4);
        EXPECT(mine[6] == (lane ^ 16) && mine[7] == xor4 && mine[8] == 2 * (lane ^ 1));
        EXPECT(mine[9] == 0x49249249 && mine[10] == 2 && mine[11] == 2);
        EXPECT(mine[12] == (lane >= 24 ? lane ^ 1 : lane < 4 ? lane ^ 2 : -1));
        if (lane != 7) EXPECT(static_cast<unsigned>(mine[13]) == 0xFFFFFF7F && mine[14] == 1);
    }
}

void groups() {
    open_gpu();
    const Address out = allocate(8 * 4);
    launch("groups", 1, 8, out);
    EXPECT(download<int>(out, 8) == std::vector<int>({201, 300 + 100, 200, -1, 0x10, 0x60, 0x40 + 0x60, -1}));
}

void grid_indices() {
    open_gpu();
    constexpr size_t count = 3 * 4 * 2 * 5 * 7 * 3;
    const Address out = allocate(count * 4);
    EXPECT(cuda().set(out, 0, count * 4) == 0);
    Address argument = out;
    void* parameters[] = {&argument};
    EXPECT(cuda().launch(kernel("grid_indices"), 3, 4, 2, 5, 7, 3, 0, nullptr, parameters, nullptr) == 0);
    const std::vector<int> found = download<int>(out, count);
    for (size_t i = 0; i < count; ++i) EXPECT(found[i] == 1 + static_cast<int>(i % (5 * 7 * 3) % 32));
}

void atomics() {
    open_gpu();
    const Address numbers = upload<unsigned>({0, 0, 0}), extremes = upload<int>({0, 0});
    const Address sum = upload<double>({0}), last = upload<float>({0, 7});
    launch("atomics", 5, 40, numbers, extremes, sum, last);
    const auto found = download<unsigned>(numbers, 3);
    EXPECT(found[0] == 199 * 200 / 2 && found[1] == 199 && found[2] >= 1);
    EXPECT(download<int>(extremes, 2) == std::vector<int>({-199, 194}));
    EXPECT(download<double>(sum, 1)[0] == 100 && download<float>(last, 2) == std::vector<float>({7, 3}));
}

void many_barriers() {
    open_gpu();
    const Address values = upload(std::vector<float>(512, 1));
    launch("many_barriers", 2, 256, values);
    EXPECT(download<float>(values, 512) == std::vector<float>(512, 32));
}

// ---- What may be written in a source ----

void sources() {
    open_gpu();
    struct { float by; int times; } scale = {0.5f, 4};
    const Address in = upload<float>({1, 2, 3, 4, 5}), out = allocate(20);
    launch("scale_f32", 1, 8, in, out, scale, 5);
    EXPECT(download<float>(out, 5) == std::vector<float>({2, 8, 24, 64, 10}));
    const Address in64 = upload<double>({1, 2}), out64 = allocate(16);
    launch("scale_f64", 1, 2, in64, out64, scale, 2);
    EXPECT(download<double>(out64, 2) == std::vector<double>({2, 8}));
    const Address from = upload<float>({1, 2, 3, 4, 5, 6, 7, 8}), to = allocate(32);
    launch("vectors", 1, 2, from, to);
    EXPECT(download<float>(to, 8) == std::vector<float>({2, 4, 6, 8, 10, 12, 14, 16}));
    const Address results = allocate(40);
    launch("arithmetic", 1, 1, results);
    EXPECT(download<float>(results, 10) == std::vector<float>({3, 3, 0.75, 15, 3, 7.5, -INFINITY, 12, 44, 16}));
}

void compiled_once() {
    std::string first, second, log;
    const std::string text = "extern \"C\" __global__ void once(int) {}";
    const auto start = std::chrono::steady_clock::now();
    EXPECT(compile(text, first, log) == 0);
    const auto middle = std::chrono::steady_clock::now();
    EXPECT(compile(text, second, log) == 0 && first == second);
    EXPECT(std::chrono::steady_clock::now() - middle < (middle - start) / 4);
    EXPECT(compile(text + " ", second, log) == 0 && first != second);
}

// ---- What is wrong in some order ----

void unwritten_shared() {
    open_gpu();
    const Address out = allocate(6 * 4);
    launch("unwritten_shared", 3, 1, out);
    const std::vector<float> found = download<float>(out, 6);
    for (size_t block = 0; block < 3; ++block) EXPECT(std::isnan(found[2 * block]) && found[2 * block + 1] == 1);
}

void unwritten_memory() {
    open_gpu();
    const Address in = allocate(4), out = upload<float>({0});
    launch("read_at", 1, 1, in, out, 0ll);
    EXPECT(std::isnan(download<float>(out, 1)[0]));
}

// Whether a copy of 64 numbers, each from its neighbour, is right though a barrier is missing.
bool is_right_without_barrier(bool in_ascending_order) {
    std::vector<float> values, expected;
    for (int i = 0; i < 64; ++i) {
        values.push_back(static_cast<float>(i));
        expected.push_back(static_cast<float>(in_ascending_order ? std::max(i - 1, 0) : std::min(i + 1, 63)));
    }
    const Address device = upload(values);
    launch("shift_without_barrier", 1, 64, device, in_ascending_order ? 1 : 0);
    return download<float>(device, 64) == expected;
}

void missing_barrier_forward() {
    open_gpu();
    EXPECT(is_right_without_barrier(true) && !is_right_without_barrier(false));
}

void missing_barrier_reverse() {
    open_gpu();
    EXPECT(!is_right_without_barrier(true) && is_right_without_barrier(false));
}

void missing_barrier_random() {
    open_gpu();
    EXPECT(!is_right_without_barrier(true) && !is_right_without_barrier(false));
}

bool blocks_ran_in_order() {
    const Address out = upload<int>({0, 0, 0, 0, 0, 0, 0, 0, 0});
    launch("blocks_in_order", 8, 1, out);
    return download<int>(out, 9)[8] == 8;
}

void blocks_forward() {
    open_gpu();
    EXPECT(blocks_ran_in_order());
}

void blocks_not_forward() {
    open_gpu();
    EXPECT(!blocks_ran_in_order());
}

// ---- What ends the process ----

void write_behind() {
    open_gpu();
    const Address out = allocate(64);
    launch("write_at", 1, 1, out, 64ll, 1);
}

void write_before() {
    open_gpu();
    const Address out = allocate(4096);
    launch("write_at", 1, 1, out, -1ll, 1);
}

void write_into_slack() {
    open_gpu();
    const Address out = allocate(61);
    launch("write_at", 1, 1, out, 62ll, 1);
    cuda().free(out);
}

void write_into_front() {
    open_gpu();
    const Address out = allocate(64);
    launch("write_at", 1, 1, out, -3ll, 1);
    cuda().set(out, 0, 64);
}

void read_behind() {
    open_gpu();
    const Address in = allocate(64), out = allocate(4);
    launch("read_at", 1, 1, in, out, 16ll);
}

void use_after_free() {
    open_gpu();
    const Address first = allocate(4096), second = allocate(64), out = allocate(4);
    EXPECT(cuda().free(first) == 0);
    for (int round = 0; round < 3; ++round) allocate(4096);
    launch("read_at", 1, 1, second, out, (static_cast<long long>(first) - static_cast<long long>(second)) / 4);
}

void host_pointer() {
    open_gpu();
    float host[4] = {};
    const Address device = allocate(16);
    Address bad = reinterpret_cast<Address>(host), at = 0;
    Address good = device;
    EXPECT(launch_status(kernel("read_at"), 1, 1, {&bad, &good, &at}) == 700);
    EXPECT(launch_status(kernel("read_at"), 1, 1, {&good, &good, &at}) == 0);
    EXPECT(cuda().free(device) == 0);
    EXPECT(launch_status(kernel("read_at"), 1, 1, {&good, &good, &at}) == 700);
    EXPECT(cuda().launch(kernel("read_at"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == 1);
}

void shared_index() {
    open_gpu();
    const Address out = allocate(4);
    launch("shared_index", 1, 1, out, 7);
    launch("shared_index", 1, 1, out, 8);
}

void misaligned() {
    open_gpu();
    launch("misaligned", 1, 1, allocate(64));
}

void divide() {
    open_gpu();
    launch("divide", 1, 1, upload<int>({1, 0}));
}

void deep() {
    open_gpu();
    const Address values = upload<int>({1, 0});
    launch("deep", 1, 1, values, 100);
    EXPECT(download<int>(values, 2)[1] == 5051);
    launch("deep", 1, 1, values, 100000);
}

template <int kind>
void different_barriers() {
    open_gpu();
    launch("different_barriers", 1, 33, kind);
}

template <int kind>
void bad_shuffle() {
    open_gpu();
    launch("bad_shuffle", 1, 8, kind, allocate(32 * 4));
}

void launch_sized(unsigned grid, unsigned grid_y, unsigned block, unsigned block_z, unsigned shared) {
    open_gpu();
    cuda().launch(kernel("no_work"), grid, grid_y, 1, block, 1, block_z, shared, nullptr, nullptr, nullptr);
}

// ---- Threads of the CPU ----

void several_cpu_threads() {
    open_gpu();
    Handle context = nullptr;
    EXPECT(cuda().get_current(&context) == 0);
    kernel("no_work");
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([=] {
            EXPECT(cuda().set_current(context) == 0);
            for (int round = 0; round < 20; ++round) {
                const float start = static_cast<float>(100 * number + round);
                const Address values = upload(std::vector<float>(512, start));
                launch("many_barriers", 2, 256, values);
                EXPECT(download<float>(values, 512) == std::vector<float>(512, 32 * start));
                EXPECT(cuda().free(values) == 0);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

// ---- Speeds, which are shown but not checked ----

double microseconds_each(int rounds, const std::function<void()>& work) {
    work();
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; ++round) work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / rounds;
}

void speeds() {
    open_gpu();
    constexpr int count = 1 << 20;
    for (const size_t bytes : {size_t{64}, size_t{64} << 10, size_t{1} << 20}) {
        std::printf("       alloc and free of %zu bytes: %.1f us\n", bytes,
                    microseconds_each(2000, [=] { cuda().free(allocate(bytes)); }));
    }
    const Address values = upload(std::vector<float>(count, 1));
    const Handle no_work = kernel("no_work"), barriers = kernel("many_barriers"), add = kernel("add_one");
    Address argument = values;
    int n = count;
    std::printf("       launch of 1 thread: %.2f us\n",
                microseconds_each(10000, [&] { launch_status(no_work, 1, 1, {}); }));
    std::printf("       block of 256 threads, 10 barriers: %.1f us\n",
                microseconds_each(20, [&] { launch_status(barriers, 100, 256, {&argument}); }) / 100);
    std::printf("       a thread without barriers: %.2f ns\n",
                microseconds_each(5, [&] { launch_status(add, count / 256, 256, {&argument, &n}); }) * 1000 / count);
}

// A case that ends its process, with what it says.
#define DIES(run, ...) {#run, run, {}, {__VA_ARGS__}}
#define DIES_LAUNCHING(name, words, ...) {name, [] { launch_sized(__VA_ARGS__); }, {}, {"kernel `no_work`", words}}
// A case in all orders.
#define IN_ALL_ORDERS(run)                                        \
    {#run " forward", run, {"ABLATE_STANDIN_ORDER=forward"}},     \
    {#run " reverse", run, {"ABLATE_STANDIN_ORDER=reverse"}},     \
    {#run " random", run, {"ABLATE_STANDIN_ORDER=random:17"}}

const Cases registered({
    IN_ALL_ORDERS(reduction),
    IN_ALL_ORDERS(shuffles),
    IN_ALL_ORDERS(groups),
    IN_ALL_ORDERS(grid_indices),
    IN_ALL_ORDERS(atomics),
    IN_ALL_ORDERS(many_barriers),
    {"sources", sources},
    {"compiled_once", compiled_once},
    {"unwritten_shared", unwritten_shared},
    {"unwritten_memory", unwritten_memory},
    {"missing_barrier_forward", missing_barrier_forward},
    {"missing_barrier_reverse", missing_barrier_reverse, {"ABLATE_STANDIN_ORDER=reverse"}},
    {"missing_barrier_random", missing_barrier_random, {"ABLATE_STANDIN_ORDER=random:1"}},
    {"blocks_forward", blocks_forward},
    {"blocks_reverse", blocks_not_forward, {"ABLATE_STANDIN_ORDER=reverse"}},
    {"blocks_random", blocks_not_forward, {"ABLATE_STANDIN_ORDER=random:1"}},
    DIES(write_behind, "kernel `write_at`, block (0,0,0), thread (0,0,0)", "64 bytes from the start"),
    DIES(write_before, "-1 bytes from the start of an allocation of 4096 bytes"),
    DIES(write_into_slack, "something wrote 62 bytes from the start of an allocation of 61 bytes"),
    DIES(write_into_front, "something wrote -3 bytes from the start of an allocation of 64 bytes"),
    DIES(read_behind, "kernel `read_at`", "64 bytes from the start of an allocation of 64 bytes"),
    DIES(use_after_free, "kernel `read_at`", "in memory that was freed"),
    {"host_pointer", host_pointer},
    DIES(shared_index, "kernel `shared_index`", "an index is outside of its array"),
    DIES(misaligned, "kernel `misaligned`", "not aligned"),
    DIES(divide, "kernel `divide`", "a division of integers by zero"),
    DIES(deep, "kernel `deep`"),
    DIES(different_barriers<0>, "kernel `different_barriers`, block (0,0,0): threads wait at different barriers",
         "16 threads wait in __syncthreads at line 102: (0,0,0) (1,0,0)",
         "17 threads wait in __syncthreads at line 104: (16,0,0)"),
    DIES(different_barriers<1>, "no thread can go on", "16 threads wait in __syncthreads at line 102",
         "16 threads wait in __ballot_sync at line 106 for the lanes 0xffffffff", "1 threads have exited: (32,0,0)"),
    DIES(bad_shuffle<0>, "thread (2,0,0), line 113: __shfl_xor_sync reads lane 3, which has exited"),
    DIES(bad_shuffle<1>, "thread (2,0,0), line 114: __shfl_down_sync reads lane 4, which is not in the mask 0x0000000f",
         "kernel `bad_shuffle`, block (0,0,0)"),
    DIES(bad_shuffle<2>, "thread (1,0,0), line 115: __shfl_sync with a mask without the calling lane"),
    DIES(bad_shuffle<3>, "lanes of a warp meet in different operations", "__any_sync at line 116"),
    DIES_LAUNCHING("no_threads", "no threads", 1, 1, 0, 1, 0),
    DIES_LAUNCHING("too_many_threads", "too many threads", 1, 1, 1025, 1, 0),
    DIES_LAUNCHING("too_many_threads_z", "too many threads in z", 1, 1, 1, 65, 0),
    DIES_LAUNCHING("no_blocks", "no blocks", 0, 1, 1, 1, 0),
    DIES_LAUNCHING("too_many_blocks", "too many blocks", 1, 65536, 1, 1, 0),
    DIES_LAUNCHING("dynamic_shared_memory", "no dynamic shared memory", 1, 1, 1, 1, 4),
    {"several_cpu_threads", several_cpu_threads},
    {"speeds", speeds},
});

}  // namespace

Handle kernel(const char* name) {
    static const Handle module = [] {
        std::string ptx, log;
        if (compile(source, ptx, log) != 0) fail(__FILE__, __LINE__, log);
        Handle loaded = nullptr;
        EXPECT(cuda().load_data(&loaded, ptx.data()) == 0);
        return loaded;
    }();
    Handle function = nullptr;
    EXPECT(cuda().get_function(&function, module, name) == 0);
    return function;
}

}  // namespace check
