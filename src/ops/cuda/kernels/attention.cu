// Attention within spans of packed rows (equation 1), head by head. Every product is one of three kinds: rows by rows
// to weights, weights by rows to the rows of the queries, and weights by rows to the rows of the keys.
// The weights of a span are [heads, queries, keys], the spans one after another.

// A block computes TILE x TILE sums at a time, 4 x 4 in each of its threads.
#define TILE 32
#define TILE_THREADS 64
#define EACH 4

// The rows of one sentence.
struct Span {
    int query, queries;
    int key, keys;
    // Where its weights begin.
    unsigned long long weights;
};

// Heads side by side in packed rows: [rows, stride], of which those of head h begin at column + h * width.
struct Heads {
    float *data;
    int stride, column, width;
};

__device__ __forceinline__ float *head_row(const Heads &heads, int row, int head) {
    return heads.data + (size_t)row * heads.stride + heads.column + head * heads.width;
}

__device__ __forceinline__ size_t head_weights(const Span &span, int head) {
    return span.weights + (size_t)head * span.queries * span.keys;
}

// Where the n-th number of a tile lies: neighbours in depth are neighbours in memory, or neighbours in place are.
template <bool BY_DEPTH> __device__ __forceinline__ int place_of(int n) { return BY_DEPTH ? n / TILE : n % TILE; }
template <bool BY_DEPTH> __device__ __forceinline__ int depth_of(int n) { return BY_DEPTH ? n % TILE : n / TILE; }

// sums = left [rows, depth] . right [columns, depth]^T for the tile at (first_row, first_column); `left` and `right`
// are functions of place and depth, asked only for what exists. Thread t has the rows t / 8 + 8 i and columns t % 8 + 8 j.
template <bool LEFT_BY_DEPTH, bool RIGHT_BY_DEPTH, class Left, class Right>
__device__ __forceinline__ void multiply_tile(int first_row, int rows, int first_column, int columns, int depth,
                                              Left left, Right right, float (&sums)[EACH][EACH]) {
    __shared__ float lefts[TILE][TILE + 1];
    __shared__ float rights[TILE][TILE + 1];
    const int row = threadIdx.x / 8, column = threadIdx.x % 8;
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) sums[i][j] = 0.0f;
    for (int start = 0; start < depth; start += TILE) {
        for (int n = threadIdx.x; n < TILE * TILE; n += TILE_THREADS) {
            int place = place_of<LEFT_BY_DEPTH>(n), at = depth_of<LEFT_BY_DEPTH>(n);
            bool there = first_row + place < rows && start + at < depth;
            lefts[place][at] = there ? left(first_row + place, start + at) : 0.0f;
            place = place_of<RIGHT_BY_DEPTH>(n), at = depth_of<RIGHT_BY_DEPTH>(n);
            there = first_column + place < columns && start + at < depth;
            rights[place][at] = there ? right(first_column + place, start + at) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int at = 0; at < TILE; at++) {
            float x[EACH], y[EACH];
            for (int i = 0; i < EACH; i++) {
                x[i] = lefts[row + 8 * i][at];
                y[i] = rights[column + 8 * i][at];
            }
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++) sums[i][j] = fmaf(x[i], y[j], sums[i][j]);
        }
        __syncthreads();
    }
}

// Hands every sum of this thread that exists to `write`, with its row and column.
template <class Write>
__device__ __forceinline__ void write_tile(int first_row, int rows, int first_column, int columns,
                                           const float (&sums)[EACH][EACH], Write write) {
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            int row = first_row + threadIdx.x / 8 + 8 * i, column = first_column + threadIdx.x % 8 + 8 * j;
            if (row < rows && column < columns) write(row, column, sums[i][j]);
        }
}

// weights[query, key] = a[query] . b[key]: scores, or the gradient of the weights. Grid: spans, heads.
extern "C" __global__ void rows_by_rows(const Span *spans, Heads a, Heads b, float *weights) {
    const Span span = spans[blockIdx.x];
    const int head = blockIdx.y;
    float *out = weights + head_weights(span, head);
    auto left = [&](int query, int i) { return head_row(a, span.query + query, head)[i]; };
    auto right = [&](int key, int i) { return head_row(b, span.key + key, head)[i]; };
    float sums[EACH][EACH];
    for (int query = 0; query < span.queries; query += TILE)
        for (int key = 0; key < span.keys; key += TILE) {
            multiply_tile<true, true>(query, span.queries, key, span.keys, a.width, left, right, sums);
            write_tile(query, span.queries, key, span.keys, sums,
                       [&](int row, int column, float sum) { out[(size_t)row * span.keys + column] = sum; });
        }
}

