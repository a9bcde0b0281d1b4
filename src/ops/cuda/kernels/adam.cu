// Adam and the norm of the gradient over all parameters in one launch each. A block has a chunk of one parameter.

#define CHUNK 4096
#define CHUNK_THREADS 256

// A parameter and what belongs to it, each of the same length.
struct Parameter {
    float *values, *gradient, *first, *second;
    unsigned length;
    // Chunks of all parameters before it.
    unsigned chunks_before;
};

struct Adam {
    float beta1, beta2, learning_rate, epsilon;
    // 1 / (1 - beta^t)
    float correction1, correction2;
};

// The last parameter whose chunks do not begin after this block's.
__device__ __forceinline__ Parameter parameter_of_block(int count, const Parameter *parameters) {
    int first = 0, end = count;
    while (end - first > 1) {
        int middle = (first + end) / 2;
        if (parameters[middle].chunks_before <= blockIdx.x) first = middle;
        else end = middle;
    }
    return parameters[first];
}

// Updates the parameters as dfdx does, and clears their gradients.
extern "C" __global__ void adam(int count, const Parameter *parameters, Adam adam) {
    const Parameter p = parameter_of_block(count, parameters);
    unsigned start = (blockIdx.x - p.chunks_before) * CHUNK, end = min(start + CHUNK, p.length);
    for (unsigned i = start + threadIdx.x; i < end; i += CHUNK_THREADS) {
        float g = p.gradient[i];
        float first = p.first[i] * adam.beta1 + g * (1.0f - adam.beta1);
        float second = p.second[i] * adam.beta2 + g * g * (1.0f - adam.beta2);
        p.first[i] = first;
        p.second[i] = second;
        p.values[i] -= adam.learning_rate * (first * adam.correction1) / (sqrtf(second * adam.correction2) + adam.epsilon);
        p.gradient[i] = 0.0f;
    }
}

// The sum of the squares of each chunk of the gradients.
extern "C" __global__ void chunk_squares(int count, const Parameter *parameters, double *sums) {
    __shared__ double of_threads[CHUNK_THREADS];
    const Parameter p = parameter_of_block(count, parameters);
    unsigned start = (blockIdx.x - p.chunks_before) * CHUNK, end = min(start + CHUNK, p.length);
    double sum = 0.0;
    for (unsigned i = start + threadIdx.x; i < end; i += CHUNK_THREADS) sum += (double)p.gradient[i] * p.gradient[i];
    of_threads[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    sum = 0.0;
    for (int thread = 0; thread < CHUNK_THREADS; thread++) sum += of_threads[thread];
    sums[blockIdx.x] = sum;
}
