// What the checks of the stand-in share: its functions, as a program that loads the libraries sees them, and how a case
// is written. See check.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace check {

// ---- Cases ----

struct Case {
    const char* name;
    void (*run)();
    std::vector<std::string> environment = {};  // each as NAME=value
    std::vector<std::string> dies_with = {};    // what the process says as it dies; if empty, it lives
};

// Registers the cases of one file.
struct Cases {
    explicit Cases(std::vector<Case> cases);
};

[[noreturn]] void fail(const char* file, int line, const std::string& what);

#define EXPECT(condition)                                                \
    do {                                                                 \
        if (!(condition)) check::fail(__FILE__, __LINE__, #condition);   \
    } while (false)

// ---- Libraries ----

// Where the stand-in's libraries are.
const std::string& folder();

// A function of a library, as whatever type it is assigned to.
struct Symbol {
    void* address;
    template <typename Function>
    operator Function*() const {
        return reinterpret_cast<Function*>(address);
    }
};

struct Library {
    explicit Library(const std::string& name);
    Symbol operator()(const char* name) const;
    void* handle;
};

using Handle = void*;
using Address = uint64_t;

struct Cuda {
    Library library{"libcuda.so.1"};
    unsigned (*init)(unsigned) = library("cuInit");
    unsigned (*driver_version)(int*) = library("cuDriverGetVersion");
    unsigned (*error_name)(unsigned, const char**) = library("cuGetErrorName");
    unsigned (*error_string)(unsigned, const char**) = library("cuGetErrorString");
    unsigned (*device_count)(int*) = library("cuDeviceGetCount");
    unsigned (*device)(int*, int) = library("cuDeviceGet");
    unsigned (*device_name)(char*, int, int) = library("cuDeviceGetName");
    unsigned (*total_memory)(size_t*, int) = library("cuDeviceTotalMem_v2");
    unsigned (*attribute)(int*, int, int) = library("cuDeviceGetAttribute");
    unsigned (*retain)(Handle*, int) = library("cuDevicePrimaryCtxRetain");
    unsigned (*release)(int) = library("cuDevicePrimaryCtxRelease_v2");
    unsigned (*set_current)(Handle) = library("cuCtxSetCurrent");
    unsigned (*get_current)(Handle*) = library("cuCtxGetCurrent");
    unsigned (*synchronize)() = library("cuCtxSynchronize");
    unsigned (*create_stream)(Handle*, unsigned) = library("cuStreamCreate");
    unsigned (*destroy_stream)(Handle) = library("cuStreamDestroy_v2");
    unsigned (*synchronize_stream)(Handle) = library("cuStreamSynchronize");
    unsigned (*query_stream)(Handle) = library("cuStreamQuery");
    unsigned (*wait_event)(Handle, Handle, unsigned) = library("cuStreamWaitEvent");
    unsigned (*create_event)(Handle*, unsigned) = library("cuEventCreate");
    unsigned (*destroy_event)(Handle) = library("cuEventDestroy_v2");
    unsigned (*record_event)(Handle, Handle) = library("cuEventRecord");
    unsigned (*query_event)(Handle) = library("cuEventQuery");
    unsigned (*synchronize_event)(Handle) = library("cuEventSynchronize");
    unsigned (*elapsed_time)(float*, Handle, Handle) = library("cuEventElapsedTime");
    unsigned (*alloc)(Address*, size_t) = library("cuMemAlloc_v2");
    unsigned (*alloc_async)(Address*, size_t, Handle) = library("cuMemAllocAsync");
    unsigned (*free)(Address) = library("cuMemFree_v2");
    unsigned (*free_async)(Address, Handle) = library("cuMemFreeAsync");
    unsigned (*memory_info)(size_t*, size_t*) = library("cuMemGetInfo_v2");
    unsigned (*default_pool)(Handle*, int) = library("cuDeviceGetDefaultMemPool");
    unsigned (*set_pool_attribute)(Handle, int, void*) = library("cuMemPoolSetAttribute");
    unsigned (*set)(Address, unsigned char, size_t) = library("cuMemsetD8_v2");
    unsigned (*set_async)(Address, unsigned char, size_t, Handle) = library("cuMemsetD8Async");
    unsigned (*to_device)(Address, const void*, size_t) = library("cuMemcpyHtoD_v2");
    unsigned (*to_device_async)(Address, const void*, size_t, Handle) = library("cuMemcpyHtoDAsync_v2");
    unsigned (*to_host)(void*, Address, size_t) = library("cuMemcpyDtoH_v2");
    unsigned (*to_host_async)(void*, Address, size_t, Handle) = library("cuMemcpyDtoHAsync_v2");
    unsigned (*copy)(Address, Address, size_t) = library("cuMemcpyDtoD_v2");
    unsigned (*copy_async)(Address, Address, size_t, Handle) = library("cuMemcpyDtoDAsync_v2");
    unsigned (*load_data)(Handle*, const void*) = library("cuModuleLoadData");
    unsigned (*load)(Handle*, const char*) = library("cuModuleLoad");
    unsigned (*get_function)(Handle*, Handle, const char*) = library("cuModuleGetFunction");
    unsigned (*unload)(Handle) = library("cuModuleUnload");
    unsigned (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                       void**) = library("cuLaunchKernel");
};

struct Nvrtc {
    Library library{"libnvrtc.so.13"};
    unsigned (*version)(int*, int*) = library("nvrtcVersion");
    const char* (*error_string)(unsigned) = library("nvrtcGetErrorString");
    unsigned (*create)(Handle*, const char*, const char*, int, const char* const*, const char* const*) =
        library("nvrtcCreateProgram");
    unsigned (*destroy)(Handle*) = library("nvrtcDestroyProgram");
    unsigned (*compile)(Handle, int, const char* const*) = library("nvrtcCompileProgram");
    unsigned (*log_size)(Handle, size_t*) = library("nvrtcGetProgramLogSize");
    unsigned (*log)(Handle, char*) = library("nvrtcGetProgramLog");
    unsigned (*ptx_size)(Handle, size_t*) = library("nvrtcGetPTXSize");
    unsigned (*ptx)(Handle, char*) = library("nvrtcGetPTX");
};

struct Cublas {
    Library library{"libcublas.so.13"};
    unsigned (*create)(Handle*) = library("cublasCreate_v2");
    unsigned (*destroy)(Handle) = library("cublasDestroy_v2");
    unsigned (*version)(Handle, int*) = library("cublasGetVersion_v2");
    unsigned (*set_stream)(Handle, Handle) = library("cublasSetStream_v2");
    unsigned (*set_workspace)(Handle, Address, size_t) = library("cublasSetWorkspace_v2");
    unsigned (*set_math_mode)(Handle, unsigned) = library("cublasSetMathMode");
    unsigned (*get_math_mode)(Handle, unsigned*) = library("cublasGetMathMode");
    unsigned (*sgemm)(Handle, unsigned, unsigned, int, int, int, const float*, Address, int, Address, int, const float*,
                      Address, int) = library("cublasSgemm_v2");
    unsigned (*sgemm_batched)(Handle, unsigned, unsigned, int, int, int, const float*, Address, int, long long, Address,
                              int, long long, const float*, Address, int, long long, int) =
        library("cublasSgemmStridedBatched");
    unsigned (*gemm_ex)(Handle, unsigned, unsigned, int, int, int, const void*, Address, unsigned, int, Address,
                        unsigned, int, const void*, Address, unsigned, int, unsigned, int) = library("cublasGemmEx");
    unsigned (*gemm_batched_ex)(Handle, unsigned, unsigned, int, int, int, const void*, Address, unsigned, int,
                                long long, Address, unsigned, int, long long, const void*, Address, unsigned, int,
                                long long, int, unsigned, int) = library("cublasGemmStridedBatchedEx");
};

Cuda& cuda();
Nvrtc& nvrtc();
Cublas& cublas();

// ---- Shorter words for what most cases do ----

// Initializes CUDA and makes the context of GPU 0 current.
void open_gpu();

Address allocate(size_t bytes);

template <typename Value>
Address upload(const std::vector<Value>& values) {
    const Address address = allocate(values.size() * sizeof(Value));
    EXPECT(cuda().to_device(address, values.data(), values.size() * sizeof(Value)) == 0);
    return address;
}

template <typename Value>
std::vector<Value> download(Address address, size_t count) {
    std::vector<Value> values(count);
    EXPECT(cuda().to_host(values.data(), address, count * sizeof(Value)) == 0);
    return values;
}

// Compiles the source, or returns the log of what is wrong with it.
unsigned compile(const std::string& source, std::string& ptx, std::string& log);

// A function of the kernels in check_kernels.cpp.
Handle kernel(const char* name);

unsigned launch_status(Handle function, unsigned blocks, unsigned threads, std::vector<void*> parameters);

// Launches with arguments of exactly the types of the kernel's parameters.
template <typename... Arguments>
void launch(const char* name, unsigned blocks, unsigned threads, Arguments... arguments) {
    EXPECT(launch_status(kernel(name), blocks, threads, {&arguments...}) == 0);
}

}  // namespace check
