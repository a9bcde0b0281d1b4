// A stand-in for libnvrtc: compiles kernels for the CPU, with g++.
//
// What it gives out as PTX is a magic line and the path of a shared library, which the stand-in for libcuda loads. The
// libraries stay in a folder, and every process that compiles the same source uses them again. ABLATE_STANDIN_CACHE
// names the folder; by default it is one of the user's, among the temporary files of the system.
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "standin.h"

// The two headers, as text.
asm(R"(
.pushsection .rodata
ablate_standin_prelude:
.incbin "runtime.h"
.incbin "prelude.h"
.byte 0
.popsection
)");
extern "C" const char ablate_standin_prelude[];

enum NvrtcResult : unsigned {
    nvrtc_success = 0,
    nvrtc_error_invalid_input = 3,
    nvrtc_error_invalid_program = 4,
    nvrtc_error_invalid_option = 5,
    nvrtc_error_compilation = 6,
    nvrtc_error_internal_error = 11,
};

struct NvrtcProgram {
    std::string name;
    std::string source;
    std::string log;
    std::string ptx;
};

namespace ablate_standin {
namespace {

namespace fs = std::filesystem;

using Arguments = std::vector<std::string>;

// Kernels are compiled for any x86-64: without fused operations that the source does not ask for.
const Arguments compiler = {"g++", "-std=c++17", "-O2", "-w", "-fPIC", "-ffp-contract=off", "-fvisibility=hidden"};
const Arguments checks = {"-fno-exceptions", "-fno-rtti", "-fsanitize=bounds,alignment", "-fno-sanitize-recover=all"};

// ---- Files ----

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    if (!(file << text).flush()) fatal("cannot write " + path.string());
}

// The folder for compiled kernels. What another user could put there would run in this process.
fs::path cache_folder() {
    const char* chosen = std::getenv("ABLATE_STANDIN_CACHE");
    const fs::path own = fs::temp_directory_path() / ("ablate-standin-" + std::to_string(geteuid()));
    const fs::path folder = chosen != nullptr ? fs::path(chosen) : own;
    fs::create_directories(folder.parent_path());
    mkdir(folder.c_str(), 0700);
    struct stat found;
    if (stat(folder.c_str(), &found) != 0 || found.st_uid != geteuid()) {
        fatal(folder.string() + " is no folder of this user");
    }
    return fs::absolute(folder);
}

// Files with a stem that no other compilation uses, removed at the end.
class Workplace {
public:
    explicit Workplace(const fs::path& stem) {
        static std::atomic<int> count{0};
        stem_ = stem.string() + "." + std::to_string(getpid()) + "." + std::to_string(count++);
    }
    ~Workplace() {
        for (const fs::path& file : files_) fs::remove(file);
    }
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;

    std::string file(const std::string& extension) { return files_.emplace_back(stem_ + extension).string(); }

private:
    std::string stem_;
    std::vector<fs::path> files_;
};

// FNV-1a
uint64_t hash(const std::string& text, uint64_t start) {
    uint64_t value = start;
    for (const char letter : text) value = (value ^ static_cast<unsigned char>(letter)) * 0x100000001B3;
    return value;
}

std::string key_of(const std::string& text) {
    std::string all = text + __VERSION__;
    for (const Arguments* arguments : {&compiler, &checks}) {
        for (const std::string& argument : *arguments) all += argument;
    }
    char key[40];
    std::snprintf(key, sizeof key, "%016lx%016lx", hash(all, 0xCBF29CE484222325), hash(all, 0x84222325CBF29CE4));
    return key;
}

// ---- Processes ----

enum class Outcome { success, failure, not_started };

// Appends what the program wrote, to either stream, to the log.
Outcome run(const Arguments& command, Workplace& workplace, std::string& log) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const std::string output = workplace.file(".log");
    posix_spawn_file_actions_t redirections;
    posix_spawn_file_actions_init(&redirections);
    posix_spawn_file_actions_addopen(&redirections, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&redirections, 1, 2);
    pid_t process = 0;
    const int error = posix_spawnp(&process, arguments[0], &redirections, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&redirections);
    int status = 0;
    if (error != 0 || waitpid(process, &status, 0) != process) {
        log += command[0] + " cannot be started\n";
        return Outcome::not_started;
    }
    log += read_file(output);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Outcome::success : Outcome::failure;
}

