// Layer normalisation with the residual connection before it. A warp has a row.

#define ROW ((int)(blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES))

// y = LayerNorm(x + mask * sublayer), where there is a sublayer. Keeps the normalised rows and one over each row's
// deviation for the backward pass.
extern "C" __global__ void add_norm(int rows, int width, Site site, const float *x, const float *sublayer,
                                    const float *weight, const float *bias, float epsilon, float *normalized,
                                    float *inverse_deviations, float *y) {
    int row = ROW;
    if (row >= rows) return;
    size_t first = (size_t)row * width;
    float sum = 0.0f;
    for (int i = LANE; i < width; i += LANES) {
        float value = x[first + i];
        if (sublayer) value += dropout_factor(site, first + i) * sublayer[first + i];
        normalized[first + i] = value;
        sum += value;
    }
    float mean = warp_sum(sum) / width;
    float squares = 0.0f;
    for (int i = LANE; i < width; i += LANES) {
        float value = normalized[first + i] - mean;
        squares += value * value;
    }
    float inverse = 1.0f / sqrtf(warp_sum(squares) / width + epsilon);
    for (int i = LANE; i < width; i += LANES) {
        float value = (normalized[first + i] - mean) * inverse;
        normalized[first + i] = value;
        y[first + i] = value * weight[i] + bias[i];
    }
    if (LANE == 0) inverse_deviations[row] = inverse;
}

// The gradient of the normalised sum, added to that of x, and through the mask to that of the sublayer.
extern "C" __global__ void add_norm_backward(int rows, int width, Site site, const float *d_y, const float *weight,
                                             const float *normalized, const float *inverse_deviations, float *d_x,
                                             float *d_sublayer) {
    int row = ROW;
    if (row >= rows) return;
    size_t first = (size_t)row * width;
    float sum = 0.0f, slope = 0.0f;
    for (int i = LANE; i < width; i += LANES) {
        float d = d_y[first + i] * weight[i];
        sum += d;
        slope += d * normalized[first + i];
    }
    sum = warp_sum(sum) / width;
    slope = warp_sum(slope) / width;
    for (int i = LANE; i < width; i += LANES) {
        float d = d_y[first + i] * weight[i];
        d = (d - sum - normalized[first + i] * slope) * inverse_deviations[row];
        d_x[first + i] += d;
        if (d_sublayer) d_sublayer[first + i] += dropout_factor(site, first + i) * d;
    }
}
