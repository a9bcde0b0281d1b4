// Products of small matrices by tiles: in f32 by every thread for itself, or with operands rounded to bf16 by tensor cores.

// A block computes TILE x TILE sums at a time, TILE steps of depth at a time. Its two warps have 16 rows each.
#define TILE 32
#define TILE_THREADS 64
#define EACH 4

// A matrix that a product sums over: rows of the result, or columns, by depth.
struct Side {
    const float *data;
    // From one place to the next, and from one step of depth to the next.
    size_t place_stride, depth_stride;
    int places;
};

// The number at a place and a depth, 0 where there is none.
__device__ __forceinline__ float number_at(const Side &side, int place, int at, int depth) {
    return place < side.places && at < depth ? side.data[place * side.place_stride + at * side.depth_stride] : 0.0f;
}

// Whether neighbours in depth are neighbours in memory; else neighbours in place are. Threads read neighbours.
__device__ __forceinline__ bool is_by_depth(const Side &side) { return side.depth_stride == 1; }

// The sums of one tile. Which of them a thread has depends on how they were computed.
struct Sums {
    float of[EACH][EACH];
};

// ---- In f32: thread t has the rows t / 8 + 8 i and the columns t % 8 + 8 j ----

struct Exact {
    float lefts[TILE][TILE + 1];
    float rights[TILE][TILE + 1];

    static __device__ __forceinline__ int row_of(int i, int) { return threadIdx.x / 8 + 8 * i; }
    static __device__ __forceinline__ int column_of(int, int j) { return threadIdx.x % 8 + 8 * j; }

    static __device__ __forceinline__ void load(float (&to)[TILE][TILE + 1], const Side &side, int first, int start,
                                                int depth) {
        bool by_depth = is_by_depth(side);
        for (int n = threadIdx.x; n < TILE * TILE; n += TILE_THREADS) {
            int place = by_depth ? n / TILE : n % TILE, at = by_depth ? n % TILE : n / TILE;
            to[place][at] = number_at(side, first + place, start + at, depth);
        }
    }

    __device__ __forceinline__ void multiply(Sums &sums, int, int) const {
        const int row = threadIdx.x / 8, column = threadIdx.x % 8;
#pragma unroll
        for (int at = 0; at < TILE; at++) {
            float x[EACH], y[EACH];
            for (int i = 0; i < EACH; i++) {
                x[i] = lefts[row + 8 * i][at];
                y[i] = rights[column + 8 * i][at];
            }
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++) sums.of[i][j] = fmaf(x[i], y[j], sums.of[i][j]);
        }
    }
};

// ---- In bf16: tensor cores add [16, 16] . [16, 8] to [16, 8] ----

// Two numbers rounded to bf16, the first in the lower half.
__device__ __forceinline__ unsigned pair_of_bf16(float first, float second) {
    return to_bf16(first) | (unsigned)to_bf16(second) << 16;
}

__device__ __forceinline__ float first_of(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float second_of(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

// sums [16, 8] += a [16, 16] . b [16, 8], the operands and the sums spread over a warp as `mma` has them: lane 4 g + t has
// of a the rows g and g + 8 and the depths 2 t, 2 t + 1, and these + 8; of b the column g likewise; of the sums the rows g
// and g + 8 and the columns 2 t and 2 t + 1.
__device__ __forceinline__ void add_product(float (&sums)[EACH], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    const int group = LANE / 4, within = LANE % 4;
    for (int half = 0; half < 2; half++)
        for (int pair = 0; pair < 4; pair++) {
            unsigned rows[2], columns[2];
            for (int i = 0; i < 2; i++) {
                rows[i] = __shfl_sync(ALL_LANES, a[2 * half + i], 4 * group + pair);
                columns[i] = __shfl_sync(ALL_LANES, b[half], 4 * (2 * within + i) + pair);
            }
            for (int i = 0; i < EACH; i++) {
                unsigned x = rows[i / 2], y = columns[i % 2];
                sums[i] += first_of(x) * first_of(y) + second_of(x) * second_of(y);
            }
        }
#endif
}

struct Rounded {
    // Pairs of neighbours in depth. The padding keeps the rows that a warp reads at once in different banks.
    unsigned lefts[TILE][TILE / 2 + 4];
    unsigned rights[TILE][TILE / 2 + 4];

    static __device__ __forceinline__ int row_of(int, int j) {
        return 16 * (threadIdx.x / LANES) + LANE / 4 + 8 * (j / 2);
    }
    static __device__ __forceinline__ int column_of(int i, int j) { return 8 * i + 2 * (LANE % 4) + j % 2; }

    static __device__ __forceinline__ void load(unsigned (&to)[TILE][TILE / 2 + 4], const Side &side, int first,
                                                int start, int depth) {
        const int pairs = TILE / 2;
        bool by_depth = is_by_depth(side);
        for (int n = threadIdx.x; n < TILE * pairs; n += TILE_THREADS) {
            int place = by_depth ? n / pairs : n % TILE, pair = by_depth ? n % pairs : n / TILE;
            int at = start + 2 * pair;
            to[place][pair] = pair_of_bf16(number_at(side, first + place, at, depth),
                                           number_at(side, first + place, at + 1, depth));
        }
    }

    // Only what there is of the tile: `rows` and `columns` count from its corner.
    __device__ __forceinline__ void multiply(Sums &sums, int rows, int columns) const {
        const int first = 16 * (threadIdx.x / LANES), group = LANE / 4, within = LANE % 4;
        if (first >= rows) return;
        for (int step = 0; step < TILE / 16; step++) {
            const int pair = 8 * step + within;
            const unsigned a[4] = {lefts[first + group][pair], lefts[first + group + 8][pair],
                                   lefts[first + group][pair + 4], lefts[first + group + 8][pair + 4]};
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                if (8 * i >= columns) break;
                const unsigned b[2] = {rights[8 * i + group][pair], rights[8 * i + group][pair + 4]};
                add_product(sums.of[i], a, b);
            }
        }
    }
};

// Hands every number of left [rows, depth] . right [columns, depth]^T to `write`, with its row and column. A block.
template <class Kind, class Write>
__device__ __forceinline__ void multiply(const Side &left, const Side &right, int depth, Write write) {
    __shared__ Kind tile;
    for (int row = 0; row < left.places; row += TILE)
        for (int column = 0; column < right.places; column += TILE) {
            Sums sums = {};
            for (int start = 0; start < depth; start += TILE) {
                Kind::load(tile.lefts, left, row, start, depth);
                Kind::load(tile.rights, right, column, start, depth);
                __syncthreads();
                tile.multiply(sums, left.places - row, right.places - column);
                __syncthreads();
            }
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++) {
                    int to_row = row + Kind::row_of(i, j), to_column = column + Kind::column_of(i, j);
                    if (to_row < left.places && to_column < right.places) write(to_row, to_column, sums.of[i][j]);
                }
        }
}
