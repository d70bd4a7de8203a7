// What the operating system says of the NVIDIA driver and of NVIDIA's compilers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace gputomo::cli {

struct HostFacts {
    bool kernel_driver = false;                  ///< whether the kernel has loaded the driver
    std::optional<bool> counters_for_root_only;  ///< nullopt where the kernel driver does not say
    std::string ptxas;                           ///< the file; empty where it is not found
    std::string nvcc;
};

/// Reads `root`/proc/driver/nvidia, and looks for the compilers in the folders of `path`, separated by colons.
[[nodiscard]] HostFacts host_facts(const std::filesystem::path& root, const std::string& path);

}  // namespace gputomo::cli
