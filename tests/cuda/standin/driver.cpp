// A stand-in for libcuda: GPUs whose memory is that of the CPU, and whose kernels run on it.
//
// It has the functions that the safe layer of cudarc 0.9.15 calls. All work is done at once, so streams and events only
// have to exist. It refuses what a real driver refuses. At what a real driver lets pass, or reports much later, it ends
// the process with a message. Environment variables, read by the first `cuInit`:
//
// - ABLATE_STANDIN_DEVICES: how many GPUs there are, by default 1. CUDA_VISIBLE_DEVICES chooses among them.
// - ABLATE_STANDIN_MEMORY: bytes of memory of each GPU, by default 1 GiB.
// - ABLATE_STANDIN_ORDER: `forward`, `reverse` or `random:SEED`; see blocks.h.
// - ABLATE_STANDIN_LOG: a file, to which each launch and each call of cuBLAS appends a line.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "blocks.h"
#include "memory.h"
#include "modules.h"
#include "results.h"
#include "settings.h"
#include "standin.h"

namespace ablate_standin {

// ---- What the handles of the driver point to ----

// A GPU is also its primary context and its memory pool: there are no others.
struct Gpu {
    int ordinal;       // among those that the process sees
    int real_ordinal;  // among all
    int retained;      // how often its context is
};

struct Stream {};

struct Event {
    bool is_timed;
    std::optional<std::chrono::steady_clock::time_point> recorded;
};

namespace {

// Handles that were given out and not destroyed yet.
template <typename Value>
class Handles {
public:
    Value* add(Value value) {
        auto owned = std::make_unique<Value>(std::move(value));
        Value* const handle = owned.get();
        values_.emplace(handle, std::move(owned));
        return handle;
    }
    bool has(const Value* handle) const { return values_.count(handle) != 0; }
    bool remove(const Value* handle) { return values_.erase(handle) != 0; }

private:
    std::map<const Value*, std::unique_ptr<Value>> values_;
};

struct Driver {
    std::mutex mutex;
    bool initialized = false;
    Settings settings;
    std::vector<Gpu> gpus;
    Handles<Module> modules;
    Handles<Function> functions;
    Handles<Stream> streams;
    Handles<Event> events;
};

// Never destroyed: threads may still use it while the process exits.
Driver& driver() {
    static Driver& instance = *new Driver;
    return instance;
}

thread_local Gpu* current_context = nullptr;

using Lock = std::lock_guard<std::mutex>;

// Whether the calling thread has a context to work in. As all `check_` functions, for callers with the lock.
CUresult check_context() {
    if (!driver().initialized) return cuda_error_not_initialized;
    if (current_context == nullptr) return cuda_error_invalid_context;
    return current_context->retained == 0 ? cuda_error_context_is_destroyed : cuda_success;
}

CUresult check_device(int device) {
    if (!driver().initialized) return cuda_error_not_initialized;
    const bool exists = device >= 0 && static_cast<size_t>(device) < driver().gpus.size();
    return exists ? cuda_success : cuda_error_invalid_device;
}

// The null stream, which has two other names, always exists.
CUresult check_stream(const Stream* stream) {
    if (const CUresult error = check_context()) return error;
    const bool exists = reinterpret_cast<uintptr_t>(stream) <= 2 || driver().streams.has(stream);
    return exists ? cuda_success : cuda_error_invalid_handle;
}

CUresult check_event(const Event* event) {
    if (const CUresult error = check_context()) return error;
    return driver().events.has(event) ? cuda_success : cuda_error_invalid_handle;
}

CUresult lock_and_check_stream(const Stream* stream) {
    const Lock lock(driver().mutex);
    return check_stream(stream);
}

constexpr Stream* null_stream = nullptr;

}  // namespace

// ---- Errors and versions ----

ABLATE_STANDIN_EXPORT CUresult cuGetErrorName(CUresult error, const char** name) {
    for (const ResultText& text : result_texts) {
        if (text.result != error) continue;
        *name = text.name;
        return cuda_success;
    }
    *name = nullptr;
    return cuda_error_invalid_value;
}

ABLATE_STANDIN_EXPORT CUresult cuGetErrorString(CUresult error, const char** description) {
    for (const ResultText& text : result_texts) {
        if (text.result != error) continue;
        *description = text.description;
        return cuda_success;
    }
    *description = nullptr;
    return cuda_error_invalid_value;
}

ABLATE_STANDIN_EXPORT CUresult cuDriverGetVersion(int* version) {
    *version = 13000;
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuInit(unsigned flags) {
    if (flags != 0) return cuda_error_invalid_value;
    const Lock lock(driver().mutex);
    if (driver().initialized) return cuda_success;
    driver().settings = read_settings();
    if (driver().settings.gpus.empty()) return cuda_error_no_device;
    for (const int real_ordinal : driver().settings.gpus) {
        driver().gpus.push_back({static_cast<int>(driver().gpus.size()), real_ordinal, 0});
    }
    driver().initialized = true;
    return cuda_success;
}

// ---- Devices ----

ABLATE_STANDIN_EXPORT CUresult cuDeviceGetCount(int* count) {
    const Lock lock(driver().mutex);
    if (!driver().initialized) return cuda_error_not_initialized;
    *count = static_cast<int>(driver().gpus.size());
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuDeviceGet(int* device, int ordinal) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_device(ordinal)) return error;
    *device = ordinal;
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuDeviceGetName(char* name, int length, int device) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_device(device)) return error;
    if (name == nullptr || length <= 0) return cuda_error_invalid_value;
    std::snprintf(name, static_cast<size_t>(length), "Stand-in GPU");
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, int device) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_device(device)) return error;
    *bytes = driver().settings.memory;
    return cuda_success;
}

