// What accesses to global memory cost whose words lie side by side.
#pragma once

#include "launch/profile/launch_profile.hpp"
#include "machine/machine.hpp"
#include "sim/sm/load_store/coalescer.hpp"
#include "sim/sm/load_store/load_ports.hpp"
#include "sim/sm/load_store/shared_banks.hpp"

#include <optional>

namespace gputomo::answer::changes {

/// Gives accesses whose words lie side by side their time at the port to the first cache, as the recorder does.
class SideBySide {
public:
    explicit SideBySide(const machine::Machine& machine);
    void price(launch::WarpAccess& access);

private:
    sim::LoadPort port_;
    sim::Coalescers coalescers_;
    std::optional<sim::SharedBanks> banks_;
};

}  // namespace gputomo::answer::changes
