// What a compiled kernel and the driver know of each other.
//
// libnvrtc puts this text and then prelude.h in front of every kernel source; libcuda includes it. That is why it
// includes nothing itself.
#ifndef ABLATE_STANDIN_RUNTIME_H
#define ABLATE_STANDIN_RUNTIME_H

namespace ablate_standin {

struct Index {
    unsigned x, y, z;
};

// The built-in variables of CUDA. Each module has one set, which the driver sets before it lets a thread go on.
struct Builtins {
    Index thread, block, block_size, grid_size;
};

enum class WarpOperation { synchronize, ballot, any, all, shuffle, shuffle_up, shuffle_down, shuffle_xor };

// What one lane brings to a meeting with the other lanes of its warp.
struct WarpCall {
    WarpOperation operation;
    unsigned mask;
    unsigned long long value;
    unsigned operand;  // of a shuffle: the source lane, the distance or the bits to flip
    int width;         // of a shuffle: lanes per segment
    int line;          // of the kernel source
};

// What kernels ask of the driver. All of it may suspend the calling thread or end the process.
struct Runtime {
    void (*block_barrier)(int line);
    unsigned long long (*meet_in_warp)(const WarpCall* call);
    void (*fail)(int line, const char* what);
};

struct Kernel {
    const char* name;
    void (*run_thread)(void* const* parameters);
    const bool* is_pointer;  // for each parameter
    int parameter_count;
};

// What every module exports, as `ablate_standin_module`.
struct ModuleTable {
    const Kernel* kernels;
    int kernel_count;
    Builtins* builtins;
    const Runtime** runtime;
};

}  // namespace ablate_standin

#endif