// By the numbers of `CUdevice_attribute`. What is not here is 0.
static int attribute_of(const Gpu& gpu, int attribute) {
    static const std::map<int, int> attributes = {
        {1, 1024},        // threads per block
        {2, 1024},        // threads per block in x
        {3, 1024},        // threads per block in y
        {4, 64},          // threads per block in z
        {5, INT32_MAX},   // blocks in x
        {6, 65535},       // blocks in y
        {7, 65535},       // blocks in z
        {8, 48 << 10},    // shared memory per block
        {9, 64 << 10},    // constant memory
        {10, 32},         // threads per warp
        {12, 65536},      // registers per block
        {13, 1980000},    // clock rate in kHz
        {16, 132},        // multiprocessors
        {36, 2619000},    // memory clock rate in kHz
        {37, 5120},       // memory bus width in bits
        {38, 50 << 20},   // L2 cache
        {39, 2048},       // threads per multiprocessor
        {41, 1},          // unified addressing
        {75, 9},          // compute capability, major
        {76, 0},          // compute capability, minor
        {81, 228 << 10},  // shared memory per multiprocessor
        {82, 65536},      // registers per multiprocessor
        {106, 32},        // blocks per multiprocessor
        {115, 1},         // memory pools
    };
    constexpr int pci_bus = 33;  // so that tests can tell which of several GPUs they see
    if (attribute == pci_bus) return gpu.real_ordinal + 1;
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? 0 : found->second;
}

ABLATE_STANDIN_EXPORT CUresult cuDeviceGetAttribute(int* value, int attribute, int device) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_device(device)) return error;
    *value = attribute_of(driver().gpus[static_cast<size_t>(device)], attribute);
    return cuda_success;
}

// ---- Contexts ----

ABLATE_STANDIN_EXPORT CUresult cuDevicePrimaryCtxRetain(Gpu** context, int device) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_device(device)) return error;
    *context = &driver().gpus[static_cast<size_t>(device)];
    ++(*context)->retained;
    return cuda_success;
}

