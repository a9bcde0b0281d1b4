// Checks of matrix products against loops in double precision.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "check.h"

namespace check {
namespace {

constexpr unsigned f32 = 0, bf16 = 14;
constexpr unsigned plain = 68, pedantic = 69, fast_tf32 = 77;
constexpr unsigned success = 0, invalid_value = 7, execution_failed = 13, not_supported = 15;

Handle open_cublas() {
    open_gpu();
    Handle handle = nullptr;
    EXPECT(cublas().create(&handle) == success);
    return handle;
}

// ---- bf16 ----

uint16_t to_bf16(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float from_bf16(uint16_t half) {
    const uint32_t bits = uint32_t{half} << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

Address upload_as(unsigned type, const std::vector<float>& values) {
    if (type == f32) return upload(values);
    std::vector<uint16_t> halves;
    for (const float value : values) halves.push_back(to_bf16(value));
    return upload(halves);
}

std::vector<float> download_as(unsigned type, Address address, size_t count) {
    if (type == f32) return download<float>(address, count);
    std::vector<float> values;
    for (const uint16_t half : download<uint16_t>(address, count)) values.push_back(from_bf16(half));
    return values;
}

// ---- Products ----

// Small numbers that bf16 holds exactly.
std::vector<float> numbers(size_t count, unsigned seed) {
    std::vector<float> values(count);
    for (float& value : values) {
        seed = seed * 1664525 + 1013904223;
        value = static_cast<float>(static_cast<int>(seed >> 24) - 128) / 64;
    }
    return values;
}

// Where a matrix is among many, and where its elements are.
struct Layout {
    unsigned operation;
    int leading;
    long long stride;

    size_t at(int batch, int row, int column) const {
        const int within = operation == 0 ? row + column * leading : column + row * leading;
        return static_cast<size_t>(batch * stride + within);
    }
};

// With room behind each column and each matrix.
Layout make_layout(unsigned operation, int rows, int columns) {
    const int leading = (operation == 0 ? rows : columns) + 2;
    return {operation, leading, static_cast<long long>(leading) * (operation == 0 ? columns : rows) + 5};
}

struct Problem {
    int m, n, k, count;
    Layout a, b, c;
    float beta;
};

Problem make_problem(int m, int n, int k, unsigned transa, unsigned transb, float beta) {
    return {m, n, k, 1 + m % 3, make_layout(transa, m, k), make_layout(transb, k, n), make_layout(0, m, n), beta};
}

constexpr float alpha = 0.75f;

// Computes the problem in double precision, with `values` as what was in memory before and then as what is to be there.
void solve(const Problem& problem, const std::vector<float>& a, const std::vector<float>& b,
           std::vector<float>& values) {
    for (int batch = 0; batch < problem.count; ++batch) {
        for (int row = 0; row < problem.m; ++row) {
            for (int column = 0; column < problem.n; ++column) {
                double sum = 0;
                for (int step = 0; step < problem.k; ++step) {
                    sum += double{a[problem.a.at(batch, row, step)]} * b[problem.b.at(batch, step, column)];
                }
                float& value = values[problem.c.at(batch, row, column)];
                value = static_cast<float>(alpha * sum + (problem.beta == 0 ? 0 : double{problem.beta} * value));
            }
        }
    }
}

bool is_close(float value, float expected, double tolerance) {
    if (std::isnan(value) || std::isnan(expected)) return std::isnan(value) && std::isnan(expected);
    return std::fabs(value - expected) <= tolerance * (1 + std::fabs(expected));
}

void check_product(Handle handle, const Problem& problem, unsigned operand, unsigned result) {
    const auto [operation_a, leading_a, stride_a] = problem.a;
    const auto [operation_b, leading_b, stride_b] = problem.b;
    const auto [operation_c, leading_c, stride_c] = problem.c;
    const std::vector<float> a = numbers(static_cast<size_t>(stride_a * problem.count), 1);
    const std::vector<float> b = numbers(static_cast<size_t>(stride_b * problem.count), 2);
    std::vector<float> expected = numbers(static_cast<size_t>(stride_c * problem.count), 3);
    if (problem.beta == 0) expected.assign(expected.size(), NAN);
    const Address on_a = upload_as(operand, a), on_b = upload_as(operand, b), on_c = upload_as(result, expected);
    EXPECT(cublas().gemm_batched_ex(handle, operation_a, operation_b, problem.m, problem.n, problem.k, &alpha, on_a,
                                    operand, leading_a, stride_a, on_b, operand, leading_b, stride_b, &problem.beta,
                                    on_c, result, leading_c, stride_c, problem.count, plain, -1) == success);
    solve(problem, a, b, expected);
    const std::vector<float> found = download_as(result, on_c, expected.size());
    for (size_t at = 0; at < found.size(); ++at) EXPECT(is_close(found[at], expected[at], result == f32 ? 1e-5 : 4e-3));
    for (const Address address : {on_a, on_b, on_c}) EXPECT(cuda().free(address) == 0);
}

void products() {
    const Handle handle = open_cublas();
    const int sizes[][3] = {{1, 1, 1}, {16, 4, 8}, {17, 5, 9}, {33, 31, 40}, {5, 70, 3}, {64, 64, 64}, {3, 2, 0}};
    const unsigned types[][2] = {{f32, f32}, {bf16, bf16}, {bf16, f32}};
    for (const auto& [m, n, k] : sizes) {
        for (const unsigned transa : {0u, 1u, 2u}) {
            for (const unsigned transb : {0u, 1u, 2u}) {
                for (const auto& [operand, result] : types) {
                    check_product(handle, make_problem(m, n, k, transa, transb, 0), operand, result);
                    check_product(handle, make_problem(m, n, k, transa, transb, -0.5f), operand, result);
                }
            }
        }
    }
    EXPECT(cublas().destroy(handle) == success);
}

// The same product through all four functions.
void all_functions() {
    const Handle handle = open_cublas();
    const Address a = upload<float>({1, 2, 3, 4}), b = upload<float>({5, 6, 7, 8}), c = allocate(16);
    const float one = 1, zero = 0;
    const auto expect_product = [&](unsigned status) {
        EXPECT(status == success && download<float>(c, 4) == std::vector<float>({23, 34, 31, 46}));
        EXPECT(cuda().set(c, 0, 16) == 0);
    };
    expect_product(cublas().sgemm(handle, 0, 0, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2));
    expect_product(cublas().gemm_ex(handle, 0, 0, 2, 2, 2, &one, a, f32, 2, b, f32, 2, &zero, c, f32, 2, pedantic, -1));
    expect_product(cublas().sgemm_batched(handle, 0, 0, 2, 2, 2, &one, a, 2, 0, b, 2, 0, &zero, c, 2, 0, 1));
    expect_product(cublas().gemm_batched_ex(handle, 0, 0, 2, 2, 2, &one, a, f32, 2, 0, b, f32, 2, 0, &zero, c, f32, 2,
                                            0, 1, plain, 0));
}

void handles() {
    const Handle handle = open_cublas();
    int version = 0;
    unsigned mode = 9;
    EXPECT(cublas().version(handle, &version) == success && version == 130000);
    EXPECT(cublas().get_math_mode(handle, &mode) == success && mode == 0);
    EXPECT(cublas().set_math_mode(handle, 3) == success);
    EXPECT(cublas().get_math_mode(handle, &mode) == success && mode == 3);
    EXPECT(cublas().set_math_mode(handle, 4) == invalid_value && cublas().set_math_mode(nullptr, 3) == 1);
    EXPECT(cublas().set_stream(handle, nullptr) == success);
    EXPECT(cublas().set_workspace(handle, allocate(256), 256) == success);
    EXPECT(cublas().set_workspace(handle, reinterpret_cast<Address>(&mode), 4) == invalid_value);
    EXPECT(cublas().destroy(handle) == success);
}

void refusals() {
    const Handle handle = open_cublas();
    const float one = 1, zero = 0;
    const Address x = allocate(4 * 64);
    const auto sized = [&](int m, int n, int k, unsigned ta, unsigned tb, int lda, int ldb, int ldc) {
        return cublas().sgemm(handle, ta, tb, m, n, k, &one, x, lda, x, ldb, &zero, x, ldc);
    };
    EXPECT(sized(4, 3, 2, 0, 0, 3, 2, 4) == invalid_value && sized(4, 3, 2, 1, 0, 1, 2, 4) == invalid_value);
    EXPECT(sized(4, 3, 2, 0, 0, 4, 1, 4) == invalid_value && sized(4, 3, 2, 0, 1, 4, 2, 4) == invalid_value);
    EXPECT(sized(4, 3, 2, 0, 0, 4, 2, 3) == invalid_value && sized(-1, 3, 2, 0, 0, 4, 2, 4) == invalid_value);
    EXPECT(sized(4, 3, 2, 4, 0, 4, 2, 4) == invalid_value && sized(0, 3, 2, 0, 0, 0, 2, 1) == invalid_value);
    EXPECT(sized(0, 3, 2, 0, 0, 1, 2, 1) == success && sized(4, 3, 2, 0, 0, 4, 2, 4) == success);
    EXPECT(sized(64, 1, 1, 0, 0, 64, 1, 64) == success && sized(65, 1, 1, 0, 0, 65, 1, 65) == execution_failed);
    const auto typed = [&](unsigned a, unsigned b, unsigned c, unsigned compute) {
        return cublas().gemm_ex(handle, 0, 0, 2, 2, 2, &one, x, a, 2, x, b, 2, &zero, x, c, 2, compute, -1);
    };
    EXPECT(typed(f32, bf16, f32, plain) == not_supported && typed(f32, f32, bf16, plain) == not_supported);
    EXPECT(typed(2, 2, 2, plain) == not_supported && typed(f32, f32, f32, 64) == not_supported);
    EXPECT(typed(bf16, bf16, f32, fast_tf32) == not_supported && typed(bf16, bf16, bf16, pedantic) == success);
    std::vector<float> host(4);
    const Address bad = reinterpret_cast<Address>(host.data());
    EXPECT(cublas().sgemm(handle, 0, 0, 2, 2, 2, &one, bad, 2, x, 2, &zero, x, 2) == execution_failed);
    EXPECT(cublas().sgemm(handle, 0, 0, 2, 2, 2, &one, x, 2, x, 2, &zero, bad, 2) == execution_failed);
    EXPECT(cublas().sgemm(handle, 0, 0, 2, 2, 2, nullptr, x, 2, x, 2, &zero, x, 2) == invalid_value);
    EXPECT(cublas().sgemm(nullptr, 0, 0, 2, 2, 2, &one, x, 2, x, 2, &zero, x, 2) == 1);
}

// 1 + 2^-11 lies in the middle between two TF32 numbers and is rounded up; a little less is rounded down.
void tf32() {
    const Handle handle = open_cublas();
    const float one = 1, zero = 0;
    const float middle = 1 + 0x1p-11f, below = 1 + 0x1p-11f - 0x1p-23f, up = 1 + 0x1p-10f;
    const Address values = upload<float>({middle, below, -middle, INFINITY}), unit = upload<float>({1});
    const Address out = allocate(16);
    const auto rounded = [&](unsigned compute) {
        EXPECT(cublas().gemm_ex(handle, 0, 0, 4, 1, 1, &one, values, f32, 4, unit, f32, 1, &zero, out, f32, 4, compute,
                                -1) == success);
        return download<float>(out, 4);
    };
    const std::vector<float> kept = {middle, below, -middle, INFINITY}, as_tf32 = {up, 1, -up, INFINITY};
    EXPECT(rounded(plain) == kept && rounded(fast_tf32) == as_tf32);
    EXPECT(cublas().set_math_mode(handle, 3) == success);
    EXPECT(rounded(plain) == as_tf32 && rounded(pedantic) == kept);
    EXPECT(cublas().sgemm(handle, 0, 0, 4, 1, 1, &one, values, 4, unit, 1, &zero, out, 4) == success);
    EXPECT(download<float>(out, 4) == as_tf32);
    EXPECT(cublas().set_math_mode(handle, 0) == success);
    EXPECT(cublas().sgemm(handle, 0, 0, 4, 1, 1, &one, values, 4, unit, 1, &zero, out, 4) == success);
    EXPECT(download<float>(out, 4) == kept);
}

void without_libcuda() {
    Handle handle = nullptr;
    EXPECT(cublas().create(&handle) == 1);
}

void product_speeds() {
    const Handle handle = open_cublas();
    const float one = 1, zero = 0;
    for (const int size : {16, 64, 256, 512}) {
        const std::vector<float> values = numbers(static_cast<size_t>(size) * static_cast<size_t>(size), 1);
        for (const unsigned type : {f32, bf16}) {
            const Address a = upload_as(type, values), c = upload_as(type, values);
            const int rounds = 1 + (1 << 26) / (size * size * size);
            const auto start = std::chrono::steady_clock::now();
            for (int round = 0; round < rounds; ++round) {
                EXPECT(cublas().gemm_ex(handle, 0, 1, size, size, size, &one, a, type, size, a, type, size, &zero, c,
                                        type, size, plain, -1) == success);
            }
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            std::printf("       product of %d x %d, %s: %.1f GFLOP/s\n", size, size, type == f32 ? "f32" : "bf16",
                        2e-9 * size * size * size * rounds / seconds);
        }
    }
}

const Cases registered({
    {"products", products},
    {"all_functions", all_functions},
    {"handles", handles},
    {"refusals", refusals},
    {"tf32", tf32},
    {"without_libcuda", without_libcuda},
    {"product_speeds", product_speeds},
});

}  // namespace
}  // namespace check
