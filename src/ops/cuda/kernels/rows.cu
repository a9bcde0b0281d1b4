// Sums, masks, biases and table rows: one pass over the numbers each.

// out = x + y
extern "C" __global__ void add(size_t n, const float *x, const float *y, float *out) {
    for (size_t i = FIRST_ELEMENT; i < n; i += ALL_THREADS) out[i] = x[i] + y[i];
}

// out += factor * x, with a factor that lies on the device.
extern "C" __global__ void add_scaled(size_t n, const float *factor, const float *x, float *out) {
    for (size_t i = FIRST_ELEMENT; i < n; i += ALL_THREADS) out[i] += *factor * x[i];
}

// out = mask * x
extern "C" __global__ void dropout(size_t n, Site site, const float *x, float *out) {
    for (size_t i = FIRST_ELEMENT; i < n; i += ALL_THREADS) out[i] = dropout_factor(site, i) * x[i];
}

// out += mask * x
extern "C" __global__ void add_dropout(size_t n, Site site, const float *x, float *out) {
    for (size_t i = FIRST_ELEMENT; i < n; i += ALL_THREADS) out[i] += dropout_factor(site, i) * x[i];
}

// Adds the bias to every row, and cuts off what is below zero where `relu` is set. A block has a row.
extern "C" __global__ void add_bias(int width, int relu, const float *bias, float *rows) {
    float *row = rows + (size_t)blockIdx.x * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float value = row[i] + bias[i];
        row[i] = relu ? fmaxf(value, 0.0f) : value;
    }
}

// max(0, rows + bias), rounded to bf16. A block has a row.
extern "C" __global__ void relu_to_bf16(int width, const float *bias, const float *rows, unsigned short *out) {
    size_t first = (size_t)blockIdx.x * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) out[first + i] = to_bf16(fmaxf(rows[first + i] + bias[i], 0.0f));
}

// The gradient of the hidden rows where they are above zero, zero elsewhere.
extern "C" __global__ void close_relu(size_t n, const float *hidden, float *gradient) {
    for (size_t i = FIRST_ELEMENT; i < n; i += ALL_THREADS)
        if (!(hidden[i] > 0.0f)) gradient[i] = 0.0f;
}

// The same of hidden rows in bf16, rounded.
extern "C" __global__ void close_relu_to_bf16(size_t n, const unsigned short *hidden, const float *gradient,
                                              unsigned short *out) {
    for (size_t i = FIRST_ELEMENT; i < n; i += ALL_THREADS)
        out[i] = of_bf16(hidden[i]) > 0.0f ? to_bf16(gradient[i]) : 0;
}

extern "C" __global__ void round_to_bf16(size_t n, const float *x, unsigned short *out) {
    for (size_t i = FIRST_ELEMENT; i < n; i += ALL_THREADS) out[i] = to_bf16(x[i]);
}

// out[i] = scale * table[ids[i]]. A block has a row.
extern "C" __global__ void gather(int width, const unsigned *ids, float scale, const float *table, float *out) {
    const float *chosen = table + (size_t)ids[blockIdx.x] * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) out[(size_t)blockIdx.x * width + i] = scale * chosen[i];
}

// The gradient of a table: a block for each id that occurs, which adds the rows that it was read by in their order.
// `readers[starts[b] .. starts[b + 1]]` are the rows of id `ids[b]`.
extern "C" __global__ void scatter(int width, const unsigned *ids, const unsigned *starts, const unsigned *readers,
                                   float scale, const float *rows, float *table) {
    unsigned first = starts[blockIdx.x], end = starts[blockIdx.x + 1];
    for (int column = threadIdx.x; column < width; column += blockDim.x) {
        float sum = 0.0f;
        // A frequent id has many readers, whose rows are fetched side by side.
#pragma unroll 8
        for (unsigned i = first; i < end; i++) sum += rows[(size_t)readers[i] * width + column];
        table[(size_t)ids[blockIdx.x] * width + column] += scale * sum;
    }
}

// The sum of a column over a chunk of rows, of whatever `read` finds at an index. A thread has a column.
template <class Read>
__device__ __forceinline__ void sum_column(int rows, int width, int chunk, Read read, float *partial) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= width) return;
    int first = blockIdx.y * chunk, end = min(first + chunk, rows);
    float sum = 0.0f;
    for (int row = first; row < end; row++) sum += read((size_t)row * width + column);
    partial[(size_t)blockIdx.y * width + column] = sum;
}

// Sums of columns by chunks of rows: partial[blockIdx.y] of x, or of x * y where there is y.
extern "C" __global__ void column_sums(int rows, int width, int chunk, const float *x, const float *y,
                                       float *partial) {
    sum_column(rows, width, chunk, [=](size_t i) { return y ? x[i] * y[i] : x[i]; }, partial);
}

// The same of x in bf16.
extern "C" __global__ void column_sums_of_bf16(int rows, int width, int chunk, const unsigned short *x, float *partial) {
    sum_column(rows, width, chunk, [=](size_t i) { return of_bf16(x[i]); }, partial);
}

// out += the sum of the partial sums, in their order.
extern "C" __global__ void add_column_sums(int chunks, int width, const float *partial, float *out) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= width) return;
    float sum = 0.0f;
    for (int chunk = 0; chunk < chunks; chunk++) sum += partial[(size_t)chunk * width + column];
    out[column] += sum;
}
