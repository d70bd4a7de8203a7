// "wong2010" -> the paper's data and its simulated GPUs.
#pragma once

#include "device/device.hpp"
#include "reproduce/papers/paper.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gputomo::cli {

[[nodiscard]] std::vector<reproduce::Paper> shipped_papers();
/// Throws InputError that lists the papers there are.
[[nodiscard]] reproduce::Paper shipped_paper(const std::string& id);

/// The described GPU with the paper's settings.
[[nodiscard]] std::unique_ptr<device::Device> open_paper_gpu(const std::string& name, const reproduce::PaperGpu& gpu,
                                                             std::uint64_t seed);

}  // namespace gputomo::cli
