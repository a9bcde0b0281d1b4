// Makes CUDA C compile as C++, for kernels that blocks.cpp runs.
//
// libnvrtc puts this text, behind runtime.h, in front of every kernel source. `__CUDA_ARCH__` stays undefined, so that
// sources can hide what only a GPU understands. Functions take the line of their call as a last, defaulted argument
// where reports are to name it.
#include <math.h>

#include <type_traits>
#include <utility>

// ---- What the module tells the driver ----

namespace ablate_standin {

Builtins builtins;
const Runtime* runtime;

// How to call a kernel with the parameters of a launch, which are pointers to the arguments.
template <auto kernel, typename Signature = decltype(kernel)>
struct Caller;

template <auto kernel, typename... Arguments>
struct Caller<kernel, void (*)(Arguments...)> {
    static constexpr int parameter_count = sizeof...(Arguments);
    static constexpr bool is_pointer[] = {std::is_pointer_v<Arguments>..., false};

    template <size_t... numbers>
    static void call([[maybe_unused]] void* const* parameters, std::index_sequence<numbers...>) {
        kernel(*static_cast<Arguments*>(parameters[numbers])...);
    }
    static void run_thread(void* const* parameters) { call(parameters, std::index_sequence_for<Arguments...>()); }
};

template <auto kernel>
constexpr Kernel describe(const char* name) {
    using Called = Caller<kernel>;
    return {name, Called::run_thread, Called::is_pointer, Called::parameter_count};
}

}  // namespace ablate_standin

// ---- What g++ checks in kernels: indices of arrays whose size it knows, and the alignment of what is accessed ----

namespace ablate_standin {

// As g++ lays out what it passes to the functions below.
struct SourcePlace {
    const char* file;
    unsigned line, column;
};

}  // namespace ablate_standin

extern "C" void __ubsan_handle_out_of_bounds_abort(const ablate_standin::SourcePlace* place, unsigned long) {
    ablate_standin::runtime->fail(place->line, "an index is outside of its array");
}

extern "C" void __ubsan_handle_type_mismatch_v1_abort(const ablate_standin::SourcePlace* place, unsigned long) {
    ablate_standin::runtime->fail(place->line, "an access is not aligned as its type demands");
}

// ---- Types ----

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;

typedef ablate_standin::Index uint3;
typedef ablate_standin::Index dim3;

#define ABLATE_STANDIN_VECTORS(name, type)                           \
    struct alignas(8) name##2 { type x, y; };                        \
    struct alignas(16) name##4 { type x, y, z, w; };                 \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; } \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

ABLATE_STANDIN_VECTORS(float, float)
ABLATE_STANDIN_VECTORS(int, int)
ABLATE_STANDIN_VECTORS(uint, unsigned)

// ---- Qualifiers and built-in variables. From here on, no header of the C++ library can be included ----

// libnvrtc looks for this attribute, which means nothing to g++.
#define __global__ __attribute__((ablate_standin_kernel))
#define __device__
#define __host__
#define __constant__
// The driver finds all thread-local variables of a module in one piece, to fill it before each block. A section of
// their own would do for plain functions, but g++ ignores sections inside templates.
#define __shared__ static __thread
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

#define threadIdx (ablate_standin::builtins.thread)
#define blockIdx (ablate_standin::builtins.block)
#define blockDim (ablate_standin::builtins.block_size)
#define gridDim (ablate_standin::builtins.grid_size)
#define warpSize 32

// ---- Barriers and warps ----

inline void __syncthreads(int line = __builtin_LINE()) {
    ablate_standin::runtime->block_barrier(line);
}

inline void __threadfence() {}
inline void __threadfence_block() {}

