#include "report/parts/subsystems.hpp"

#include <algorithm>

namespace gputomo::report {
namespace {

constexpr Subsystem kSubsystems[] = {
    {"gpu", "Chip and SM", "Chip", {"identity", "clock", "topology"}},
    {"issue", "Issue and control flow", "Issue", {"issue", "instruction_supply"}},
    {"arithmetic", "Arithmetic", "Arithmetic", {"pipelines", "operations"}},
    {"shared", "Shared memory", "Shared", {"shared"}},
    {"caches", "Caches and paths to memory", "Caches", {"caches", "paths"}},
    {"translation", "Address translation", "TLBs", {"tlbs"}},
    {"memory", "Memory", "Memory", {"memory", "patterns", "accesses"}},
    {"launch", "Launching kernels", "Launch", {"launch"}},
};

}  // namespace

std::span<const Subsystem> subsystems() { return kSubsystems; }

std::string_view section_of(std::string_view path) { return path.substr(0, path.find_first_of(".[")); }

const Subsystem* subsystem_of(std::string_view path) {
    const auto section = section_of(path);
    const auto found = std::find_if(std::begin(kSubsystems), std::end(kSubsystems), [&](const Subsystem& s) {
        return std::find(s.parts.begin(), s.parts.end(), section) != s.parts.end();
    });
    return found == std::end(kSubsystems) ? nullptr : found;
}

}  // namespace gputomo::report
