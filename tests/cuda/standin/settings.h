// What the environment says about the stand-in's GPUs. See driver.cpp for the variables.
#pragma once

#include <cstddef>
#include <vector>

#include "blocks.h"

namespace ablate_standin {

struct Settings {
    std::vector<int> gpus;  // those that the process sees, as they are counted among all
    size_t memory = size_t{1} << 30;
    Order order;
};

// Ends the process where a variable makes no sense.
Settings read_settings();

}  // namespace ablate_standin
