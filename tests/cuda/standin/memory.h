// The memory of the stand-in's GPUs: made to reveal reads of what was never written, accesses beyond an allocation,
// and uses after free. See memory.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ablate_standin {

// The address of a new allocation, or 0 if the GPU has not that much left.
uint64_t allocate(int device, size_t bytes, size_t limit);

// False if the address is not that of a live allocation.
bool release(uint64_t address);

// Frees what is left on the GPU.
void release_all(int device);

size_t used_bytes(int device);

// Whether all of the range lies in one live allocation. An empty range is in memory wherever it starts.
bool is_device_range(uint64_t address, size_t bytes);

// Whether the address is in, or at the end of, a live allocation.
bool is_device_pointer(uint64_t address);

// Where an address lies that no one may touch, in words. Meant for a signal handler that ends the process.
std::string describe_fault(uint64_t address);

}  // namespace ablate_standin
