// Two blocks on chosen SMs chase through different arrays: what one loses of a cache or TLB while the other works
// (Wong 2010, IV-J4).
#pragma once

#include "measure/chase/pointer_chase.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/run.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace gputomo::measure {

/// Measures the interference of two blocks, one launch for each setup.
class InterferenceChase {
public:
    /// With LoadHint::texture, `texture` covers the memory from `base` on.
    InterferenceChase(device::Device& device, LoadHint hint, device::Address base = 0, device::Texture texture = 0);

    /// Writes both arrays as cycles. They must not share a word.
    void set_arrays(std::span<const device::Address> own, std::span<const device::Address> rivals);
    /// The block on SM `sm` warms its own array and later times a pass through it, if `own`. In between the block on
    /// SM `rival` makes `passes` passes through the rival's array. With `passes` = 0 the rival only waits.
    struct Setup {
        std::uint32_t sm = 0, rival = 0;
        std::uint32_t passes = 0;
        bool own = true;
    };
    /// Cycles per load: of the own array in the pass after the rival's, and of the rival's array in its last pass.
    struct Cycles {
        double own = 0, rival = 0;
    };
    /// nullopt if no two blocks reached these SMs.
    [[nodiscard]] std::optional<Cycles> cycles(const Setup& setup);

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
