// The memory of the stand-in's GPUs.
//
// Each allocation has its own pages, with an inaccessible page before and behind them, and ends where its pages end.
// Its address is a multiple of 16, so that up to 15 bytes of slack remain behind it. These, and some bytes in front,
// hold a canary. New memory is filled with 0xFF, which is a NaN in every float format. Freed pages become
// inaccessible. They are kept for later allocations of as many pages, because to give fresh pages to a process costs
// far more than to protect and unprotect old ones; the last few that were freed wait, so that late uses crash.
#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "standin.h"

namespace ablate_standin {
namespace {

constexpr size_t page = 4096;
constexpr size_t alignment = 16;
constexpr size_t front_canary = 64;
constexpr unsigned char poison = 0xFF;
// A NaN as f32 and as bf16, but not the poison, so that a kernel that writes NaNs there is noticed too.
constexpr unsigned char canary[] = {0xC3, 0x7F};

constexpr size_t quarantined_per_size = 4;
constexpr size_t largest_kept = 8 << 20;
constexpr size_t most_kept = 64 << 20;

// One inaccessible page, the pages for data, one more inaccessible page.
struct Mapping {
    char* start;
    size_t data_bytes;

    char* data() const { return start + page; }
    char* end() const { return data() + data_bytes; }
    void unmap() const { munmap(start, data_bytes + 2 * page); }
};

struct Allocation {
    Mapping mapping;
    size_t bytes;
    int device;
};

struct Memory {
    std::mutex mutex;
    std::map<uint64_t, Allocation> live;
    std::map<size_t, std::deque<Mapping>> kept;  // by bytes of data, oldest first
    size_t kept_bytes = 0;
    std::map<int, size_t> used;  // by device
};

// Never destroyed: threads may still free memory while the process exits.
Memory& memory() {
    static Memory& instance = *new Memory;
    return instance;
}

bool map_new(size_t data_bytes, Mapping& mapping) {
    void* start = mmap(nullptr, data_bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return false;
    mapping = {static_cast<char*>(start), data_bytes};
    return true;
}

bool take_mapping(size_t data_bytes, Mapping& mapping) {
    std::deque<Mapping>& kept = memory().kept[data_bytes];
    if (kept.size() > quarantined_per_size) {
        mapping = kept.front();
        kept.pop_front();
        memory().kept_bytes -= data_bytes;
    } else if (!map_new(data_bytes, mapping)) {
        return false;
    }
    if (mprotect(mapping.data(), data_bytes, PROT_READ | PROT_WRITE) == 0) return true;
    mapping.unmap();
    return false;
}

void unmap_kept() {
    for (auto& [data_bytes, mappings] : memory().kept) {
        for (const Mapping& mapping : mappings) mapping.unmap();
        mappings.clear();
    }
    memory().kept_bytes = 0;
}

void give_back(const Mapping& mapping) {
    const bool keep = mapping.data_bytes <= largest_kept;
    if (!keep || mprotect(mapping.data(), mapping.data_bytes, PROT_NONE) != 0) {
        mapping.unmap();
        return;
    }
    memory().kept[mapping.data_bytes].push_back(mapping);
    memory().kept_bytes += mapping.data_bytes;
    if (memory().kept_bytes > most_kept) unmap_kept();
}

// Calls `visit` with each byte around the allocation that holds a canary, and with what it holds.
template <typename Visit>
void visit_canaries(uint64_t address, const Allocation& allocation, Visit visit) {
    char* const first = reinterpret_cast<char*>(address);
    char* const last = first + allocation.bytes;
    for (char* at = std::max(allocation.mapping.data(), first - front_canary); at < first; ++at) {
        visit(at, canary[reinterpret_cast<uintptr_t>(at) % sizeof canary]);
    }
    for (char* at = last; at < allocation.mapping.end(); ++at) {
        visit(at, canary[reinterpret_cast<uintptr_t>(at) % sizeof canary]);
    }
}

void check_canaries(uint64_t address, const Allocation& allocation) {
    visit_canaries(address, allocation, [&](const char* at, unsigned char expected) {
        if (static_cast<unsigned char>(*at) == expected) return;
        fatal("something wrote " + std::to_string(at - reinterpret_cast<char*>(address)) +
              " bytes from the start of an allocation of " + std::to_string(allocation.bytes) + " bytes on GPU " +
              std::to_string(allocation.device));
    });
}

uint64_t fill_new(const Allocation& allocation) {
    const Mapping& mapping = allocation.mapping;
    std::memset(mapping.data(), poison, mapping.data_bytes);
    const uint64_t end = reinterpret_cast<uint64_t>(mapping.end());
    const uint64_t address = (end - allocation.bytes) / alignment * alignment;
    visit_canaries(address, allocation, [](char* at, unsigned char value) { *at = static_cast<char>(value); });
    return address;
}

// The last live allocation that starts at or before the address.
std::map<uint64_t, Allocation>::iterator find_before(uint64_t address) {
    const auto after = memory().live.upper_bound(address);
    return after == memory().live.begin() ? memory().live.end() : std::prev(after);
}

void release_found(std::map<uint64_t, Allocation>::iterator found) {
    const Allocation& allocation = found->second;
    check_canaries(found->first, allocation);
    memory().used[allocation.device] -= allocation.bytes;
    give_back(allocation.mapping);
    memory().live.erase(found);
}

}  // namespace

uint64_t allocate(int device, size_t bytes, size_t limit) {
    const std::lock_guard lock(memory().mutex);
    size_t& used = memory().used[device];
    if (bytes > limit - used) return 0;
    const size_t data_bytes = (bytes + page - 1) / page * page;
    Allocation allocation{{}, bytes, device};
    if (!take_mapping(data_bytes, allocation.mapping)) {
        complain("this machine has no memory left for " + std::to_string(bytes) + " bytes");
        return 0;
    }
    used += bytes;
    const uint64_t address = fill_new(allocation);
    memory().live.emplace(address, allocation);
    return address;
}

bool release(uint64_t address) {
    const std::lock_guard lock(memory().mutex);
    const auto found = memory().live.find(address);
    if (found == memory().live.end()) return false;
    release_found(found);
    return true;
}

void release_all(int device) {
    const std::lock_guard lock(memory().mutex);
    for (auto next = memory().live.begin(); next != memory().live.end();) {
        const auto found = next++;
        if (found->second.device == device) release_found(found);
    }
}

size_t used_bytes(int device) {
    const std::lock_guard lock(memory().mutex);
    return memory().used[device];
}

bool is_device_range(uint64_t address, size_t bytes) {
    if (bytes == 0) return true;
    const std::lock_guard lock(memory().mutex);
    const auto found = find_before(address);
    if (found == memory().live.end()) return false;
    const size_t offset = address - found->first;
    if (offset >= found->second.bytes || bytes > found->second.bytes - offset) return false;
    check_canaries(found->first, found->second);
    return true;
}

bool is_device_pointer(uint64_t address) {
    const std::lock_guard lock(memory().mutex);
    const auto found = find_before(address);
    return found != memory().live.end() && address - found->first <= found->second.bytes;
}

std::string describe_fault(uint64_t address) {
    // The thread that crashed may hold the lock.
    const std::unique_lock lock(memory().mutex, std::try_to_lock);
    if (!lock) return "";
    for (const auto& [start, allocation] : memory().live) {
        const uint64_t first = reinterpret_cast<uint64_t>(allocation.mapping.start);
        const uint64_t last = reinterpret_cast<uint64_t>(allocation.mapping.end()) + page;
        if (address < first || address >= last) continue;
        return ", " + std::to_string(static_cast<int64_t>(address - start)) +
               " bytes from the start of an allocation of " + std::to_string(allocation.bytes) + " bytes";
    }
    for (const auto& [data_bytes, mappings] : memory().kept) {
        for (const Mapping& mapping : mappings) {
            const uint64_t first = reinterpret_cast<uint64_t>(mapping.start);
            if (address >= first && address < first + data_bytes + 2 * page) return ", in memory that was freed";
        }
    }
    return ", which is not in the memory of a GPU";
}

}  // namespace ablate_standin