// ---- Sources ----

bool ends_with_extern_c(const std::string& text, size_t end) {
    static const std::string extern_c = "extern \"C\"";
    const size_t last = text.find_last_not_of(" \t\n", end == 0 ? 0 : end - 1);
    if (last == std::string::npos || last + 1 < extern_c.size()) return false;
    return text.compare(last + 1 - extern_c.size(), extern_c.size(), extern_c) == 0;
}

bool is_of_name(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// The names of the functions marked `extern "C" __global__ void`, in a source whose macros are expanded.
std::set<std::string> kernel_names(const std::string& source) {
    static const std::string mark = "__attribute__((ablate_standin_kernel))";
    std::set<std::string> names;
    for (size_t at = source.find(mark); at != std::string::npos; at = source.find(mark, at + 1)) {
        if (!ends_with_extern_c(source, at)) continue;
        const size_t open = source.find('(', at + mark.size());
        if (open == std::string::npos) break;
        const size_t last = source.find_last_not_of(" \t\n", open - 1);
        size_t first = last;
        while (is_of_name(source[first - 1])) --first;
        names.insert(source.substr(first, last + 1 - first));
    }
    return names;
}

std::string quoted(const std::string& name) {
    std::string safe = name;
    for (char& letter : safe) {
        if (letter == '"' || letter == '\\' || letter == '\n') letter = '_';
    }
    return "\"" + safe + "\"";
}

std::string whole_source(const NvrtcProgram& program) {
    return std::string("#line 1 \"prelude of the stand-in\"\n") + ablate_standin_prelude + "\n#line 1 " +
           quoted(program.name) + "\n" + program.source + "\n";
}

// The table of kernels, which can only be written once the macros of the source are expanded.
std::string kernel_table(const std::set<std::string>& names) {
    std::ostringstream table;
    table << "\n# 1 \"kernel table of the stand-in\"\nnamespace ablate_standin {\nconst Kernel kernels[] = {\n";
    for (const std::string& name : names) table << "describe<&::" << name << ">(\"" << name << "\"),\n";
    table << "{}};\n}\nextern \"C\" __attribute__((visibility(\"default\"))) const ablate_standin::ModuleTable "
          << "ablate_standin_module = {ablate_standin::kernels, " << names.size()
          << ", &ablate_standin::builtins, &ablate_standin::runtime};\n";
    return table.str();
}

// ---- Compilation ----

Arguments joined(Arguments all, const Arguments& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

Outcome build_library(const std::string& source, const fs::path& library, std::string& log) {
    Workplace workplace(library);
    const std::string written = workplace.file(".cpp");
    const std::string expanded = workplace.file(".ii");
    const std::string object = workplace.file(".o");
    const std::string linked = workplace.file(".new");
    write_file(written, source);
    Outcome outcome = run(joined(compiler, {"-E", written, "-o", expanded}), workplace, log);
    if (outcome != Outcome::success) return outcome;
    const std::string text = read_file(expanded);
    write_file(expanded, text + kernel_table(kernel_names(text)));
    outcome = run(joined(joined(compiler, checks), {"-c", expanded, "-o", object}), workplace, log);
    if (outcome != Outcome::success) return outcome;
    // Linked apart from the checks, so that no library of theirs is linked in: prelude.h has what they call.
    outcome = run(joined(compiler, {"-shared", "-Wl,-z,defs", object, "-o", linked}), workplace, log);
    if (outcome == Outcome::success) fs::rename(linked, library);
    return outcome;
}

// Options that choose the GPU or the precision do not matter here, but a macro that the source lacks would.
bool defines_macro(const std::string& option) {
    return option.rfind("-D", 0) == 0 || option.rfind("--define-macro", 0) == 0;
}

NvrtcResult compile(NvrtcProgram& program) {
    const std::string source = whole_source(program);
    const fs::path library = cache_folder() / (key_of(source) + ".so");
    if (!fs::exists(library)) {
        const Outcome outcome = build_library(source, library, program.log);
        if (outcome == Outcome::not_started) return nvrtc_error_internal_error;
        if (outcome == Outcome::failure) return nvrtc_error_compilation;
    }
    program.ptx = module_magic + library.string() + "\n";
    return nvrtc_success;
}

}  // namespace
}  // namespace ablate_standin