namespace ablate_standin {

// The bits of a vote fit.
inline unsigned meet(WarpOperation operation, unsigned mask, unsigned long long value, int line) {
    const WarpCall call = {operation, mask, value, 0, 32, line};
    return static_cast<unsigned>(runtime->meet_in_warp(&call));
}

template <typename Value>
Value shuffle(WarpOperation operation, unsigned mask, Value value, unsigned operand, int width, int line) {
    WarpCall call = {operation, mask, 0, operand, width, line};
    __builtin_memcpy(&call.value, &value, sizeof value);
    const unsigned long long bits = runtime->meet_in_warp(&call);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace ablate_standin

inline void __syncwarp(unsigned mask = 0xFFFFFFFF, int line = __builtin_LINE()) {
    ablate_standin::meet(ablate_standin::WarpOperation::synchronize, mask, 0, line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    return ablate_standin::meet(ablate_standin::WarpOperation::ballot, mask, predicate != 0, line);
}

inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    return ablate_standin::meet(ablate_standin::WarpOperation::any, mask, predicate != 0, line);
}

inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    return ablate_standin::meet(ablate_standin::WarpOperation::all, mask, predicate != 0, line);
}

#define ABLATE_STANDIN_SHUFFLE(name, operation, type)                                                               \
    inline type name(unsigned mask, type value, unsigned operand, int width = 32, int line = __builtin_LINE()) {    \
        return ablate_standin::shuffle(ablate_standin::WarpOperation::operation, mask, value, operand, width, line); \
    }
#define ABLATE_STANDIN_SHUFFLES(type)                              \
    ABLATE_STANDIN_SHUFFLE(__shfl_sync, shuffle, type)             \
    ABLATE_STANDIN_SHUFFLE(__shfl_up_sync, shuffle_up, type)       \
    ABLATE_STANDIN_SHUFFLE(__shfl_down_sync, shuffle_down, type)   \
    ABLATE_STANDIN_SHUFFLE(__shfl_xor_sync, shuffle_xor, type)

ABLATE_STANDIN_SHUFFLES(int)
ABLATE_STANDIN_SHUFFLES(unsigned)
ABLATE_STANDIN_SHUFFLES(long long)
ABLATE_STANDIN_SHUFFLES(unsigned long long)
ABLATE_STANDIN_SHUFFLES(float)
ABLATE_STANDIN_SHUFFLES(double)

// ---- Atomics. No other thread runs in the middle of one, so they are plain reads and writes ----

#define ABLATE_STANDIN_ATOMIC(name, type, value_of_old_and_operand) \
    inline type name(type* address, type operand) {                 \
        const type old = *address;                                  \
        *address = value_of_old_and_operand;                        \
        return old;                                                 \
    }

ABLATE_STANDIN_ATOMIC(atomicAdd, float, old + operand)
ABLATE_STANDIN_ATOMIC(atomicAdd, double, old + operand)
ABLATE_STANDIN_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(operand)))
ABLATE_STANDIN_ATOMIC(atomicAdd, unsigned, old + operand)
ABLATE_STANDIN_ATOMIC(atomicAdd, unsigned long long, old + operand)
ABLATE_STANDIN_ATOMIC(atomicMax, int, old > operand ? old : operand)
ABLATE_STANDIN_ATOMIC(atomicMax, unsigned, old > operand ? old : operand)
ABLATE_STANDIN_ATOMIC(atomicMin, int, old < operand ? old : operand)
ABLATE_STANDIN_ATOMIC(atomicMin, unsigned, old < operand ? old : operand)
ABLATE_STANDIN_ATOMIC(atomicExch, int, operand)
ABLATE_STANDIN_ATOMIC(atomicExch, unsigned, operand)
ABLATE_STANDIN_ATOMIC(atomicExch, float, operand)

#define ABLATE_STANDIN_COMPARE_AND_SWAP(type)                         \
    inline type atomicCAS(type* address, type expected, type desired) { \
        const type old = *address;                                    \
        if (old == expected) *address = desired;                      \
        return old;                                                   \
    }

ABLATE_STANDIN_COMPARE_AND_SWAP(int)
ABLATE_STANDIN_COMPARE_AND_SWAP(unsigned)
ABLATE_STANDIN_COMPARE_AND_SWAP(unsigned long long)

// ---- Arithmetic ----

// As in CUDA, `min` and `max` of a number and a NaN are the number.
template <typename Left, typename Right>
inline std::common_type_t<Left, Right> max(Left left, Right right) {
    static_assert(std::is_floating_point_v<Left> == std::is_floating_point_v<Right>, "max of an integer and a float");
    using Value = std::common_type_t<Left, Right>;
    if constexpr (std::is_same_v<Value, float>) return fmaxf(left, right);
    else if constexpr (std::is_same_v<Value, double>) return fmax(left, right);
    else return static_cast<Value>(left) > static_cast<Value>(right) ? left : right;
}

template <typename Left, typename Right>
inline std::common_type_t<Left, Right> min(Left left, Right right) {
    static_assert(std::is_floating_point_v<Left> == std::is_floating_point_v<Right>, "min of an integer and a float");
    using Value = std::common_type_t<Left, Right>;
    if constexpr (std::is_same_v<Value, float>) return fminf(left, right);
    else if constexpr (std::is_same_v<Value, double>) return fmin(left, right);
    else return static_cast<Value>(left) < static_cast<Value>(right) ? left : right;
}

namespace ablate_standin {

template <typename To, typename From>
inline To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

}  // namespace ablate_standin

inline unsigned __float_as_uint(float value) { return ablate_standin::bits_as<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return ablate_standin::bits_as<float>(bits); }
inline int __float_as_int(float value) { return ablate_standin::bits_as<int>(value); }
inline float __int_as_float(int bits) { return ablate_standin::bits_as<float>(bits); }

inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }
inline float __frsqrt_rn(float value) { return 1.0f / sqrtf(value); }
inline float __fdividef(float left, float right) { return left / right; }
inline float __fmaf_rn(float left, float right, float addend) { return fmaf(left, right, addend); }

// The C library declares functions of these names, but has none.
#define __expf expf
#define __logf logf

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned>(bits)); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline unsigned __umulhi(unsigned left, unsigned right) {
    return static_cast<unsigned>(static_cast<unsigned long long>(left) * right >> 32);
}

template <typename Value>
inline Value __ldg(const Value* address) {
    return *address;
}
