// Checks the stand-in for CUDA's libraries: `check FOLDER` runs all cases on the libraries in the folder.
//
// Each case runs in a process of its own, `check FOLDER CASE`, because many set variables that are read once, and some
// must end their process.
#include "check.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace check {
namespace {

std::string library_folder;

std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

// What a process wrote, and how it ended.
struct Ending {
    std::string output;
    int status;
};

Ending run_in_process(const char* program, const Case& each) {
    int ends[2];
    EXPECT(pipe(ends) == 0);
    const pid_t process = fork();
    if (process == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        for (const std::string& variable : each.environment) putenv(strdup(variable.c_str()));
        execl(program, program, library_folder.c_str(), each.name, nullptr);
        _exit(127);
    }
    close(ends[1]);
    Ending ending;
    char part[4096];
    for (ssize_t count; (count = read(ends[0], part, sizeof part)) > 0;) {
        ending.output.append(part, static_cast<size_t>(count));
    }
    close(ends[0]);
    EXPECT(waitpid(process, &ending.status, 0) == process);
    return ending;
}

bool is_as_expected(const Case& each, const Ending& ending) {
    if (each.dies_with.empty()) return ending.status == 0;
    bool said_all = true;
    for (const std::string& words : each.dies_with) said_all &= ending.output.find(words) != std::string::npos;
    return WIFSIGNALED(ending.status) && said_all;
}

int run_all(const char* program) {
    int failures = 0;
    for (const Case& each : cases()) {
        const Ending ending = run_in_process(program, each);
        const bool good = is_as_expected(each, ending);
        std::printf("%s %s\n", good ? "ok    " : "FAILED", each.name);
        if (!good || each.dies_with.empty()) std::fputs(ending.output.c_str(), stdout);
        if (!good) std::printf("(status %d)\n", ending.status);
        failures += good ? 0 : 1;
    }
    std::printf("%zu cases, %d failures\n", cases().size(), failures);
    return failures == 0 ? 0 : 1;
}

int run_one(const std::string& name) {
    for (const Case& each : cases()) {
        if (each.name != name) continue;
        each.run();
        return 0;
    }
    std::fprintf(stderr, "there is no case %s\n", name.c_str());
    return 2;
}

}  // namespace

Cases::Cases(std::vector<Case> added) {
    cases().insert(cases().end(), added.begin(), added.end());
}

void fail(const char* file, int line, const std::string& what) {
    std::fprintf(stderr, "%s:%d: not so: %s\n", file, line, what.c_str());
    std::exit(1);
}

const std::string& folder() {
    return library_folder;
}

Library::Library(const std::string& name) : handle(dlopen((folder() + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) fail(__FILE__, __LINE__, dlerror());
}

Symbol Library::operator()(const char* name) const {
    void* const address = dlsym(handle, name);
    if (address == nullptr) fail(__FILE__, __LINE__, dlerror());
    return {address};
}

Cuda& cuda() {
    static Cuda library;
    return library;
}

Nvrtc& nvrtc() {
    static Nvrtc library;
    return library;
}

Cublas& cublas() {
    static Cublas library;
    return library;
}

void open_gpu() {
    Handle context = nullptr;
    EXPECT(cuda().init(0) == 0);
    EXPECT(cuda().retain(&context, 0) == 0);
    EXPECT(cuda().set_current(context) == 0);
}

Address allocate(size_t bytes) {
    Address address = 0;
    EXPECT(cuda().alloc_async(&address, bytes, nullptr) == 0);
    return address;
}

unsigned compile(const std::string& source, std::string& ptx, std::string& log) {
    Handle program = nullptr;
    size_t size = 0;
    EXPECT(nvrtc().create(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) == 0);
    const char* const options[] = {"--gpu-architecture=compute_90", "--fmad=false"};
    const unsigned result = nvrtc().compile(program, 2, options);
    EXPECT(nvrtc().log_size(program, &size) == 0);
    log.resize(size);
    EXPECT(nvrtc().log(program, log.data()) == 0);
    if (result == 0) {
        EXPECT(nvrtc().ptx_size(program, &size) == 0);
        ptx.resize(size);
        EXPECT(nvrtc().ptx(program, ptx.data()) == 0 && ptx.back() == '\0');
    }
    EXPECT(nvrtc().destroy(&program) == 0 && program == nullptr);
    return result;
}

unsigned launch_status(Handle function, unsigned blocks, unsigned threads, std::vector<void*> parameters) {
    return cuda().launch(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters.data(), nullptr);
}

}  // namespace check

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: check FOLDER [CASE]\n");
        return 2;
    }
    check::library_folder = arguments[1];
    return count == 2 ? check::run_all("/proc/self/exe") : check::run_one(arguments[2]);
}
