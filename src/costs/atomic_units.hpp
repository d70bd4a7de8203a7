// The units of the cache of all SMs that perform atomics: which of them an address belongs to, and how long it is busy.
//
// The lanes of a warp instruction that ask for one address take one pass each. A pass sends one request to each line
// that it touches. The line's unit serves requests in order. A request that touches a sector of the one before it waits
// until that has its sum.
#pragma once

#include "machine/machine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::costs {

/// Atomics that take the same time.
enum class AtomicClass : std::uint8_t { integer, floating, double_precision, compare_swap };
/// Entries of `accesses`, by AtomicClass.
inline constexpr std::array<std::string_view, 4> kAtomicAccesses{"l2_atomic", "l2_atomic_float", "l2_atomic_double",
                                                                 "l2_atomic_swap"};

/// Cycles of a unit.
struct AtomicCost {
    double same_address = 0;  ///< from one request to the next one that touches its sector, at least
    double part = 0;          ///< of a request, for each sector of which it touches a part
    double sector = 0;        ///< for each whole sector
};

/// What one pass of a warp's atomics asks of one line.
struct AtomicRequest {
    AtomicClass kind = AtomicClass::integer;
    std::uint32_t sectors = 1;  ///< of `kSectorBytes`
    bool partial = true;        ///< does not cover all of these sectors
    bool lone = false;          ///< of one lane
};

class AtomicUnits {
public:
    static constexpr std::uint64_t kSectorBytes = 32;

    AtomicUnits(std::size_t units, std::uint64_t unit_bytes, const std::array<AtomicCost, 4>& costs)
        : units_(units), unit_bytes_(unit_bytes), costs_(costs) {}

    [[nodiscard]] std::size_t count() const { return units_; }
    /// Neighbouring pieces of `unit_bytes` belong to different units.
    [[nodiscard]] std::size_t unit_of(std::uint64_t address) const;
    /// Cycles for which a request occupies its unit if the one before it touched other sectors.
    [[nodiscard]] double apart(const AtomicRequest& request) const;
    /// Cycles for which a request occupies its unit if the one before it touched one of its sectors.
    [[nodiscard]] double together(const AtomicRequest& request) const;

private:
    std::size_t units_;
    std::uint64_t unit_bytes_;
    std::array<AtomicCost, 4> costs_;
};

/// Returns nullopt where the description has not all leaves of `accesses.l2_atomic`. What it lacks of other classes is
/// as for integers; the sentences of `assumptions` say so. Throws InputError for a value that cannot be.
[[nodiscard]] std::optional<AtomicUnits> atomic_units_of(const machine::Machine& machine,
                                                         std::vector<std::string>* assumptions = nullptr);

/// The lanes of `mask` of the next pass: of those that ask for one address, the lowest.
[[nodiscard]] std::uint32_t next_pass(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask);

}  // namespace gputomo::costs
