// Softmax and label-smoothed cross-entropy (section 5.4) of rows of logits.

#define LOSS_THREADS 256

// One number of each warp put together, the same for every thread of the block.
template <class Join> __device__ __forceinline__ float join_warps(float value, Join join) {
    __shared__ float of_warps[LOSS_THREADS / LANES];
    __syncthreads();
    if (LANE == 0) of_warps[threadIdx.x / LANES] = value;
    __syncthreads();
    value = of_warps[0];
    for (int warp = 1; warp < LOSS_THREADS / LANES; warp++) value = join(value, of_warps[warp]);
    return value;
}

__device__ __forceinline__ float block_sum(float value) {
    return join_warps(warp_sum(value), [](float a, float b) { return a + b; });
}

__device__ __forceinline__ float block_max(float value) {
    return join_warps(warp_max(value), [](float a, float b) { return fmaxf(a, b); });
}

struct Normalizer {
    float largest, sum;
};

// ln(sum of e^logit) = largest + ln(sum). A block has the row.
__device__ __forceinline__ Normalizer normalizer(int classes, const float *row) {
    float largest = -INFINITE;
    for (int i = threadIdx.x; i < classes; i += LOSS_THREADS) largest = fmaxf(largest, row[i]);
    largest = block_max(largest);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < classes; i += LOSS_THREADS) sum += expf(row[i] - largest);
    return {largest, block_sum(sum)};
}

// The losses of each row: smoothed, and negative log-likelihood. A block has a row.
// The logits become the gradient of scale * smoothed, in bf16 elsewhere where `rounded` is given, or stay.
extern "C" __global__ void loss_rows(int classes, const unsigned *labels, float smoothing, float scale,
                                     int with_gradient, float *logits, unsigned short *rounded, double *losses) {
    float *row = logits + (size_t)blockIdx.x * classes;
    const unsigned label = labels[blockIdx.x];
    const float right = row[label];
    float all = 0.0f;
    for (int i = threadIdx.x; i < classes; i += LOSS_THREADS) all += row[i];
    all = block_sum(all);
    const Normalizer z = normalizer(classes, row);
    if (threadIdx.x == 0) {
        double log_z = (double)z.largest + log((double)z.sum);
        double nll = log_z - right, mean_nll = log_z - (double)all / classes;
        losses[2 * blockIdx.x] = (1.0 - (double)smoothing) * nll + (double)smoothing * mean_nll;
        losses[2 * blockIdx.x + 1] = nll;
    }
    if (!with_gradient) return;
    // Nobody reads the label's logit after another thread has overwritten it.
    __syncthreads();
    const float factor = scale / z.sum, even = smoothing / classes * scale;
    for (int i = threadIdx.x; i < classes; i += LOSS_THREADS) {
        float d = expf(row[i] - z.largest) * factor - even;
        if (i == label) d -= (1.0f - smoothing) * scale;
        if (rounded) rounded[(size_t)blockIdx.x * classes + i] = to_bf16(d);
        else row[i] = d;
    }
}

// Sums of the two losses of all rows. One block.
extern "C" __global__ void sum_losses(int rows, const double *losses, double *sums) {
    __shared__ double of_threads[2][LOSS_THREADS];
    for (int kind = 0; kind < 2; kind++) {
        double sum = 0.0;
        for (int row = threadIdx.x; row < rows; row += LOSS_THREADS) sum += losses[2 * row + kind];
        of_threads[kind][threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x >= 2) return;
    double sum = 0.0;
    for (int thread = 0; thread < LOSS_THREADS; thread++) sum += of_threads[threadIdx.x][thread];
    sums[threadIdx.x] = sum;
}