// What is left in the memory of the GPU goes with its context.
ABLATE_STANDIN_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(int device) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_device(device)) return error;
    Gpu& gpu = driver().gpus[static_cast<size_t>(device)];
    if (gpu.retained == 0) return cuda_error_invalid_context;
    if (--gpu.retained == 0) release_all(gpu.ordinal);
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuCtxSetCurrent(Gpu* context) {
    const Lock lock(driver().mutex);
    if (!driver().initialized) return cuda_error_not_initialized;
    const auto is_context = [&](const Gpu& gpu) { return &gpu == context; };
    const bool exists = std::any_of(driver().gpus.begin(), driver().gpus.end(), is_context);
    if (context != nullptr && !exists) return cuda_error_invalid_context;
    current_context = context;
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuCtxGetCurrent(Gpu** context) {
    const Lock lock(driver().mutex);
    if (!driver().initialized) return cuda_error_not_initialized;
    *context = current_context;
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuCtxSynchronize() {
    return lock_and_check_stream(null_stream);
}

// ---- Streams and events ----

ABLATE_STANDIN_EXPORT CUresult cuStreamCreate(Stream** stream, unsigned) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_context()) return error;
    *stream = driver().streams.add({});
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuStreamDestroy_v2(Stream* stream) {
    const Lock lock(driver().mutex);
    return driver().streams.remove(stream) ? cuda_success : cuda_error_invalid_handle;
}

ABLATE_STANDIN_EXPORT CUresult cuStreamSynchronize(Stream* stream) {
    return lock_and_check_stream(stream);
}

ABLATE_STANDIN_EXPORT CUresult cuStreamQuery(Stream* stream) {
    return lock_and_check_stream(stream);
}

ABLATE_STANDIN_EXPORT CUresult cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_stream(stream)) return error;
    return check_event(event);
}

ABLATE_STANDIN_EXPORT CUresult cuEventCreate(Event** event, unsigned flags) {
    constexpr unsigned disable_timing = 2;
    const Lock lock(driver().mutex);
    if (const CUresult error = check_context()) return error;
    *event = driver().events.add({(flags & disable_timing) == 0, std::nullopt});
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuEventDestroy_v2(Event* event) {
    const Lock lock(driver().mutex);
    return driver().events.remove(event) ? cuda_success : cuda_error_invalid_handle;
}

ABLATE_STANDIN_EXPORT CUresult cuEventRecord(Event* event, Stream* stream) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_event(event)) return error;
    if (const CUresult error = check_stream(stream)) return error;
    event->recorded = std::chrono::steady_clock::now();
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuEventQuery(Event* event) {
    const Lock lock(driver().mutex);
    return check_event(event);
}

ABLATE_STANDIN_EXPORT CUresult cuEventSynchronize(Event* event) {
    const Lock lock(driver().mutex);
    return check_event(event);
}

ABLATE_STANDIN_EXPORT CUresult cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
    const Lock lock(driver().mutex);
    for (const Event* event : {start, end}) {
        if (const CUresult error = check_event(event)) return error;
        if (!event->is_timed || !event->recorded) return cuda_error_invalid_handle;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(*end->recorded - *start->recorded).count();
    return cuda_success;
}

// ---- Memory ----

ABLATE_STANDIN_EXPORT CUresult cuMemAllocAsync(uint64_t* address, size_t bytes, Stream* stream) {
    if (const CUresult error = lock_and_check_stream(stream)) return error;
    *address = allocate(current_context->ordinal, bytes, driver().settings.memory);
    return *address != 0 ? cuda_success : cuda_error_out_of_memory;
}

ABLATE_STANDIN_EXPORT CUresult cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    return cuMemAllocAsync(address, bytes, null_stream);
}

ABLATE_STANDIN_EXPORT CUresult cuMemFreeAsync(uint64_t address, Stream* stream) {
    if (const CUresult error = lock_and_check_stream(stream)) return error;
    return release(address) ? cuda_success : cuda_error_invalid_value;
}

ABLATE_STANDIN_EXPORT CUresult cuMemFree_v2(uint64_t address) {
    return cuMemFreeAsync(address, null_stream);
}

