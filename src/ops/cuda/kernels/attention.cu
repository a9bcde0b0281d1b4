// Attention within spans of packed rows (equation 1), head by head. Every product is one of three kinds: rows by rows
// to weights, weights by rows to the rows of the queries, and weights by rows to the rows of the keys.
// The weights of a span are [heads, queries, keys], the spans one after another.

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

// One head of the rows of a sentence, its numbers by depth.
__device__ __forceinline__ Side rows_of(const Heads &heads, int first, int count, int head) {
    return {head_row(heads, first, head), (size_t)heads.stride, 1, count};
}

// The same with its numbers in the places, and the rows by depth.
__device__ __forceinline__ Side columns_of(const Heads &heads, int first, int head) {
    return {head_row(heads, first, head), 1, (size_t)heads.stride, heads.width};
}

// weights[query, key] = a[query] . b[key]: scores, or the gradient of the weights.
template <class Kind>
__device__ __forceinline__ void multiply_rows(const Span &span, const Heads &a, const Heads &b, float *weights) {
    const int head = blockIdx.y;
    float *out = weights + head_weights(span, head);
    multiply<Kind>(rows_of(a, span.query, span.queries, head), rows_of(b, span.key, span.keys, head), a.width,
                   [&](int query, int key, float sum) { out[(size_t)query * span.keys + key] = sum; });
}

// out[query] = the sum over keys of weights[query, key] * b[key]: the mixed values, or the gradient of the queries.
template <class Kind>
__device__ __forceinline__ void mix_keys(const Span &span, const float *weights, const Heads &b, const Heads &out) {
    const int head = blockIdx.y;
    const Side left = {weights + head_weights(span, head), (size_t)span.keys, 1, span.queries};
    multiply<Kind>(left, columns_of(b, span.key, head), span.keys, [&](int query, int column, float sum) {
        head_row(out, span.query + query, head)[column] = sum;
    });
}

// out[key] = the sum over queries of weights[query, key] * b[query]: the gradient of the values or of the keys.
template <class Kind>
__device__ __forceinline__ void mix_queries(const Span &span, const float *weights, const Heads &b, const Heads &out) {
    const int head = blockIdx.y;
    const Side left = {weights + head_weights(span, head), 1, (size_t)span.keys, span.keys};
    multiply<Kind>(left, columns_of(b, span.query, head), span.queries, [&](int key, int column, float sum) {
        head_row(out, span.key + key, head)[column] = sum;
    });
}

// Each in f32, and with rounded operands. Grid: spans, heads.
extern "C" __global__ void rows_by_rows(const Span *spans, Heads a, Heads b, float *weights) {
    multiply_rows<Exact>(spans[blockIdx.x], a, b, weights);
}

extern "C" __global__ void rows_by_rows_rounded(const Span *spans, Heads a, Heads b, float *weights) {
    multiply_rows<Rounded>(spans[blockIdx.x], a, b, weights);
}

extern "C" __global__ void weights_by_keys(const Span *spans, const float *weights, Heads b, Heads out) {
    mix_keys<Exact>(spans[blockIdx.x], weights, b, out);
}

extern "C" __global__ void weights_by_keys_rounded(const Span *spans, const float *weights, Heads b, Heads out) {
    mix_keys<Rounded>(spans[blockIdx.x], weights, b, out);
}

extern "C" __global__ void weights_by_queries(const Span *spans, const float *weights, Heads b, Heads out) {
    mix_queries<Exact>(spans[blockIdx.x], weights, b, out);
}

extern "C" __global__ void weights_by_queries_rounded(const Span *spans, const float *weights, Heads b, Heads out) {
    mix_queries<Rounded>(spans[blockIdx.x], weights, b, out);
}

// The keys that a query may see: from `first` to before `end`. A window shows so many on each side of its own position.
struct Seen {
    int first, end;
};

__device__ __forceinline__ Seen seen_by(const Span &span, int causal, int window, int query) {
    int own = max(span.keys - span.queries, 0) + query;
    int end = causal ? own + 1 : span.keys;
    return {max(own - window, 0), window < end - own ? own + window + 1 : end};
}

// Scores to weights, in place: softmax over the keys that a query sees, zero for the others. A warp has a query.
// Grid: spans, heads.
extern "C" __global__ void softmax_within(const Span *spans, int causal, int window, float scale,
                                          float *weights) {
    const Span span = spans[blockIdx.x];
    float *of_head = weights + head_weights(span, blockIdx.y);
    for (int query = threadIdx.x / LANES; query < span.queries; query += blockDim.x / LANES) {
        float *row = of_head + (size_t)query * span.keys;
        const Seen seen = seen_by(span, causal, window, query);
        float largest = -INFINITE;
        for (int key = seen.first + LANE; key < seen.end; key += LANES) largest = fmaxf(largest, row[key] * scale);
        largest = warp_max(largest);
        float sum = 0.0f;
        for (int key = LANE; key < span.keys; key += LANES) {
            float weight = seen.first <= key && key < seen.end ? expf(row[key] * scale - largest) : 0.0f;
            row[key] = weight;
            sum += weight;
        }
        sum = warp_sum(sum);
        for (int key = seen.first + LANE; key < seen.end; key += LANES) row[key] /= sum;
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
