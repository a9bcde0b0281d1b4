// Runs the blocks of a kernel, one after another, on the calling CPU thread.
//
// Every CUDA thread of a block is a fiber. It runs until it must wait: for the block at a barrier, or for other lanes
// in its warp. A thread that never waits gives its fiber to the next thread, so kernels without barriers need no
// switch at all. The order in which threads run is chosen anew after each barrier, so that a missing barrier, or blocks
// that depend on each other, show as wrong results in one order or another.
#include "blocks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "faults.h"
#include "fibers.h"
#include "standin.h"

// Of the C library: where the thread-local variables of a module are.
struct TlsIndex {
    unsigned long module, offset;
};
extern "C" void* __tls_get_addr(TlsIndex* index);

namespace ablate_standin {
namespace {

constexpr unsigned warp_size = 32;
constexpr unsigned most_threads = 1024;

struct Thread {
    enum Wait { nothing, block_barrier, warp_meeting };

    Index index;
    unsigned number;  // in its block
    Fiber* fiber;     // from its first instruction on
    Wait wait;
    int barrier_line;
    WarpCall call;
    unsigned long long result;

    unsigned lane() const { return number % warp_size; }
};

// A bit for each lane.
struct Warp {
    unsigned alive;
    unsigned waiting;  // in a meeting
};

// The state of the block that runs. There is one at a time, whatever CPU thread launched it.
struct Block {
    Launch launch;
    Index index;
    unsigned thread_count;
    unsigned alive_count;
    unsigned barrier_count;  // threads that wait at the barrier

    Thread threads[most_threads];
    Warp warps[most_threads / warp_size];
    Thread* running;

    // Who runs next: first the threads of `turn`, from `next_turn` on, then those that left a meeting.
    unsigned short turn[most_threads];
    unsigned next_turn;
    unsigned short met[most_threads];  // a ring; no thread is in it twice
    unsigned met_begin, met_end;

