// Stacks that a CPU thread can switch between without asking the kernel. See fibers.cpp.
#pragma once

namespace ablate_standin {

struct Fiber {
    void* stack_pointer;  // while it does not run
};

// A fiber that, once switched to, runs the entry, which must not return. Fibers are kept for ever.
Fiber* make_fiber(void (*entry)());

// Stores where the caller is, and goes on where the other fiber is.
void switch_fiber(Fiber& from, const Fiber& to);

}  // namespace ablate_standin