ABLATE_STANDIN_EXPORT CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
    if (const CUresult error = lock_and_check_stream(null_stream)) return error;
    *total = driver().settings.memory;
    *free = *total - used_bytes(current_context->ordinal);
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuDeviceGetDefaultMemPool(Gpu** pool, int device) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_device(device)) return error;
    *pool = &driver().gpus[static_cast<size_t>(device)];
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuMemPoolSetAttribute(Gpu* pool, int attribute, void* value) {
    constexpr int last_attribute = 8;
    const bool is_valid = pool != nullptr && value != nullptr && attribute >= 1 && attribute <= last_attribute;
    return is_valid ? cuda_success : cuda_error_invalid_value;
}

ABLATE_STANDIN_EXPORT CUresult cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, Stream* stream) {
    if (const CUresult error = lock_and_check_stream(stream)) return error;
    if (!is_device_range(address, bytes)) return cuda_error_invalid_value;
    if (bytes != 0) std::memset(reinterpret_cast<void*>(address), value, bytes);
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuMemsetD8_v2(uint64_t address, unsigned char value, size_t bytes) {
    return cuMemsetD8Async(address, value, bytes, null_stream);
}

ABLATE_STANDIN_EXPORT CUresult cuMemcpyHtoDAsync_v2(uint64_t target, const void* source, size_t bytes, Stream* stream) {
    if (const CUresult error = lock_and_check_stream(stream)) return error;
    if (bytes == 0) return cuda_success;
    const bool from_host = !is_device_pointer(reinterpret_cast<uint64_t>(source));
    if (!from_host || !is_device_range(target, bytes)) return cuda_error_invalid_value;
    std::memcpy(reinterpret_cast<void*>(target), source, bytes);
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuMemcpyHtoD_v2(uint64_t target, const void* source, size_t bytes) {
    return cuMemcpyHtoDAsync_v2(target, source, bytes, null_stream);
}

ABLATE_STANDIN_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* target, uint64_t source, size_t bytes, Stream* stream) {
    if (const CUresult error = lock_and_check_stream(stream)) return error;
    if (bytes == 0) return cuda_success;
    const bool to_host = !is_device_pointer(reinterpret_cast<uint64_t>(target));
    if (!to_host || !is_device_range(source, bytes)) return cuda_error_invalid_value;
    std::memcpy(target, reinterpret_cast<const void*>(source), bytes);
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuMemcpyDtoH_v2(void* target, uint64_t source, size_t bytes) {
    return cuMemcpyDtoHAsync_v2(target, source, bytes, null_stream);
}

// Ranges that overlap are refused, where a GPU would copy something.
ABLATE_STANDIN_EXPORT CUresult cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, Stream* stream) {
    if (const CUresult error = lock_and_check_stream(stream)) return error;
    if (bytes == 0) return cuda_success;
    const bool overlap = target < source + bytes && source < target + bytes;
    if (overlap || !is_device_range(target, bytes) || !is_device_range(source, bytes)) return cuda_error_invalid_value;
    std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), bytes);
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuMemcpyDtoD_v2(uint64_t target, uint64_t source, size_t bytes) {
    return cuMemcpyDtoDAsync_v2(target, source, bytes, null_stream);
}

// For the stand-in for libcublas.
ABLATE_STANDIN_EXPORT bool ablate_standin_is_device_range(const void* address, size_t bytes) {
    return is_device_range(reinterpret_cast<uint64_t>(address), bytes);
}

// ---- Modules ----

