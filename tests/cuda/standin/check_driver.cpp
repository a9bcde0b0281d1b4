// Checks of GPUs, contexts, memory, streams, events and modules.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "check.h"

namespace check {
namespace {

void gpus() {
    int version = 0, count = 0, device = -1, value = 0;
    EXPECT(cuda().driver_version(&version) == 0 && version == 13000);
    EXPECT(cuda().device_count(&count) == 3);
    EXPECT(cuda().init(1) == 1);
    EXPECT(cuda().init(0) == 0 && cuda().init(0) == 0);
    EXPECT(cuda().device_count(&count) == 0 && count == 3);
    EXPECT(cuda().device(&device, 2) == 0 && device == 2);
    EXPECT(cuda().device(&device, 3) == 101 && cuda().device(&device, -1) == 101);
    char name[8];
    EXPECT(cuda().device_name(name, sizeof name, 0) == 0 && std::string(name) == "Stand-i");
    size_t bytes = 0;
    EXPECT(cuda().total_memory(&bytes, 1) == 0 && bytes == size_t{1} << 30);
    EXPECT(cuda().attribute(&value, 75, 0) == 0 && value == 9);
    EXPECT(cuda().attribute(&value, 76, 0) == 0 && value == 0);
    EXPECT(cuda().attribute(&value, 115, 0) == 0 && value == 1);
    EXPECT(cuda().attribute(&value, 16, 0) == 0 && value == 132);
    EXPECT(cuda().attribute(&value, 99, 0) == 0 && value == 0);
    const char* text = nullptr;
    EXPECT(cuda().error_name(218, &text) == 0 && std::string(text) == "CUDA_ERROR_INVALID_PTX");
    EXPECT(cuda().error_string(2, &text) == 0 && std::string(text) == "out of memory");
    EXPECT(cuda().error_name(12345, &text) == 1);
}

void visible_gpus() {
    int count = 0, bus = 0;
    EXPECT(cuda().init(0) == 0);
    EXPECT(cuda().device_count(&count) == 0 && count == 2);
    EXPECT(cuda().attribute(&bus, 33, 0) == 0 && bus == 4);
    EXPECT(cuda().attribute(&bus, 33, 1) == 0 && bus == 2);
}

void no_gpus() {
    EXPECT(cuda().init(0) == 100);
}

void contexts() {
    Address address = 0;
    Handle context = nullptr, found = nullptr;
    EXPECT(cuda().alloc(&address, 4) == 3);
    EXPECT(cuda().init(0) == 0);
    EXPECT(cuda().alloc(&address, 4) == 201);
    EXPECT(cuda().get_current(&found) == 0 && found == nullptr);
    EXPECT(cuda().retain(&context, 0) == 0 && cuda().set_current(context) == 0);
    EXPECT(cuda().get_current(&found) == 0 && found == context);
    std::thread([&] { EXPECT(cuda().alloc(&address, 4) == 201); }).join();
    EXPECT(cuda().alloc(&address, 4) == 0);
    EXPECT(cuda().synchronize() == 0);
    EXPECT(cuda().release(0) == 0 && cuda().release(0) == 201);
    EXPECT(cuda().alloc(&address, 4) == 709);
    EXPECT(cuda().retain(&context, 0) == 0);
    size_t free = 0, total = 0;
    EXPECT(cuda().memory_info(&free, &total) == 0 && free == total);
    EXPECT(cuda().set_current(&free) == 201);
}

void memory_is_poisoned_and_copied() {
    open_gpu();
    for (const size_t bytes : {1, 4, 16, 100, 4096, 10000, 1 << 20}) {
        const Address from = allocate(bytes), to = allocate(bytes);
        EXPECT(from % 16 == 0);
        for (const unsigned char value : download<unsigned char>(from, bytes)) EXPECT(value == 0xFF);
        EXPECT(cuda().set(from, 7, bytes) == 0 && cuda().set_async(from, 9, 1, nullptr) == 0);
        EXPECT(cuda().copy(to, from, bytes) == 0);
        std::vector<unsigned char> expected(bytes, 7);
        expected[0] = 9;
        EXPECT(download<unsigned char>(to, bytes) == expected);
        EXPECT(cuda().copy_async(to, from, bytes / 2, nullptr) == 0);
        EXPECT(cuda().free(from) == 0 && cuda().free_async(to, nullptr) == 0);
    }
    for (int round = 0; round < 20; ++round) {
        const Address address = allocate(5000);
        EXPECT(std::isnan(download<float>(address, 1250)[round]));
        EXPECT(cuda().set(address, 0, 5000) == 0 && cuda().free(address) == 0);
    }
}

void memory_refuses_what_is_not_its_own() {
    open_gpu();
    std::vector<float> host(8), other(8);
    const Address device = allocate(32), freed = allocate(32);
    const Address host_address = reinterpret_cast<Address>(host.data());
    EXPECT(cuda().free(freed) == 0 && cuda().free(freed) == 1);
    EXPECT(cuda().free(device + 16) == 1 && cuda().free(host_address) == 1);
    for (const Address bad : {host_address, freed, device + 4, device - 4, Address{0}}) {
        EXPECT(cuda().to_device(bad, other.data(), 32) == 1);
        EXPECT(cuda().to_host(other.data(), bad, 32) == 1);
        EXPECT(cuda().copy(bad, device, 32) == 1 && cuda().copy(device, bad, 32) == 1);
        EXPECT(cuda().set(bad, 0, 32) == 1);
        EXPECT(cuda().set(bad, 0, 0) == 0);
    }
    EXPECT(cuda().to_device(device, reinterpret_cast<void*>(device), 4) == 1);
    EXPECT(cuda().to_host(reinterpret_cast<void*>(device), device, 4) == 1);
    EXPECT(cuda().copy(device + 4, device, 8) == 1);
}

void memory_has_an_end() {
    open_gpu();
    Address first = 0, second = 0, empty = 0;
    size_t free = 0, total = 0;
    EXPECT(cuda().alloc(&first, 1001) == 2);
    EXPECT(cuda().alloc(&first, 600) == 0);
    EXPECT(cuda().alloc_async(&second, 401, nullptr) == 2);
    EXPECT(cuda().alloc(&second, 400) == 0);
    EXPECT(cuda().memory_info(&free, &total) == 0 && free == 0 && total == 1000);
    EXPECT(cuda().alloc(&empty, 0) == 0 && empty != 0);
    EXPECT(cuda().free(empty) == 0 && cuda().free(first) == 0);
    EXPECT(cuda().memory_info(&free, &total) == 0 && free == 600);
    Handle pool = nullptr;
    uint64_t threshold = 1 << 20;
    EXPECT(cuda().default_pool(&pool, 0) == 0 && cuda().set_pool_attribute(pool, 4, &threshold) == 0);
    EXPECT(cuda().set_pool_attribute(pool, 0, &threshold) == 1);
}

void gpus_have_memory_of_their_own() {
    Handle contexts[2];
    Address address = 0;
    EXPECT(cuda().init(0) == 0);
    for (int device = 0; device < 2; ++device) {
        EXPECT(cuda().retain(&contexts[device], device) == 0 && cuda().set_current(contexts[device]) == 0);
        EXPECT(cuda().alloc(&address, 1000) == 0);
    }
    EXPECT(cuda().alloc(&address, 1) == 2);
}

void streams_and_events() {
    open_gpu();
    Handle stream = nullptr, start = nullptr, end = nullptr, untimed = nullptr;
    float milliseconds = -1;
    EXPECT(cuda().create_stream(&stream, 1) == 0);
    EXPECT(cuda().create_event(&start, 0) == 0 && cuda().create_event(&end, 0) == 0);
    EXPECT(cuda().create_event(&untimed, 2) == 0);
    EXPECT(cuda().elapsed_time(&milliseconds, start, end) == 400);
    EXPECT(cuda().record_event(start, stream) == 0);
    usleep(2000);
    EXPECT(cuda().record_event(end, stream) == 0 && cuda().record_event(untimed, nullptr) == 0);
    EXPECT(cuda().elapsed_time(&milliseconds, start, end) == 0 && milliseconds >= 2);
    EXPECT(cuda().elapsed_time(&milliseconds, start, untimed) == 400);
    EXPECT(cuda().wait_event(stream, end, 0) == 0 && cuda().wait_event(nullptr, end, 0) == 0);
    EXPECT(cuda().query_event(end) == 0 && cuda().synchronize_event(end) == 0);
    EXPECT(cuda().query_stream(stream) == 0 && cuda().synchronize_stream(stream) == 0);
    EXPECT(cuda().destroy_event(end) == 0 && cuda().destroy_event(end) == 400 && cuda().query_event(end) == 400);
    EXPECT(cuda().destroy_stream(stream) == 0 && cuda().synchronize_stream(stream) == 400);
}

void only_its_own_modules() {
    open_gpu();
    Handle module = nullptr;
    EXPECT(cuda().load_data(&module, "") == 218);
    EXPECT(cuda().load_data(&module, ".version 8.0\n.target sm_90\n.address_size 64\n") == 218);
    EXPECT(cuda().load_data(&module, "//ABLATE-STANDIN-MODULE\n/nowhere/at/all.so\n") == 303);
    EXPECT(cuda().load(&module, "/nowhere/at/all.ptx") == 301);
    std::string ptx, log;
    EXPECT(compile("extern \"C\" __global__ void one(int* x) { *x = 1; }", ptx, log) == 0 && log.size() == 1);
    const std::string path = folder() + "/one.ptx";
    std::ofstream(path) << ptx.c_str();
    Handle function = nullptr, again = nullptr;
    EXPECT(cuda().load(&module, path.c_str()) == 0);
    EXPECT(cuda().get_function(&function, module, "two") == 500);
    EXPECT(cuda().get_function(&function, module, "one") == 0);
    EXPECT(cuda().get_function(&again, module, "one") == 0 && again == function);
    Address x = allocate(4);
    EXPECT(launch_status(function, 1, 1, {&x}) == 0 && download<int>(x, 1)[0] == 1);
    EXPECT(cuda().unload(module) == 0 && cuda().unload(module) == 400);
    EXPECT(launch_status(function, 1, 1, {&x}) == 400);
}

void modules_load_again() {
    open_gpu();
    std::string ptx, log;
    const char* const text =
        "extern \"C\" __global__ void pass_on(int* x) { __shared__ int s[999]; s[*x] = 5; *x += s[*x]; }";
    EXPECT(compile(text, ptx, log) == 0);
    const Address x = upload<int>({0});
    for (int round = 0; round < 50; ++round) {
        Handle module = nullptr, function = nullptr;
        EXPECT(cuda().load_data(&module, ptx.data()) == 0 && cuda().get_function(&function, module, "pass_on") == 0);
        Address argument = x;
        EXPECT(launch_status(function, 1, 1, {&argument}) == 0 && cuda().unload(module) == 0);
    }
    EXPECT(download<int>(x, 1)[0] == 250);
}

void compilation() {
    int major = 0, minor = -1;
    std::string ptx, log;
    Handle program = nullptr;
    EXPECT(nvrtc().version(&major, &minor) == 0 && major == 13 && minor == 0);
    EXPECT(compile("extern \"C\" __global__ void k(float* x) {\n\n  x[0] = y;\n}\n", ptx, log) == 6);
    EXPECT(log.find("kernels.cu:3:10: error:") != std::string::npos);
    EXPECT(compile("extern \"C\" __global__ void k(", ptx, log) == 6);
    EXPECT(compile("#error no GPU\n", ptx, log) == 6 && log.find("no GPU") != std::string::npos);
    EXPECT(compile("extern \"C\" __global__ void k() { extern __shared__ float s[]; s[0] = 1; }", ptx, log) == 6);
    EXPECT(std::string(nvrtc().error_string(6)) == "NVRTC_ERROR_COMPILATION");
    EXPECT(nvrtc().create(&program, "", nullptr, 0, nullptr, nullptr) == 0);
    const char* const option = "-DX=1";
    EXPECT(nvrtc().compile(program, 1, &option) == 5);
    size_t size = 0;
    EXPECT(nvrtc().ptx_size(program, &size) == 4);
    EXPECT(nvrtc().compile(program, 0, nullptr) == 0 && nvrtc().destroy(&program) == 0);
}

void log_of_work() {
    open_gpu();
    const Address x = allocate(16);
    launch("no_work", 3, 64);
    Handle handle = nullptr;
    const float one = 1, zero = 0;
    EXPECT(cublas().create(&handle) == 0);
    EXPECT(cublas().sgemm(handle, 0, 0, 2, 1, 2, &one, x, 2, x, 2, &zero, x, 2) == 0);
    std::ifstream file(std::getenv("ABLATE_STANDIN_LOG"));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT(text == "kernel no_work grid (3,1,1) block (64,1,1)\ncublas cublasSgemm_v2 m 2 n 1 k 2 count 1\n");
    unlink(std::getenv("ABLATE_STANDIN_LOG"));
}

void senseless_setting() {
    cuda().init(0);
}

const Cases registered({
    {"gpus", gpus, {"ABLATE_STANDIN_DEVICES=3"}},
    {"visible_gpus", visible_gpus, {"ABLATE_STANDIN_DEVICES=4", "CUDA_VISIBLE_DEVICES=3,1,7,0"}},
    {"no_gpus", no_gpus, {"CUDA_VISIBLE_DEVICES="}},
    {"senseless_setting", senseless_setting, {"ABLATE_STANDIN_ORDER=random:x"}, {"`x`, which is no number"}},
    {"contexts", contexts},
    {"memory_is_poisoned_and_copied", memory_is_poisoned_and_copied},
    {"memory_refuses_what_is_not_its_own", memory_refuses_what_is_not_its_own},
    {"memory_has_an_end", memory_has_an_end, {"ABLATE_STANDIN_MEMORY=1000"}},
    {"gpus_have_memory_of_their_own",
     gpus_have_memory_of_their_own,
     {"ABLATE_STANDIN_MEMORY=1000", "ABLATE_STANDIN_DEVICES=2"}},
    {"streams_and_events", streams_and_events},
    {"only_its_own_modules", only_its_own_modules},
    {"modules_load_again", modules_load_again},
    {"compilation", compilation},
    {"log_of_work", log_of_work, {"ABLATE_STANDIN_LOG=standin.log"}},
});

}  // namespace
}  // namespace check
