// Two blocks on chosen SMs that walk through different arrays: what one loses of a cache or TLB when the other works
// (Wong 2010, IV-J4).
#pragma once

#include "measure/chase/pointer_chase.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/run.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace gputomo::measure {

class InterferenceChase {
public:
    /// For LoadHint::texture `texture` lies over memory from `base` on.
    InterferenceChase(device::Device& device, LoadHint hint, device::Address base = 0, device::Texture texture = 0);

    /// Writes the arrays as cycles; they share no word.
    void set_arrays(std::span<const device::Address> own, std::span<const device::Address> rivals);
    /// Who walks: the own array's block on SM `sm`, or not at all, then `laps` times the rival's on SM `rival` (0: it
    /// only waits).
    struct Setup {
        std::uint32_t sm = 0, rival = 0;
        std::uint32_t passes = 0;
        bool own = true;
    };
    /// Cycles that a load takes: of the own array in a lap behind the rival's; of the rival's in its last lap.
    struct Cycles {
        double own = 0, rival = 0;
    };
    /// Nothing where no two blocks came to these SMs.
    [[nodiscard]] std::optional<Cycles> cycles(const Setup& walk);

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
    std::uint32_t own_iterations_ = 0, rival_iterations_ = 0;
};

}  // namespace gputomo::measure
