// Fibers for x86-64 with the System V ABI. `swapcontext` would do the same, but makes a system call for each switch.
#include "fibers.h"

#include <sys/mman.h>

#include <cstddef>

#include "standin.h"

// Saves the registers that a call must preserve, exchanges the stacks, and restores those of the other fiber.
asm(R"(
.pushsection .text
.hidden ablate_standin_switch_stack
.globl ablate_standin_switch_stack
.type ablate_standin_switch_stack, @function
ablate_standin_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size ablate_standin_switch_stack, . - ablate_standin_switch_stack
.popsection
)");

extern "C" void ablate_standin_switch_stack(void** from, void* to);

namespace ablate_standin {
namespace {

constexpr size_t stack_bytes = 64 << 10;
constexpr size_t guard_bytes = 4096;
constexpr size_t saved_registers = 6;

// Stacks begin at different places in their last page. Else the parts that are in use would all compete for the same
// few lines of the cache, and a switch would cost several times as much.
size_t next_offset() {
    constexpr size_t step = 5 * 64, page = 4096;
    static size_t count = 0;
    return count++ * step % page;
}

}  // namespace

Fiber* make_fiber(void (*entry)()) {
    const size_t bytes = guard_bytes + stack_bytes;
    void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED || mprotect(start, guard_bytes, PROT_NONE) != 0) fatal("no memory for a stack");
    // What the first switch pops: the registers, the entry, and below it an end of the chain of callers. This leaves
    // the stack pointer 8 beyond a multiple of 16, as every function expects it.
    void** stack = reinterpret_cast<void**>(static_cast<char*>(start) + bytes - next_offset()) - saved_registers - 2;
    stack[saved_registers] = reinterpret_cast<void*>(entry);
    return new Fiber{stack};
}

void switch_fiber(Fiber& from, const Fiber& to) {
    ablate_standin_switch_stack(&from.stack_pointer, to.stack_pointer);
}

}  // namespace ablate_standin
