// What translation needs beyond the forward kernels: attention to the steps before, and the likeliest classes.

// The rows of one step: queries, keys and values of all heads side by side, [rows, stride].
// weights is [rows, heads, steps]; ancestors[row, step] is the number of the row's ancestor within that step.
// The steps before `first` lie outside the window. A warp has a row and a head. Grid: rows, heads.
extern "C" __global__ void attend_history(int first, int steps, const float *const *history, const unsigned *ancestors,
                                          int key_width, int value_width, float scale, float *weights, float *out) {
    const int row = blockIdx.x, head = blockIdx.y, heads = gridDim.y;
    const size_t stride = (size_t)heads * (2 * key_width + value_width);
    const unsigned *ancestor = ancestors + (size_t)row * steps;
    float *weight = weights + ((size_t)row * heads + head) * steps;
    const float *query = history[steps - 1] + row * stride + head * key_width;
    float largest = -INFINITE;
    for (int step = first + LANE; step < steps; step += LANES) {
        const float *key = history[step] + ancestor[step] * stride + (heads + head) * key_width;
        float score = 0.0f;
        for (int i = 0; i < key_width; i++) score = fmaf(query[i], key[i], score);
        weight[step] = score * scale;
        largest = fmaxf(largest, score * scale);
    }
    largest = warp_max(largest);
    float sum = 0.0f;
    for (int step = first + LANE; step < steps; step += LANES) {
        weight[step] = expf(weight[step] - largest);
        sum += weight[step];
    }
    sum = warp_sum(sum);
    // The lanes read what other lanes wrote.
    __syncwarp();
    for (int i = LANE; i < value_width; i += LANES) {
        float mixed = 0.0f;
        for (int step = first; step < steps; step++) {
            const float *value = history[step] + ancestor[step] * stride + 2 * heads * key_width + head * value_width;
            mixed = fmaf(weight[step], value[i], mixed);
        }
        out[((size_t)row * heads + head) * value_width + i] = mixed / sum;
    }
}

struct Candidate {
    float logit;
    unsigned class_;
};

// Of equals, the one with the smaller number. What is no number comes after all that are.
__device__ __forceinline__ bool better(const Candidate &a, const Candidate &b) {
    return a.logit > b.logit || (a.logit == b.logit && a.class_ < b.class_);
}

__device__ __forceinline__ Candidate candidate(float logit, unsigned class_) {
    return {logit == logit ? logit : -INFINITE, class_};
}

// The k likeliest classes of each row with their log-probabilities, and that of the class `asked`, at the end of the
// row: [rows, k + 1]. A block has a row; each round finds the best of those that come after the last one found.
extern "C" __global__ void rank_rows(int classes, int k, unsigned asked, const float *logits, unsigned *best,
                                     double *log_probabilities) {
    __shared__ Candidate of_threads[LOSS_THREADS];
    __shared__ Candidate found;
    const float *row = logits + (size_t)blockIdx.x * classes;
    const Normalizer z = normalizer(classes, row);
    const double log_z = (double)z.largest + log((double)z.sum);
    double *out = log_probabilities + (size_t)blockIdx.x * (k + 1);
    for (int round = 0; round < k; round++) {
        Candidate mine = {-INFINITE, 0xffffffffu};
        for (int i = threadIdx.x; i < classes; i += LOSS_THREADS) {
            Candidate next = candidate(row[i], i);
            if ((round == 0 || better(found, next)) && better(next, mine)) mine = next;
        }
        of_threads[threadIdx.x] = mine;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int thread = 1; thread < LOSS_THREADS; thread++)
                if (better(of_threads[thread], mine)) mine = of_threads[thread];
            found = mine;
            best[(size_t)blockIdx.x * k + round] = mine.class_;
            out[round] = row[mine.class_] - log_z;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) out[k] = row[asked] - log_z;
}
