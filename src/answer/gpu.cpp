#include "answer/gpu.hpp"

namespace gputomo::answer {

std::vector<std::string> assumptions_of(const Gpu& gpu) {
    std::vector<std::string> assumptions;
    if (!gpu.machine.paths.contains("instruction"))
        assumptions.emplace_back("instructions are always there, because paths.instruction is not described");
    return assumptions;
}

}  // namespace gputomo::answer