// ---- The functions of libnvrtc ----

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcVersion(int* major, int* minor) {
    if (major == nullptr || minor == nullptr) return nvrtc_error_invalid_input;
    *major = 13;
    *minor = 0;
    return nvrtc_success;
}

ABLATE_STANDIN_EXPORT const char* nvrtcGetErrorString(NvrtcResult result) {
    switch (result) {
        case nvrtc_success: return "NVRTC_SUCCESS";
        case nvrtc_error_invalid_input: return "NVRTC_ERROR_INVALID_INPUT";
        case nvrtc_error_invalid_program: return "NVRTC_ERROR_INVALID_PROGRAM";
        case nvrtc_error_invalid_option: return "NVRTC_ERROR_INVALID_OPTION";
        case nvrtc_error_compilation: return "NVRTC_ERROR_COMPILATION";
        case nvrtc_error_internal_error: return "NVRTC_ERROR_INTERNAL_ERROR";
    }
    return "NVRTC_ERROR unknown";
}

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcCreateProgram(NvrtcProgram** program, const char* source, const char* name,
                                                     int header_count, const char* const*, const char* const*) {
    if (program == nullptr || source == nullptr || header_count != 0) return nvrtc_error_invalid_input;
    *program = new NvrtcProgram{name != nullptr ? name : "default_program", source, "", ""};
    return nvrtc_success;
}

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcDestroyProgram(NvrtcProgram** program) {
    if (program == nullptr || *program == nullptr) return nvrtc_error_invalid_program;
    delete *program;
    *program = nullptr;
    return nvrtc_success;
}

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcCompileProgram(NvrtcProgram* program, int count, const char* const* options) {
    if (program == nullptr) return nvrtc_error_invalid_program;
    program->log.clear();
    program->ptx.clear();
    for (int number = 0; number < count; ++number) {
        if (!ablate_standin::defines_macro(options[number])) continue;
        program->log = std::string("the stand-in does not support the option ") + options[number] + "\n";
        return nvrtc_error_invalid_option;
    }
    return ablate_standin::compile(*program);
}

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcGetProgramLogSize(NvrtcProgram* program, size_t* size) {
    if (program == nullptr) return nvrtc_error_invalid_program;
    if (size == nullptr) return nvrtc_error_invalid_input;
    *size = program->log.size() + 1;
    return nvrtc_success;
}

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcGetProgramLog(NvrtcProgram* program, char* log) {
    if (program == nullptr) return nvrtc_error_invalid_program;
    if (log == nullptr) return nvrtc_error_invalid_input;
    std::memcpy(log, program->log.c_str(), program->log.size() + 1);
    return nvrtc_success;
}

// The GPUs that it says it compiles for; all code is the same.
static constexpr int architectures[] = {80, 90};

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcGetNumSupportedArchs(int* count) {
    if (count == nullptr) return nvrtc_error_invalid_input;
    *count = static_cast<int>(std::size(architectures));
    return nvrtc_success;
}

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcGetSupportedArchs(int* known) {
    if (known == nullptr) return nvrtc_error_invalid_input;
    std::copy(std::begin(architectures), std::end(architectures), known);
    return nvrtc_success;
}

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcGetPTXSize(NvrtcProgram* program, size_t* size) {
    if (program == nullptr || program->ptx.empty()) return nvrtc_error_invalid_program;
    if (size == nullptr) return nvrtc_error_invalid_input;
    *size = program->ptx.size() + 1;
    return nvrtc_success;
}

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcGetPTX(NvrtcProgram* program, char* ptx) {
    if (program == nullptr || program->ptx.empty()) return nvrtc_error_invalid_program;
    if (ptx == nullptr) return nvrtc_error_invalid_input;
    std::memcpy(ptx, program->ptx.c_str(), program->ptx.size() + 1);
    return nvrtc_success;
}

// Machine code is the same text.
ABLATE_STANDIN_EXPORT NvrtcResult nvrtcGetCUBINSize(NvrtcProgram* program, size_t* size) {
    return nvrtcGetPTXSize(program, size);
}

ABLATE_STANDIN_EXPORT NvrtcResult nvrtcGetCUBIN(NvrtcProgram* program, char* code) {
    return nvrtcGetPTX(program, code);
}