    Fiber caller;
    std::vector<Fiber*> idle_fibers;
    unsigned long long random_state;
    unsigned long long launch_count;
};

Block block;

Warp& warp_of(const Thread& thread) {
    return block.warps[thread.number / warp_size];
}

unsigned lane_bit(const Thread& thread) {
    return 1u << thread.lane();
}

bool is_alive(const Thread& thread) {
    return (warp_of(thread).alive & lane_bit(thread)) != 0;
}

// ---- Orders ----

// splitmix64
unsigned long long next_random() {
    unsigned long long bits = block.random_state += 0x9E3779B97F4A7C15;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
}

template <typename Number>
void arrange(Number* numbers, size_t count) {
    if (block.launch.order.kind == Order::reverse) std::reverse(numbers, numbers + count);
    if (block.launch.order.kind != Order::random) return;
    for (size_t left = count; left > 1; --left) std::swap(numbers[left - 1], numbers[next_random() % left]);
}

void begin_turn() {
    block.next_turn = 0;
    if (block.launch.order.kind == Order::random) arrange(block.turn, block.thread_count);
}

// ---- Reports ----

std::string where() {
    return "kernel `" + std::string(block.launch.kernel->name) + "`, block " + show(block.index);
}

std::string where(const Thread& thread) {
    return where() + ", thread " + show(thread.index);
}

[[noreturn]] void fail_at(const Thread& thread, int line, const std::string& what) {
    fatal(where(thread) + ", line " + std::to_string(line) + ": " + what);
}

const char* name_of(WarpOperation operation) {
    switch (operation) {
        case WarpOperation::synchronize: return "__syncwarp";
        case WarpOperation::ballot: return "__ballot_sync";
        case WarpOperation::any: return "__any_sync";
        case WarpOperation::all: return "__all_sync";
        case WarpOperation::shuffle: return "__shfl_sync";
        case WarpOperation::shuffle_up: return "__shfl_up_sync";
        case WarpOperation::shuffle_down: return "__shfl_down_sync";
        case WarpOperation::shuffle_xor: return "__shfl_xor_sync";
    }
    fatal("a module asks for an unknown warp operation");
}

std::string show_mask(unsigned mask) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", mask);
    return text;
}

std::string show_wait(const Thread& thread) {
    if (!is_alive(thread)) return "have exited";
    if (thread.wait == Thread::block_barrier) {
        return "wait in __syncthreads at line " + std::to_string(thread.barrier_line);
    }
    return std::string("wait in ") + name_of(thread.call.operation) + " at line " + std::to_string(thread.call.line) +
           " for the lanes " + show_mask(thread.call.mask);
}

// Names the threads by what they wait for.
[[noreturn]] void fail_stuck(const std::string& what) {
    constexpr int most_named = 6;
    std::map<std::string, std::vector<const Thread*>> groups;
    for (unsigned number = 0; number < block.thread_count; ++number) {
        const Thread& thread = block.threads[number];
        groups[show_wait(thread)].push_back(&thread);
    }
    std::string message = where() + ": " + what;
    for (const auto& [wait, threads] : groups) {
        message += "\n  " + std::to_string(threads.size()) + " threads " + wait + ":";
        for (size_t number = 0; number < threads.size() && number < most_named; ++number) {
            message += " " + show(threads[number]->index);
        }
        if (threads.size() > most_named) message += " ...";
    }
    fatal(message);
}

// ---- The choice of the next thread ----

void release_barrier() {
    const Thread* first = nullptr;
    for (unsigned number = 0; number < block.thread_count; ++number) {
        Thread& thread = block.threads[number];
        if (!is_alive(thread)) continue;
        if (first == nullptr) first = &thread;
        if (thread.barrier_line != first->barrier_line) fail_stuck("threads wait at different barriers");
    }
    block.barrier_count = 0;
    begin_turn();
}

// The thread that is to run, or null if all have exited.
Thread* next_thread() {
    for (;;) {
        while (block.next_turn < block.thread_count) {
            Thread& thread = block.threads[block.turn[block.next_turn++]];
            if (is_alive(thread)) return &thread;
        }
        if (block.met_begin != block.met_end) return &block.threads[block.met[block.met_begin++ % most_threads]];
        if (block.alive_count == 0) return nullptr;
        if (block.barrier_count < block.alive_count) fail_stuck("no thread can go on");
        release_barrier();
    }
}

void make_running(Thread& thread) {
    block.running = &thread;
    thread.wait = Thread::nothing;
    block.launch.builtins->thread = thread.index;
}

// ---- Warps ----

template <typename Visit>
void visit_lanes(unsigned lanes, Visit visit) {
    for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(__builtin_ctz(lanes)));
}

// As PTX defines `shfl`: a lane whose source is outside of its segment reads itself.
int source_lane(const WarpCall& call, int lane) {
    const int first = lane & ~(call.width - 1), last = first + call.width - 1;
    const int operand = static_cast<int>(call.operand % warp_size);
    switch (call.operation) {
        case WarpOperation::shuffle_up: return lane - operand < first ? lane : lane - operand;
        case WarpOperation::shuffle_down: return lane + operand > last ? lane : lane + operand;
        case WarpOperation::shuffle_xor: return (lane ^ operand) > last ? lane : lane ^ operand;
        default: return first + (operand & (call.width - 1));
    }
}

unsigned long long shuffled(Thread* lanes, unsigned group, unsigned lane) {
    const WarpCall& call = lanes[lane].call;
    const int source = source_lane(call, static_cast<int>(lane));
    if ((group >> source & 1) == 0) {
        const bool named = (call.mask >> source & 1) != 0;
        fail_at(lanes[lane], call.line, std::string(name_of(call.operation)) + " reads lane " + std::to_string(source) +
                (named ? ", which has exited or never was" : ", which is not in the mask " + show_mask(call.mask)));
    }
    return lanes[source].call.value;
}

