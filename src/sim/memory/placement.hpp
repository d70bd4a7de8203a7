// Which SMs share an instance of a cache or TLB, and how latency depends on the position of an SM.
#pragma once

#include "machine/machine.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::sim {

enum class Scope : std::uint8_t { scheduler, sm, tpc, cpc, gpc, gpu };

class Placement {
public:
    /// Throws InputError when topology.sms is missing.
    explicit Placement(const machine::Machine& machine);

    /// Reads a scope leaf and checks that the topology has what it needs. Throws InputError.
    [[nodiscard]] Scope scope_of(const machine::Text& scope, const std::string& path) const;
    [[nodiscard]] std::size_t instances(Scope scope) const;
    [[nodiscard]] std::size_t instance(Scope scope, std::uint32_t sm, std::uint32_t scheduler) const {
        if (scope == Scope::scheduler) return std::size_t{sm} * schedulers_ + scheduler % schedulers_;
        return of_sm_[static_cast<std::size_t>(scope)][sm];
    }
    [[nodiscard]] std::uint32_t sms() const { return sms_; }
    /// The GPC to whose port the SM belongs. Caches of a GPC (Scope::gpc) follow `topology.sms_per_gpc` alone.
    [[nodiscard]] std::uint32_t gpc_of(std::uint32_t sm) const { return gpcs_[sm]; }
    [[nodiscard]] std::size_t gpcs() const { return gpcs_.back() + std::size_t{1}; }

    /// Latency by SM, the same within a TPC. Latencies rise from the smallest to the largest of `range` in even steps.
    /// Then they are adjusted until their mean over SMs, rounded, is `mean` (Wong 2010, IV-G gives mean and range).
    /// Without a range all are `mean`. Throws InputError naming `path` when no such latencies exist.
    [[nodiscard]] std::vector<double> spread(std::int64_t mean, const machine::Integers& range,
                                             const std::string& path) const;

private:
    std::uint32_t sms_;
    std::uint32_t schedulers_ = 0;  ///< 0: not described
    std::uint32_t sms_per_tpc_ = 0;
    std::uint32_t sms_per_cpc_ = 0;
    std::uint32_t sms_per_gpc_ = 0;
    std::array<std::vector<std::uint32_t>, 6> of_sm_;  ///< by scope
    std::vector<std::uint32_t> gpcs_;                  ///< by SM
};

}  // namespace gputomo::sim
