// What all kernels share. NVRTC compiles the files of this folder as one text, in the order of `context.rs`.
// Rows are packed one after another, [N, width]; sums run in a fixed order, so that the same input gives the same bits.

// The lanes of a warp.
#define LANES 32
#define ALL_LANES 0xffffffffu
#define LANE ((int)(threadIdx.x % LANES))
// NVRTC has no <math.h> to take it from.
#define INFINITE __int_as_float(0x7f800000)

__device__ __forceinline__ float warp_sum(float value) {
    for (int distance = LANES / 2; distance > 0; distance /= 2) value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

__device__ __forceinline__ float warp_max(float value) {
    for (int distance = LANES / 2; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, distance));
    return value;
}

// The first element of this thread, and how far on its next one lies, for kernels that go over n elements.
#define FIRST_ELEMENT ((size_t)blockIdx.x * blockDim.x + threadIdx.x)
#define ALL_THREADS ((size_t)gridDim.x * blockDim.x)

// The mask of one dropout site: `Dropout` of ops/dropout.rs, bit for bit.
struct Site {
    unsigned threshold;
    float kept;
    unsigned key[2];
    unsigned first;
};

__device__ __forceinline__ unsigned mix32(unsigned value) {
    value = (value ^ (value >> 16)) * 0x21f0aaadu;
    value = (value ^ (value >> 15)) * 0xd35a2d97u;
    return value ^ (value >> 15);
}

// 0 or 1 / (1 - rate).
__device__ __forceinline__ float dropout_factor(const Site &site, size_t index) {
    unsigned bits = mix32(mix32(((unsigned)index + site.first) ^ site.key[0]) + site.key[1]);
    return bits < site.threshold ? 0.0f : site.kept;
}

// The number that a bf16 is.
__device__ __forceinline__ float of_bf16(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }

// The nearest bf16, ties to even; what is no number stays none.
__device__ __forceinline__ unsigned short to_bf16(float value) {
    unsigned bits = __float_as_uint(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (unsigned short)((bits >> 16) | 0x40u);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
