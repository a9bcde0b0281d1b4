// Loads compiled kernels into the process.
#include "modules.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "standin.h"

namespace ablate_standin {
namespace {

struct TlsSearch {
    ElfW(Addr) loaded_at;
    size_t bytes;
};

int find_tls(dl_phdr_info* library, size_t, void* data) {
    TlsSearch& search = *static_cast<TlsSearch*>(data);
    if (library->dlpi_addr != search.loaded_at) return 0;
    for (int number = 0; number < library->dlpi_phnum; ++number) {
        if (library->dlpi_phdr[number].p_type == PT_TLS) search.bytes = library->dlpi_phdr[number].p_memsz;
    }
    return 1;
}

// The shared memory of the kernels is the thread-local memory of their library; see prelude.h.
void find_shared_memory(Module& module) {
    link_map* map = nullptr;
    if (dlinfo(module.library, RTLD_DI_LINKMAP, &map) != 0) fatal("the C library does not know a module");
    TlsSearch search = {map->l_addr, 0};
    dl_iterate_phdr(find_tls, &search);
    if (search.bytes == 0) return;
    if (dlinfo(module.library, RTLD_DI_TLS_MODID, &module.tls_module) != 0) fatal("a module has no shared memory");
    module.shared_bytes = search.bytes;
}

CUresult load_library(const std::string& path, Module& module) {
    module.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const void* table = module.library != nullptr ? dlsym(module.library, "ablate_standin_module") : nullptr;
    if (table == nullptr) {
        complain(std::string("a module cannot be loaded: ") + dlerror());
        return cuda_error_shared_object_init_failed;
    }
    module.table = static_cast<const ModuleTable*>(table);
    *module.table->runtime = &kernel_runtime;
    find_shared_memory(module);
    return cuda_success;
}

}  // namespace

CUresult load_module(const char* text, Module& module) {
    const size_t magic_length = std::strlen(module_magic);
    if (std::strncmp(text, module_magic, magic_length) != 0) return cuda_error_invalid_ptx;
    std::string path = text + magic_length;
    path.erase(std::min(path.find('\n'), path.size()));
    return load_library(path, module);
}

void unload_module(const Module& module) {
    dlclose(module.library);
}

}  // namespace ablate_standin
