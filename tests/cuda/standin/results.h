// The results of libcuda's functions that the stand-in gives.
#pragma once

namespace ablate_standin {

enum CUresult : unsigned {
    cuda_success = 0,
    cuda_error_invalid_value = 1,
    cuda_error_out_of_memory = 2,
    cuda_error_not_initialized = 3,
    cuda_error_no_device = 100,
    cuda_error_invalid_device = 101,
    cuda_error_invalid_context = 201,
    cuda_error_invalid_ptx = 218,
    cuda_error_file_not_found = 301,
    cuda_error_shared_object_init_failed = 303,
    cuda_error_invalid_handle = 400,
    cuda_error_not_found = 500,
    cuda_error_illegal_address = 700,
    cuda_error_context_is_destroyed = 709,
    cuda_error_not_supported = 801,
};

struct ResultText {
    CUresult result;
    const char* name;
    const char* description;
};

constexpr ResultText result_texts[] = {
    {cuda_success, "CUDA_SUCCESS", "no error"},
    {cuda_error_invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {cuda_error_out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {cuda_error_not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {cuda_error_no_device, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {cuda_error_invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {cuda_error_invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {cuda_error_invalid_ptx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {cuda_error_file_not_found, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {cuda_error_shared_object_init_failed, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
     "shared object initialization failed"},
    {cuda_error_invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {cuda_error_not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {cuda_error_illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {cuda_error_context_is_destroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {cuda_error_not_supported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

}  // namespace ablate_standin
