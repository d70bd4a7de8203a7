#include "report/generations.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace gputomo::report {
namespace {

using Capability = std::pair<std::int64_t, std::int64_t>;

std::optional<Capability> capability_of(const machine::Machine& machine) {
    if (!machine.identity.compute_capability_major || !machine.identity.compute_capability_minor) return std::nullopt;
    return Capability{*machine.identity.compute_capability_major, *machine.identity.compute_capability_minor};
}

/// Compute capabilities of one generation, from `first` to `last` (CUDA C++ Programming Guide, "Compute
/// Capabilities"). GPUs that appeared side by side, for servers and for graphics, are one generation.
struct Generation {
    Capability first, last;
};
constexpr Generation kGenerations[] = {
    {{1, 0}, {1, 1}},    // G80
    {{1, 2}, {1, 3}},    // GT200
    {{2, 0}, {2, 1}},    // Fermi
    {{3, 0}, {3, 7}},    // Kepler
    {{5, 0}, {5, 3}},    // Maxwell
    {{6, 0}, {6, 2}},    // Pascal
    {{7, 0}, {7, 2}},    // Volta
    {{7, 5}, {7, 5}},    // Turing
    {{8, 0}, {8, 8}},    // Ampere
    {{8, 9}, {9, 0}},    // Ada and Hopper
    {{10, 0}, {12, 9}},  // Blackwell
};

/// The place of a capability's generation in their order; nullopt for an unknown capability.
std::optional<std::ptrdiff_t> generation_of(const Capability& capability) {
    const auto found = std::ranges::find_if(kGenerations, [&](const Generation& generation) {
        return generation.first <= capability && capability <= generation.last;
    });
    return found == std::end(kGenerations) ? std::nullopt : std::optional(found - std::begin(kGenerations));
}

}  // namespace

const machine::Machine* generation_before(const machine::Machine& machine, std::span<const machine::Machine> known) {
    const auto own = capability_of(machine);
    const auto generation = own ? generation_of(*own) : std::nullopt;
    if (!generation) return nullptr;
    const machine::Machine* last = nullptr;
    for (const auto& other : known) {
        const auto theirs = capability_of(other);
        if (!theirs || generation_of(*theirs) != *generation - 1 ||
            (last != nullptr && *theirs <= *capability_of(*last)))
            continue;
        last = &other;
    }
    return last;
}

}  // namespace gputomo::report
