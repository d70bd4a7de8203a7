// Two blocks on chosen SMs that walk through different arrays: what one loses of a cache or TLB when the other works (Wong 2010, IV-J4).
#pragma once

#include "experiments/chase/pointer_chase.hpp"
#include "experiments/compiled_kernel.hpp"
#include "experiments/experiment.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace gputomo::experiments {

class Competition {
public:
    /// For LoadHint::texture `texture` lies over memory from `base` on.
    Competition(device::Device& device, LoadHint hint, device::Address base = 0, device::Texture texture = 0);

    /// Writes the arrays as cycles; they share no word.
    void set_arrays(std::span<const device::Address> own, std::span<const device::Address> rivals);
    /// Cycles a load of the own array takes on SM `sm` after it was walked through, then `laps` times the rival's on SM `rival`
    /// (0: the rival only waits). Nothing where no two blocks came to these SMs.
    [[nodiscard]] std::optional<double> cycles(std::uint32_t sm, std::uint32_t rival, std::uint32_t laps);

private:
    [[nodiscard]] std::uint64_t link_to(device::Address address) const;
    device::Device& device_;
    LoadHint hint_;
    device::Address base_;
    device::Texture texture_;
    std::shared_ptr<device::Module> module_;
    CompiledKernel kernel_;
    LinkWriter writer_;
    device::Buffer results_;
    std::uint32_t sms_ = 1;
    std::optional<ConstantLinks> constants_;
    std::uint64_t own_start_ = 0, rival_start_ = 0;
    std::uint32_t own_loads_ = 0, rival_loads_ = 0;
};

}  // namespace gputomo::experiments
