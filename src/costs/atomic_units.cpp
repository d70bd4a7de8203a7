#include "costs/atomic_units.hpp"

#include "units/error.hpp"
#include "units/scattered.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace gputomo::costs {
namespace {

/// More units than any GPU has slices of its last cache.
constexpr std::int64_t kMostUnits = 4096;

[[noreturn]] void reject(std::string_view access, std::string_view leaf, double found, std::string_view expected) {
    throw InputError(fmt::format("accesses.{}.{}: found {:g}; expected {}", access, leaf, found, expected));
}

double cycles_of(const machine::Real& field, std::string_view access, std::string_view leaf) {
    if (!(*field > 0)) reject(access, leaf, *field, "a number greater than 0");
    return *field;
}

bool describes_cost(const machine::Access& access) {
    return access.same_address_cycles && access.part_cycles && access.sector_cycles;
}

AtomicCost cost_of(const machine::Access& access, std::string_view name) {
    return {.same_address = cycles_of(access.same_address_cycles, name, "same_address_cycles"),
            .part = cycles_of(access.part_cycles, name, "part_cycles"),
            .sector = cycles_of(access.sector_cycles, name, "sector_cycles")};
}

}  // namespace

std::size_t AtomicUnits::unit_of(std::uint64_t address) const {
    const std::uint64_t piece = address / unit_bytes_;
    // A power of two between addresses must not keep to a few of the units.
    return static_cast<std::size_t>((piece + scattered(piece / units_)) % units_);
}

double AtomicUnits::apart(const AtomicRequest& request) const {
    const AtomicCost& cost = costs_[static_cast<std::size_t>(request.kind)];
    // Requests of one lane on one address follow each other after `same_address`, so none of them takes longer.
    if (request.lone) return std::min(cost.part, cost.same_address);
    return request.sectors * (request.partial ? cost.part : cost.sector);
}

double AtomicUnits::together(const AtomicRequest& request) const {
    return std::max(apart(request), costs_[static_cast<std::size_t>(request.kind)].same_address);
}

std::optional<AtomicUnits> atomic_units_of(const machine::Machine& machine, std::vector<std::string>* assumptions) {
    const auto integers = machine.accesses.find(std::string(kAtomicAccesses.front()));
    if (integers == machine.accesses.end()) return std::nullopt;
    const machine::Access& all = integers->second;
    if (!describes_cost(all) || !all.units || !all.unit_bytes) return std::nullopt;
    if (*all.units < 1 || *all.units > kMostUnits)
        reject(integers->first, "units", static_cast<double>(*all.units),
               fmt::format("a whole number from 1 to {}", kMostUnits));
    const auto least = static_cast<std::int64_t>(AtomicUnits::kSectorBytes);
    if (*all.unit_bytes < least || *all.unit_bytes % least != 0)
        reject(integers->first, "unit_bytes", static_cast<double>(*all.unit_bytes),
               fmt::format("a multiple of {} bytes", least));
    std::array<AtomicCost, kAtomicAccesses.size()> costs{};
    for (std::size_t kind = 0; kind < costs.size(); ++kind) {
        const auto found = machine.accesses.find(std::string(kAtomicAccesses[kind]));
        const bool described = found != machine.accesses.end() && describes_cost(found->second);
        costs[kind] = described ? cost_of(found->second, kAtomicAccesses[kind]) : costs.front();
        if (!described && assumptions != nullptr)
            assumptions->push_back(
                fmt::format("accesses.{}: not described; such atomics take as long as those on "
                            "integers",
                            kAtomicAccesses[kind]));
    }
    return AtomicUnits(static_cast<std::size_t>(*all.units), static_cast<std::uint64_t>(*all.unit_bytes), costs);
}

std::uint32_t next_pass(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask) {
    std::uint32_t pass = 0;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        bool first = true;
        for (std::uint32_t before = pass; before != 0 && first; before &= before - 1)
            first = addresses[static_cast<std::size_t>(std::countr_zero(before))] != addresses[lane];
        if (first) pass |= 1U << lane;
    }
    return pass;
}

}  // namespace gputomo::costs
