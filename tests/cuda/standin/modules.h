// Compiled kernels, as libnvrtc's stand-in makes them. See modules.cpp.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "blocks.h"
#include "results.h"

namespace ablate_standin {

struct Module;

struct Function {
    const Kernel* kernel;
    const Module* module;
};

struct Module {
    void* library = nullptr;
    const ModuleTable* table = nullptr;
    size_t tls_module = 0;
    size_t shared_bytes = 0;
    std::map<std::string, Function*> functions;  // those that were asked for
};

// Text that the stand-in for libnvrtc did not make is refused, as invalid PTX.
CUresult load_module(const char* text, Module& module);

void unload_module(const Module& module);

}  // namespace ablate_standin
