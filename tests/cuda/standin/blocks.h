// Runs the blocks of a kernel on the calling CPU thread. See blocks.cpp.
#pragma once

#include <cstddef>
#include <string>

#include "runtime.h"

namespace ablate_standin {

// In which order the blocks of a grid, and after each barrier the threads of a block, run.
struct Order {
    enum Kind { forward, reverse, random };
    Kind kind = forward;
    unsigned long long seed = 0;
};

struct Launch {
    const Kernel* kernel;
    Builtins* builtins;
    size_t tls_module;    // by which the C library finds the shared memory
    size_t shared_bytes;  // of all kernels of the module together
    Index grid_size;
    Index block_size;
    void* const* parameters;
    Order order;
};

// Returns when the kernel has ended. Launches of several CPU threads run one after another.
void run_kernel(const Launch& launch);

// What modules call; the driver gives it to each that it loads.
extern const Runtime kernel_runtime;

std::string show(const Index& index);

}  // namespace ablate_standin
