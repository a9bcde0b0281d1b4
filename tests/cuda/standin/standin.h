// What the three libraries of the stand-in share: how they export a function, how they give up, and the log of the
// work that they were asked for.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#define ABLATE_STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace ablate_standin {

// The first line of the text that libnvrtc gives out in place of PTX; the path of the compiled module follows it.
constexpr char module_magic[] = "//ABLATE-STANDIN-MODULE\n";

// Writes to standard error at once, whatever became of the buffers of stdio.
inline void complain(const std::string& message) {
    const std::string line = "ablate stand-in: " + message + "\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

[[noreturn]] inline void fatal(const std::string& message) {
    complain(message);
    std::abort();
}

inline int open_log() {
    const char* path = std::getenv("ABLATE_STANDIN_LOG");
    if (path == nullptr) return -1;
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) fatal(std::string("the log ") + path + " cannot be opened");
    return file;
}

inline bool is_logging() {
    static const bool logging = std::getenv("ABLATE_STANDIN_LOG") != nullptr;
    return logging;
}

// One `write` per line, so that lines of several threads and processes do not mix.
inline void append_log(std::string line) {
    static const int file = open_log();
    line += '\n';
    if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) fatal("the log cannot be written");
}

}  // namespace ablate_standin