// Gives each lane of the group its result, and lets all go on.
void end_meeting(Warp& warp, Thread* lanes, unsigned group) {
    const WarpCall& first = lanes[__builtin_ctz(group)].call;
    unsigned votes = 0;
    visit_lanes(group, [&](unsigned lane) {
        const WarpCall& call = lanes[lane].call;
        if (call.operation != first.operation) fail_stuck("lanes of a warp meet in different operations");
        if (call.value != 0) votes |= 1u << lane;
    });
    unsigned short leaving[warp_size];
    size_t count = 0;
    visit_lanes(group, [&](unsigned lane) {
        unsigned long long& result = lanes[lane].result;
        switch (first.operation) {
            case WarpOperation::synchronize: result = 0; break;
            case WarpOperation::ballot: result = votes; break;
            case WarpOperation::any: result = votes != 0; break;
            case WarpOperation::all: result = votes == group; break;
            default: result = shuffled(lanes, group, lane);
        }
        leaving[count++] = static_cast<unsigned short>(lanes[lane].number);
    });
    warp.waiting &= ~group;
    arrange(leaving, count);
    for (size_t number = 0; number < count; ++number) block.met[block.met_end++ % most_threads] = leaving[number];
}

// Ends the meeting of a mask if all of its lanes that are alive have come.
void try_to_end_meeting(Warp& warp, Thread* lanes, unsigned mask) {
    const unsigned group = mask & warp.alive;
    if ((warp.waiting & group) != group) return;
    bool same = true;
    visit_lanes(group, [&](unsigned lane) { same &= lanes[lane].call.mask == mask; });
    if (same) end_meeting(warp, lanes, group);
}

Thread* lanes_of(const Thread& thread) {
    return &block.threads[thread.number - thread.lane()];
}

// A lane that exits may be the last that others waited for.
void leave_warp(const Thread& thread) {
    Warp& warp = warp_of(thread);
    warp.alive &= ~lane_bit(thread);
    Thread* const lanes = lanes_of(thread);
    visit_lanes(warp.waiting, [&](unsigned lane) { try_to_end_meeting(warp, lanes, lanes[lane].call.mask); });
}

// ---- Fibers ----

// Runs threads to their ends, as long as the next one has not begun on another fiber.
[[noreturn]] void run_threads() {
    for (;;) {
        Thread& thread = *block.running;
        Fiber* const fiber = thread.fiber;
        block.launch.kernel->run_thread(block.launch.parameters);
        leave_warp(thread);
        --block.alive_count;
        Thread* const next = next_thread();
        if (next != nullptr) make_running(*next);
        if (next != nullptr && next->fiber == nullptr) {
            next->fiber = fiber;
            continue;
        }
        // Nothing uses the idle fiber before the switch. When it is used again, another thread is to begin.
        block.idle_fibers.push_back(fiber);
        switch_fiber(*fiber, next != nullptr ? *next->fiber : block.caller);
    }
}

Fiber* take_fiber() {
    if (block.idle_fibers.empty()) return make_fiber(run_threads);
    Fiber* const fiber = block.idle_fibers.back();
    block.idle_fibers.pop_back();
    return fiber;
}

// Lets other threads run until it is the turn of this one again.
void suspend(Thread& thread) {
    Thread* const next = next_thread();
    make_running(*next);
    if (next == &thread) return;
    if (next->fiber == nullptr) next->fiber = take_fiber();
    switch_fiber(*thread.fiber, *next->fiber);
}

// ---- What kernels call ----

void wait_for_block(int line) {
    Thread& thread = *block.running;
    thread.wait = Thread::block_barrier;
    thread.barrier_line = line;
    ++block.barrier_count;
    suspend(thread);
}

