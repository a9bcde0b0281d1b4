// Says which thread of which kernel caused a memory fault, before the fault ends the process. See faults.cpp.
#pragma once

#include <signal.h>

#include <string>

namespace ablate_standin {

// While it lives, a fault of the calling CPU thread is reported with what `describe` returns. One may live at a time.
class FaultReports {
public:
    explicit FaultReports(std::string (*describe)());
    ~FaultReports();
    FaultReports(const FaultReports&) = delete;
    FaultReports& operator=(const FaultReports&) = delete;

private:
    stack_t earlier_stack_;
};

}  // namespace ablate_standin