// out[query] = the sum over keys of weights[query, key] * b[key]: the mixed values, or the gradient of the queries.
extern "C" __global__ void weights_by_rows(const Span *spans, const float *weights, Heads b, Heads out) {
    const Span span = spans[blockIdx.x];
    const int head = blockIdx.y;
    const float *weight = weights + head_weights(span, head);
    auto left = [&](int query, int key) { return weight[(size_t)query * span.keys + key]; };
    auto right = [&](int column, int key) { return head_row(b, span.key + key, head)[column]; };
    float sums[EACH][EACH];
    for (int query = 0; query < span.queries; query += TILE)
        for (int column = 0; column < b.width; column += TILE) {
            multiply_tile<true, false>(query, span.queries, column, b.width, span.keys, left, right, sums);
            write_tile(query, span.queries, column, b.width, sums, [&](int row, int column, float sum) {
                head_row(out, span.query + row, head)[column] = sum;
            });
        }
}

// out[key] = the sum over queries of weights[query, key] * b[query]: the gradient of the values or of the keys.
extern "C" __global__ void weights_by_rows_transposed(const Span *spans, const float *weights, Heads b, Heads out) {
    const Span span = spans[blockIdx.x];
    const int head = blockIdx.y;
    const float *weight = weights + head_weights(span, head);
    auto left = [&](int key, int query) { return weight[(size_t)query * span.keys + key]; };
    auto right = [&](int column, int query) { return head_row(b, span.query + query, head)[column]; };
    float sums[EACH][EACH];
    for (int key = 0; key < span.keys; key += TILE)
        for (int column = 0; column < b.width; column += TILE) {
            multiply_tile<false, false>(key, span.keys, column, b.width, span.queries, left, right, sums);
            write_tile(key, span.keys, column, b.width, sums, [&](int row, int column, float sum) {
                head_row(out, span.key + row, head)[column] = sum;
            });
        }
}

// How many keys a query may see.
__device__ __forceinline__ int visible(const Span &span, int causal, int query) {
    return causal ? span.keys - span.queries + query + 1 : span.keys;
}

// Scores to weights, in place: softmax over the keys that a query sees, zero for the others. A warp has a query.
// Grid: spans, heads.
extern "C" __global__ void softmax_within(const Span *spans, int causal, float scale, float *weights) {
    const Span span = spans[blockIdx.x];
    float *of_head = weights + head_weights(span, blockIdx.y);
    for (int query = threadIdx.x / LANES; query < span.queries; query += blockDim.x / LANES) {
        float *row = of_head + (size_t)query * span.keys;
        int seen = visible(span, causal, query);
        float largest = -INFINITE;
        for (int key = LANE; key < seen; key += LANES) largest = fmaxf(largest, row[key] * scale);
        largest = warp_max(largest);
        float sum = 0.0f;
        for (int key = LANE; key < span.keys; key += LANES) {
            float weight = key < seen ? expf(row[key] * scale - largest) : 0.0f;
            row[key] = weight;
            sum += weight;
        }
        sum = warp_sum(sum);
        for (int key = LANE; key < seen; key += LANES) row[key] /= sum;
    }
}

// The gradient of the weights to that of the scores, in place. A key that is not seen has weight 0, and so no gradient.
extern "C" __global__ void softmax_within_backward(const Span *spans, float scale, const float *weights,
                                                   float *gradient) {
    const Span span = spans[blockIdx.x];
    size_t first = head_weights(span, blockIdx.y);
    for (int query = threadIdx.x / LANES; query < span.queries; query += blockDim.x / LANES) {
        const float *weight = weights + first + (size_t)query * span.keys;
        float *d = gradient + first + (size_t)query * span.keys;
        float slope = 0.0f;
        for (int key = LANE; key < span.keys; key += LANES) slope += weight[key] * d[key];
        slope = warp_sum(slope);
        for (int key = LANE; key < span.keys; key += LANES) d[key] = weight[key] * (d[key] - slope) * scale;
    }
}