unsigned long long meet_in_warp(const WarpCall* call) {
    Thread& thread = *block.running;
    if ((call->mask & lane_bit(thread)) == 0) {
        fail_at(thread, call->line, std::string(name_of(call->operation)) + " with a mask without the calling lane: " +
                show_mask(call->mask));
    }
    if (call->width < 1 || call->width > 32 || (call->width & (call->width - 1)) != 0) {
        fail_at(thread, call->line, "a shuffle of width " + std::to_string(call->width));
    }
    Warp& warp = warp_of(thread);
    thread.wait = Thread::warp_meeting;
    thread.call = *call;
    warp.waiting |= lane_bit(thread);
    try_to_end_meeting(warp, lanes_of(thread), call->mask);
    suspend(thread);
    return thread.result;
}

void fail_in_kernel(int line, const char* what) {
    fail_at(*block.running, line, what);
}

std::string describe_running() {
    return where(*block.running);
}

// ---- Blocks and grids ----

void begin_block(const Index& index) {
    block.index = index;
    block.launch.builtins->block = index;
    block.alive_count = block.thread_count;
    block.barrier_count = 0;
    block.met_begin = block.met_end = 0;
    for (unsigned number = 0; number < block.thread_count; ++number) block.threads[number].fiber = nullptr;
    for (unsigned first = 0; first < block.thread_count; first += warp_size) {
        const unsigned lanes = std::min(warp_size, block.thread_count - first);
        block.warps[first / warp_size] = {static_cast<unsigned>((1ull << lanes) - 1), 0};
    }
    begin_turn();
}

void run_block(const Index& index, void* shared_memory) {
    constexpr int poison = 0xFF;
    std::memset(shared_memory, poison, block.launch.shared_bytes);
    begin_block(index);
    Thread& first = *next_thread();
    make_running(first);
    first.fiber = take_fiber();
    switch_fiber(block.caller, *first.fiber);
}

void prepare_threads() {
    const Index& size = block.launch.block_size;
    block.thread_count = size.x * size.y * size.z;
    for (unsigned number = 0; number < block.thread_count; ++number) {
        block.threads[number].index = {number % size.x, number / size.x % size.y, number / size.x / size.y};
        block.threads[number].number = number;
        block.turn[number] = static_cast<unsigned short>(number);
    }
    if (block.launch.order.kind == Order::reverse) arrange(block.turn, block.thread_count);
}

void run_grid(void* shared_memory) {
    const Index& size = block.launch.grid_size;
    const uint64_t count = uint64_t{size.x} * size.y * size.z;
    const Order::Kind order = block.launch.order.kind;
    std::vector<uint64_t> shuffled_blocks(order == Order::random ? count : 0);
    std::iota(shuffled_blocks.begin(), shuffled_blocks.end(), 0);
    arrange(shuffled_blocks.data(), shuffled_blocks.size());
    for (uint64_t turn = 0; turn < count; ++turn) {
        uint64_t number = turn;
        if (order == Order::reverse) number = count - 1 - turn;
        if (order == Order::random) number = shuffled_blocks[turn];
        const Index index = {static_cast<unsigned>(number % size.x), static_cast<unsigned>(number / size.x % size.y),
                             static_cast<unsigned>(number / size.x / size.y)};
        run_block(index, shared_memory);
    }
}

}  // namespace

const Runtime kernel_runtime = {wait_for_block, meet_in_warp, fail_in_kernel};

void run_kernel(const Launch& launch) {
    static std::mutex& one_at_a_time = *new std::mutex;
    const std::lock_guard lock(one_at_a_time);
    block.launch = launch;
    block.random_state = launch.order.seed + ++block.launch_count * 0xD1342543DE82EF95;
    prepare_threads();
    launch.builtins->block_size = launch.block_size;
    launch.builtins->grid_size = launch.grid_size;
    TlsIndex shared = {launch.tls_module, 0};
    void* const shared_memory = launch.shared_bytes == 0 ? nullptr : __tls_get_addr(&shared);
    const FaultReports reports(describe_running);
    run_grid(shared_memory);
}

std::string show(const Index& index) {
    return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) + ")";
}

}  // namespace ablate_standin
