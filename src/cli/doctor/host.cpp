#include "cli/doctor/host.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <system_error>

namespace gputomo::cli {
namespace {

/// The value of a line "RmProfilingAdminOnly: 1".
std::optional<bool> switch_in(const std::filesystem::path& file, const std::string& name) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string first;
        int value = 0;
        if (words >> first >> value && first == name + ":") return value != 0;
    }
    return std::nullopt;
}

std::string program_on(const std::string& path, const std::string& name) {
    std::stringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const auto file = std::filesystem::path(folder.empty() ? "." : folder) / name;
        std::error_code unreadable;
        if (std::filesystem::is_regular_file(file, unreadable) && access(file.c_str(), X_OK) == 0) return file.string();
    }
    return {};
}

}  // namespace

HostFacts host_facts(const std::filesystem::path& root, const std::string& path) {
    const auto driver = root / "proc/driver/nvidia";
    std::error_code unreadable;
    return {.kernel_driver = std::filesystem::exists(driver / "version", unreadable),
            .counters_for_root_only = switch_in(driver / "params", "RmProfilingAdminOnly"),
            .ptxas = program_on(path, "ptxas"),
            .nvcc = program_on(path, "nvcc")};
}

}  // namespace gputomo::cli
