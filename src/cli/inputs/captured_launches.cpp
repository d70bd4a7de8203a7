#include "cli/inputs/captured_launches.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

namespace gputomo::cli {

std::vector<std::size_t> chosen_launches(const capture::Capture& captured, const std::string& file,
                                         const std::string& kernel, const std::vector<int>& numbers) {
    std::vector<std::size_t> chosen;
    for (const int number : numbers) {
        if (number < 0 || static_cast<std::size_t>(number) >= captured.launches.size())
            throw InputError(
                fmt::format("--launch {}: {} has {} launches, counted from 0", number, file, captured.launches.size()));
        chosen.push_back(static_cast<std::size_t>(number));
    }
    if (!chosen.empty()) return chosen;
    for (std::size_t i = 0; i < captured.launches.size(); ++i) {
        const auto& launch = captured.launches[i];
        if (!launch.kernel || !launch.buffers) continue;
        const auto& named = captured.kernels[static_cast<std::size_t>(launch.kernel->kernel)];
        if (kernel.empty() || named.name == kernel) chosen.push_back(i);
    }
    if (chosen.empty())
        throw InputError(
            fmt::format("{}: no launch with memory{}{}", file, kernel.empty() ? "" : " of the kernel ", kernel));
    return chosen;
}

}  // namespace gputomo::cli
