// Says which thread of which kernel caused a memory fault, before the fault ends the process.
//
// The handlers stay installed. A fault outside of a kernel goes to whoever handled it before, for example to the
// Rust runtime, which reports overflows of its stacks.
#include "faults.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>

#include "memory.h"
#include "standin.h"

namespace ablate_standin {
namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE};

std::atomic<std::string (*)()> describe_kernel{nullptr};
std::atomic<pthread_t> kernel_thread{};
struct sigaction earlier_actions[NSIG];
// A kernel that overflowed its stack leaves none for the handler, and what others provide may be too small.
char signal_stack[32 << 10];

std::string show_address(const void* address) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", address);
    return text;
}

void report(int signal, const siginfo_t& info) {
    std::string message = describe_kernel.load()() + ": ";
    if (signal == SIGFPE) {
        message += "a division of integers by zero";
    } else {
        message += "an access to " + show_address(info.si_addr);
        message += describe_fault(reinterpret_cast<uint64_t>(info.si_addr));
    }
    complain(message);
}

// It may allocate, as long as kernels do not.
// Returning repeats the fault, under the action that is then in force.
void handle(int signal, siginfo_t* info, void*) {
    const bool in_kernel = describe_kernel.load() != nullptr && pthread_equal(pthread_self(), kernel_thread.load());
    if (!in_kernel) {
        sigaction(signal, &earlier_actions[signal], nullptr);
        return;
    }
    struct sigaction die = {};
    die.sa_handler = SIG_DFL;
    sigaction(signal, &die, nullptr);
    report(signal, *info);
}

bool install() {
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : signals) {
        if (sigaction(signal, &action, &earlier_actions[signal]) != 0) fatal("a signal handler cannot be installed");
    }
    return true;
}

}  // namespace

FaultReports::FaultReports(std::string (*describe)()) {
    static const bool installed = install();
    static_cast<void>(installed);
    stack_t own = {};
    own.ss_sp = signal_stack;
    own.ss_size = sizeof signal_stack;
    if (sigaltstack(&own, &earlier_stack_) != 0) fatal("the stack for signals cannot be set");
    kernel_thread = pthread_self();
    describe_kernel = describe;
}

FaultReports::~FaultReports() {
    describe_kernel = nullptr;
    sigaltstack(&earlier_stack_, nullptr);
}

}  // namespace ablate_standin
