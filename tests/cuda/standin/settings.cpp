// What the environment says about the stand-in's GPUs.
#include "settings.h"

#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>

#include "standin.h"

namespace ablate_standin {
namespace {

unsigned long long number_from(const char* variable, const std::string& text) {
    size_t used = 0;
    unsigned long long number = 0;
    try {
        number = std::stoull(text, &used);
    } catch (const std::exception&) {
        used = std::string::npos;
    }
    if (used != text.size()) fatal(std::string(variable) + " holds `" + text + "`, which is no number");
    return number;
}

Order order_from(const std::string& text) {
    static const std::string random = "random:";
    if (text == "forward") return {};
    if (text == "reverse") return {Order::reverse, 0};
    if (text.rfind(random, 0) != 0) fatal("ABLATE_STANDIN_ORDER is neither forward, reverse nor random:SEED");
    return {Order::random, number_from("ABLATE_STANDIN_ORDER", text.substr(random.size()))};
}

// As CUDA reads it: GPUs behind the first that does not exist are not seen.
std::vector<int> visible_gpus(int count, const char* list) {
    std::vector<int> gpus;
    std::istringstream names(list);
    for (std::string name; std::getline(names, name, ',');) {
        const bool is_number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
        if (!is_number || number_from("CUDA_VISIBLE_DEVICES", name) >= static_cast<unsigned>(count)) break;
        gpus.push_back(std::stoi(name));
    }
    return gpus;
}

}  // namespace

Settings read_settings() {
    Settings settings;
    const auto given = [](const char* variable) { return std::getenv(variable); };
    int count = 1;
    if (const char* text = given("ABLATE_STANDIN_DEVICES")) {
        count = static_cast<int>(number_from("ABLATE_STANDIN_DEVICES", text));
    }
    for (int ordinal = 0; ordinal < count; ++ordinal) settings.gpus.push_back(ordinal);
    if (const char* list = given("CUDA_VISIBLE_DEVICES")) settings.gpus = visible_gpus(count, list);
    if (const char* text = given("ABLATE_STANDIN_MEMORY")) settings.memory = number_from("ABLATE_STANDIN_MEMORY", text);
    if (const char* text = given("ABLATE_STANDIN_ORDER")) settings.order = order_from(text);
    return settings;
}

}  // namespace ablate_standin
