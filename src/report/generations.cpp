#include "report/generations.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace gputomo::report {
namespace {

using Capability = std::pair<std::int64_t, std::int64_t>;

std::optional<Capability> capability_of(const machine::Machine& machine) {
    if (!machine.identity.compute_capability_major || !machine.identity.compute_capability_minor) return std::nullopt;
    return Capability{*machine.identity.compute_capability_major, *machine.identity.compute_capability_minor};
}

}  // namespace

const machine::Machine* generation_before(const machine::Machine& machine, std::span<const machine::Machine> known) {
    const auto own = capability_of(machine);
    if (!own) return nullptr;
    std::set<std::string> own_architectures;
    for (const auto& other : known)
        if (capability_of(other) == own) own_architectures.insert(other.identity.architecture.value_or(""));
    const machine::Machine* last = nullptr;
    for (const auto& other : known) {
        const auto theirs = capability_of(other);
        if (!theirs || *theirs >= *own || own_architectures.contains(other.identity.architecture.value_or("")) ||
            (last != nullptr && *theirs <= *capability_of(*last)))
            continue;
        last = &other;
    }
    return last;
}

}  // namespace gputomo::report