ABLATE_STANDIN_EXPORT CUresult cuModuleLoadData(Module** handle, const void* image) {
    if (handle == nullptr || image == nullptr) return cuda_error_invalid_value;
    const Lock lock(driver().mutex);
    if (const CUresult error = check_context()) return error;
    Module module;
    if (const CUresult error = load_module(static_cast<const char*>(image), module)) return error;
    *handle = driver().modules.add(std::move(module));
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuModuleLoad(Module** handle, const char* path) {
    if (handle == nullptr || path == nullptr) return cuda_error_invalid_value;
    std::ifstream file(path, std::ios::binary);
    if (!file) return cuda_error_file_not_found;
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return cuModuleLoadData(handle, text.c_str());
}

ABLATE_STANDIN_EXPORT CUresult cuModuleGetFunction(Function** handle, Module* module, const char* name) {
    const Lock lock(driver().mutex);
    if (const CUresult error = check_context()) return error;
    if (!driver().modules.has(module)) return cuda_error_invalid_handle;
    const auto known = module->functions.find(name);
    if (known != module->functions.end()) {
        *handle = known->second;
        return cuda_success;
    }
    const Kernel* const end = module->table->kernels + module->table->kernel_count;
    const auto has_name = [&](const Kernel& kernel) { return std::strcmp(kernel.name, name) == 0; };
    const Kernel* const kernel = std::find_if(module->table->kernels, end, has_name);
    if (kernel == end) return cuda_error_not_found;
    *handle = module->functions[name] = driver().functions.add({kernel, module});
    return cuda_success;
}

ABLATE_STANDIN_EXPORT CUresult cuModuleUnload(Module* module) {
    const Lock lock(driver().mutex);
    if (!driver().modules.has(module)) return cuda_error_invalid_handle;
    for (const auto& [name, function] : module->functions) driver().functions.remove(function);
    unload_module(*module);
    driver().modules.remove(module);
    return cuda_success;
}

// ---- Launches ----

// A real driver refuses these launches with an error that says little.
static void check_size(const char* kernel, const Index& grid, const Index& block, unsigned shared_bytes) {
    constexpr unsigned most_threads = 1024, most_threads_z = 64, most_blocks_yz = 65535;
    const auto refuse = [&](const char* why) {
        fatal(std::string("a launch of kernel `") + kernel + "` with grid " + show(grid) + " and block " + show(block) +
              why);
    };
    if (block.x == 0 || block.y == 0 || block.z == 0) refuse(": a block has no threads");
    if (block.z > most_threads_z) refuse(": a block has too many threads in z");
    if (uint64_t{block.x} * block.y > most_threads / block.z) refuse(": a block has too many threads");
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) refuse(": the grid has no blocks");
    if (grid.x > INT32_MAX || std::max(grid.y, grid.z) > most_blocks_yz) refuse(": the grid has too many blocks");
    if (shared_bytes != 0) refuse(": the stand-in supports no dynamic shared memory");
}

// Pointers inside of structures that are passed by value are not seen.
static CUresult check_pointers(const Kernel& kernel, void* const* parameters) {
    for (int number = 0; number < kernel.parameter_count; ++number) {
        if (!kernel.is_pointer[number]) continue;
        const uint64_t address = *static_cast<const uint64_t*>(parameters[number]);
        if (address == 0 || is_device_pointer(address)) continue;
        complain(std::string("kernel `") + kernel.name + "`: its parameter " + std::to_string(number) +
                 " points to no memory of a GPU");
        return cuda_error_illegal_address;
    }
    return cuda_success;
}

static std::string log_line(const Kernel& kernel, const Index& grid, const Index& block) {
    return std::string("kernel ") + kernel.name + " grid " + show(grid) + " block " + show(block);
}

// The kernel runs without the lock, so that other CPU threads can work on.
ABLATE_STANDIN_EXPORT CUresult cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                              unsigned block_x, unsigned block_y, unsigned block_z,
                                              unsigned shared_bytes, Stream* stream, void** parameters, void** extra) {
    Launch launch;
    {
        const Lock lock(driver().mutex);
        if (const CUresult error = check_stream(stream)) return error;
        if (!driver().functions.has(function)) return cuda_error_invalid_handle;
        const Module& module = *function->module;
        launch = {function->kernel,         module.table->builtins,      module.tls_module, module.shared_bytes,
                  {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, parameters,        driver().settings.order};
    }
    const Kernel& kernel = *launch.kernel;
    check_size(kernel.name, launch.grid_size, launch.block_size, shared_bytes);
    if (extra != nullptr) return cuda_error_not_supported;
    if (parameters == nullptr && kernel.parameter_count != 0) return cuda_error_invalid_value;
    if (const CUresult error = check_pointers(kernel, parameters)) return error;
    if (is_logging()) append_log(log_line(kernel, launch.grid_size, launch.block_size));
    run_kernel(launch);
    return cuda_success;
}

}  // namespace ablate_standin
