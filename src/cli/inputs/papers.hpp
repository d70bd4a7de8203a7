// Finds a shipped paper by its id ("wong2010") and opens its simulated GPUs.
#pragma once

#include "device/device.hpp"
#include "reproduce/papers/paper.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gputomo::cli {

[[nodiscard]] std::vector<reproduce::Paper> shipped_papers();
/// Throws InputError that lists the papers where `id` is not one of them.
[[nodiscard]] reproduce::Paper shipped_paper(const std::string& id);

/// Simulates the described GPU with the paper's settings. `name` is the paper's name of the GPU.
[[nodiscard]] std::unique_ptr<device::Device> open_paper_gpu(const std::string& name, const reproduce::PaperGpu& gpu,
                                                             std::uint64_t seed);

}  // namespace gputomo::cli
