// A stand-in for libcublas: the matrix products that cudarc's safe layer can ask for, on the CPU.
//
// It takes the types and layouts that cuBLAS takes, and refuses what cuBLAS refuses. Operands and results must be in
// live allocations of the stand-in for libcuda, which has to be loaded already. Products of f32 are rounded to TF32 as
// tensor cores round, so that what TF32 costs in precision shows in tests.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "standin.h"

namespace ablate_standin {

enum CublasStatus : unsigned {
    cublas_success = 0,
    cublas_not_initialized = 1,
    cublas_invalid_value = 7,
    cublas_execution_failed = 13,
    cublas_not_supported = 15,
};

enum CublasOperation : unsigned { as_stored = 0, transposed = 1, conjugated = 2 };

enum CudaType : unsigned { f32 = 0, bf16 = 14 };

enum CublasCompute : unsigned { compute_32f = 68, compute_32f_pedantic = 69, compute_32f_fast_tf32 = 77 };

enum CublasMath : unsigned {
    default_math = 0,
    tensor_op_math = 1,
    pedantic_math = 2,
    tf32_tensor_op_math = 3,
    disallow_reduced_precision_reduction = 16,
};

struct CublasHandle {
    unsigned math_mode = default_math;
};

namespace {

// ---- What is asked for ----

struct Operand {
    const void* data;
    CudaType type;
    int leading;  // elements from one column to the next
    long long stride;
    CublasOperation operation;
};

// result = alpha * op(left) * op(right) + beta * result, for each of `count` products, with matrices by columns.
struct Product {
    const char* name;
    int rows, columns, depth;
    Operand left, right, result;
    const float* alpha;
    const float* beta;
    int count;
    CublasCompute compute;
};

bool is_operation(CublasOperation operation) {
    return operation == as_stored || operation == transposed || operation == conjugated;
}

CublasStatus check_layout(const Product& product) {
    const bool sizes = product.rows >= 0 && product.columns >= 0 && product.depth >= 0 && product.count >= 0;
    if (!sizes || !is_operation(product.left.operation) || !is_operation(product.right.operation)) {
        return cublas_invalid_value;
    }
    const int left_rows = product.left.operation == as_stored ? product.rows : product.depth;
    const int right_rows = product.right.operation == as_stored ? product.depth : product.columns;
    const bool wide_enough = product.left.leading >= std::max(1, left_rows) &&
                             product.right.leading >= std::max(1, right_rows) &&
                             product.result.leading >= std::max(1, product.rows);
    const bool given = product.alpha != nullptr && product.beta != nullptr;
    return wide_enough && given ? cublas_success : cublas_invalid_value;
}

// The rows of cuBLAS's table of types that the stand-in has.
CublasStatus check_types(const Product& product) {
    const CudaType operands = product.left.type, result = product.result.type;
    if (product.right.type != operands) return cublas_not_supported;
    switch (product.compute) {
        case compute_32f:
        case compute_32f_pedantic:
            if (operands == f32 && result == f32) return cublas_success;
            return operands == bf16 && (result == f32 || result == bf16) ? cublas_success : cublas_not_supported;
        case compute_32f_fast_tf32:
            return operands == f32 && result == f32 ? cublas_success : cublas_not_supported;
    }
    return cublas_not_supported;
}

// ---- Where the operands are ----

using IsDeviceRange = bool (*)(const void* address, size_t bytes);

// Null where the stand-in for libcuda is not loaded.
IsDeviceRange find_is_device_range() {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr) return nullptr;
    return reinterpret_cast<IsDeviceRange>(dlsym(driver, "ablate_standin_is_device_range"));
}

IsDeviceRange is_device_range() {
    static const IsDeviceRange found = find_is_device_range();
    return found;
}

size_t size_of(CudaType type) {
    return type == f32 ? 4 : 2;
}

// For a matrix that has so many rows and columns as it is used.
bool is_in_memory(const Product& product, const Operand& operand, int used_rows, int used_columns) {
    const bool as_used = operand.operation == as_stored;
    const size_t rows = static_cast<size_t>(as_used ? used_rows : used_columns);
    const size_t columns = static_cast<size_t>(as_used ? used_columns : used_rows);
    if (rows == 0 || columns == 0) return true;
    const size_t matrix = (columns - 1) * static_cast<size_t>(operand.leading) + rows;
    const size_t elements = static_cast<size_t>(product.count - 1) * static_cast<size_t>(operand.stride) + matrix;
    const bool forward = operand.stride >= 0;
    if (forward && is_device_range()(operand.data, elements * size_of(operand.type))) return true;
    complain(std::string(product.name) + ": a matrix is not in the memory of a GPU");
    return false;
}

// The operands are not read if they are multiplied by 0.
CublasStatus check_memory(const Product& product) {
    const bool read = *product.alpha != 0;
    const bool is_left = !read || is_in_memory(product, product.left, product.rows, product.depth);
    const bool is_right = !read || is_in_memory(product, product.right, product.depth, product.columns);
    const bool is_result = is_in_memory(product, product.result, product.rows, product.columns);
    return is_left && is_right && is_result ? cublas_success : cublas_execution_failed;
}

// ---- Numbers ----

uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

float from_bits(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

struct AsF32 {
    using Stored = float;
    static float load(Stored value) { return value; }
    static Stored store(float value) { return value; }
};

struct AsBf16 {
    using Stored = uint16_t;
    static float load(Stored value) { return from_bits(uint32_t{value} << 16); }
    // To the nearest, and to even in the middle.
    static Stored store(float value) {
        const uint32_t bits = bits_of(value);
        if (value != value) return static_cast<Stored>(bits >> 16 | 0x40);
        return static_cast<Stored>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
    }
};

// f32 with 10 bits behind the point: to the nearest, and away from 0 in the middle. NaNs and infinities stay.
struct AsTf32 {
    using Stored = float;
    static float load(Stored value) {
        constexpr uint32_t exponent = 0x7F800000, half = 0x1000, dropped = 0x1FFF;
        const uint32_t bits = bits_of(value);
        return (bits & exponent) == exponent ? value : from_bits((bits + half) & ~dropped);
    }
};

// ---- Products ----

// Sixteen rows of one column at once, in whatever registers the CPU has.
constexpr int tile_rows = 16, tile_columns = 4;
typedef float TileColumn __attribute__((vector_size(tile_rows * sizeof(float))));

// The product of `depth` columns of a panel of rows, and as many rows of a panel of columns.
__attribute__((target_clones("avx512f", "fma", "default"))) void multiply_panels(const float* left, const float* right,
                                                                                 int depth, float* tile) {
    TileColumn sums[tile_columns] = {};
    for (int step = 0; step < depth; ++step) {
        TileColumn column;
        std::memcpy(&column, left, sizeof column);
        for (int number = 0; number < tile_columns; ++number) sums[number] += column * right[number];
        left += tile_rows;
        right += tile_columns;
    }
    std::memcpy(tile, sums, sizeof sums);
}

// Writes `panel` rows, from the first on, step by step and with zeros beyond the last row. The element (row, step) of
// the matrix is `data[row * across + step * along]`.
template <typename As>
void pack(const typename As::Stored* data, size_t across, size_t along, int first, int rows, int depth, int panel,
          float* packed) {
    const int present = std::min(panel, rows - first);
    const typename As::Stored* const start = data + static_cast<size_t>(first) * across;
    for (int step = 0; step < depth; ++step) {
        for (int row = 0; row < panel; ++row) {
            const size_t at = static_cast<size_t>(row) * across + static_cast<size_t>(step) * along;
            packed[step * panel + row] = row < present ? As::load(start[at]) : 0;
        }
    }
}

template <typename As>
void store_tile(const Product& product, typename As::Stored* result, const float* tile, int first_row,
                int first_column) {
    const float alpha = *product.alpha, beta = *product.beta;
    const size_t leading = static_cast<size_t>(product.result.leading);
    const int rows = std::min(tile_rows, product.rows - first_row);
    const int columns = std::min(tile_columns, product.columns - first_column);
    for (int column = 0; column < columns; ++column) {
        typename As::Stored* const to = result + static_cast<size_t>(first_column + column) * leading + first_row;
        for (int row = 0; row < rows; ++row) {
            const float value = alpha * tile[column * tile_rows + row];
            // What was in memory must not matter if beta is 0: it may be a NaN.
            to[row] = As::store(beta == 0 ? value : value + beta * As::load(to[row]));
        }
    }
}

template <typename AsOperand, typename AsResult>
void multiply(const Product& product, const typename AsOperand::Stored* left, const typename AsOperand::Stored* right,
              typename AsResult::Stored* result) {
    const int depth = *product.alpha == 0 ? 0 : product.depth;
    const size_t left_leading = static_cast<size_t>(product.left.leading);
    const size_t right_leading = static_cast<size_t>(product.right.leading);
    const bool left_stored = product.left.operation == as_stored, right_stored = product.right.operation == as_stored;
    const int panels = (product.rows + tile_rows - 1) / tile_rows;
    const size_t panel_floats = static_cast<size_t>(depth) * tile_rows;
    static thread_local std::vector<float> rows, columns;
    rows.resize(panel_floats * static_cast<size_t>(panels));
    columns.resize(static_cast<size_t>(depth) * tile_columns);
    for (int panel = 0; panel < panels; ++panel) {
        pack<AsOperand>(left, left_stored ? 1 : left_leading, left_stored ? left_leading : 1, panel * tile_rows,
                        product.rows, depth, tile_rows, rows.data() + panel_floats * static_cast<size_t>(panel));
    }
    for (int column = 0; column < product.columns; column += tile_columns) {
        pack<AsOperand>(right, right_stored ? right_leading : 1, right_stored ? 1 : right_leading, column,
                        product.columns, depth, tile_columns, columns.data());
        for (int panel = 0; panel < panels; ++panel) {
            float tile[tile_rows * tile_columns];
            multiply_panels(rows.data() + panel_floats * static_cast<size_t>(panel), columns.data(), depth, tile);
            store_tile<AsResult>(product, result, tile, panel * tile_rows, column);
        }
    }
}

template <typename AsOperand, typename AsResult>
void multiply_all(const Product& product) {
    const auto* left = static_cast<const typename AsOperand::Stored*>(product.left.data);
    const auto* right = static_cast<const typename AsOperand::Stored*>(product.right.data);
    auto* result = static_cast<typename AsResult::Stored*>(const_cast<void*>(product.result.data));
    for (int number = 0; number < product.count; ++number) {
        multiply<AsOperand, AsResult>(product, left, right, result);
        left += product.left.stride;
        right += product.right.stride;
        result += product.result.stride;
    }
}

bool uses_tf32(const CublasHandle& handle, const Product& product) {
    const unsigned mode = handle.math_mode & ~unsigned{disallow_reduced_precision_reduction};
    return product.compute == compute_32f_fast_tf32 || (product.compute == compute_32f && mode == tf32_tensor_op_math);
}

std::string log_line(const Product& product) {
    return std::string("cublas ") + product.name + " m " + std::to_string(product.rows) + " n " +
           std::to_string(product.columns) + " k " + std::to_string(product.depth) + " count " +
           std::to_string(product.count);
}

CublasStatus run(const CublasHandle* handle, const Product& product) {
    if (handle == nullptr || is_device_range() == nullptr) return cublas_not_initialized;
    if (const CublasStatus error = check_layout(product)) return error;
    if (const CublasStatus error = check_types(product)) return error;
    if (product.rows == 0 || product.columns == 0 || product.count == 0) return cublas_success;
    if (const CublasStatus error = check_memory(product)) return error;
    if (is_logging()) append_log(log_line(product));
    if (product.result.type == bf16) multiply_all<AsBf16, AsBf16>(product);
    else if (product.left.type == bf16) multiply_all<AsBf16, AsF32>(product);
    else if (uses_tf32(*handle, product)) multiply_all<AsTf32, AsF32>(product);
    else multiply_all<AsF32, AsF32>(product);
    return cublas_success;
}

}  // namespace

// ---- Handles ----

ABLATE_STANDIN_EXPORT CublasStatus cublasCreate_v2(CublasHandle** handle) {
    if (handle == nullptr) return cublas_invalid_value;
    if (is_device_range() == nullptr) return cublas_not_initialized;
    *handle = new CublasHandle;
    return cublas_success;
}

ABLATE_STANDIN_EXPORT CublasStatus cublasDestroy_v2(CublasHandle* handle) {
    if (handle == nullptr) return cublas_not_initialized;
    delete handle;
    return cublas_success;
}

ABLATE_STANDIN_EXPORT CublasStatus cublasGetVersion_v2(CublasHandle*, int* version) {
    if (version == nullptr) return cublas_invalid_value;
    *version = 130000;
    return cublas_success;
}

// All work is done at once, whatever the stream.
ABLATE_STANDIN_EXPORT CublasStatus cublasSetStream_v2(CublasHandle* handle, void*) {
    return handle != nullptr ? cublas_success : cublas_not_initialized;
}

ABLATE_STANDIN_EXPORT CublasStatus cublasSetWorkspace_v2(CublasHandle* handle, void* workspace, size_t bytes) {
    if (handle == nullptr) return cublas_not_initialized;
    return is_device_range()(workspace, bytes) ? cublas_success : cublas_invalid_value;
}

ABLATE_STANDIN_EXPORT CublasStatus cublasSetMathMode(CublasHandle* handle, unsigned mode) {
    if (handle == nullptr) return cublas_not_initialized;
    if ((mode & ~unsigned{disallow_reduced_precision_reduction}) > tf32_tensor_op_math) return cublas_invalid_value;
    handle->math_mode = mode;
    return cublas_success;
}

ABLATE_STANDIN_EXPORT CublasStatus cublasGetMathMode(CublasHandle* handle, unsigned* mode) {
    if (handle == nullptr) return cublas_not_initialized;
    if (mode == nullptr) return cublas_invalid_value;
    *mode = handle->math_mode;
    return cublas_success;
}

// ---- Products, with the parameters of cuBLAS ----

ABLATE_STANDIN_EXPORT CublasStatus cublasGemmStridedBatchedEx(
    CublasHandle* handle, CublasOperation transa, CublasOperation transb, int m, int n, int k, const void* alpha,
    const void* a, CudaType a_type, int lda, long long stride_a, const void* b, CudaType b_type, int ldb,
    long long stride_b, const void* beta, void* c, CudaType c_type, int ldc, long long stride_c, int count,
    CublasCompute compute, int) {
    return run(handle, {"cublasGemmStridedBatchedEx", m, n, k, {a, a_type, lda, stride_a, transa},
                        {b, b_type, ldb, stride_b, transb}, {c, c_type, ldc, stride_c, as_stored},
                        static_cast<const float*>(alpha), static_cast<const float*>(beta), count, compute});
}

ABLATE_STANDIN_EXPORT CublasStatus cublasGemmEx(CublasHandle* handle, CublasOperation transa, CublasOperation transb,
                                                int m, int n, int k, const void* alpha, const void* a, CudaType a_type,
                                                int lda, const void* b, CudaType b_type, int ldb, const void* beta,
                                                void* c, CudaType c_type, int ldc, CublasCompute compute, int) {
    return run(handle, {"cublasGemmEx", m, n, k, {a, a_type, lda, 0, transa}, {b, b_type, ldb, 0, transb},
                        {c, c_type, ldc, 0, as_stored}, static_cast<const float*>(alpha),
                        static_cast<const float*>(beta), 1, compute});
}

ABLATE_STANDIN_EXPORT CublasStatus cublasSgemmStridedBatched(CublasHandle* handle, CublasOperation transa,
                                                             CublasOperation transb, int m, int n, int k,
                                                             const float* alpha, const float* a, int lda,
                                                             long long stride_a, const float* b, int ldb,
                                                             long long stride_b, const float* beta, float* c, int ldc,
                                                             long long stride_c, int count) {
    return run(handle, {"cublasSgemmStridedBatched", m, n, k, {a, f32, lda, stride_a, transa},
                        {b, f32, ldb, stride_b, transb}, {c, f32, ldc, stride_c, as_stored}, alpha, beta, count,
                        compute_32f});
}

ABLATE_STANDIN_EXPORT CublasStatus cublasSgemm_v2(CublasHandle* handle, CublasOperation transa, CublasOperation transb,
                                                  int m, int n, int k, const float* alpha, const float* a, int lda,
                                                  const float* b, int ldb, const float* beta, float* c, int ldc) {
    return run(handle, {"cublasSgemm_v2", m, n, k, {a, f32, lda, 0, transa}, {b, f32, ldb, 0, transb},
                        {c, f32, ldc, 0, as_stored}, alpha, beta, 1, compute_32f});
}

}  // namespace ablate_standin
