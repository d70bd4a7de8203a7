// A block that stays on its SM for a while.
#pragma once

#include "ptx/builder.hpp"

namespace gputomo::experiments {

/// Appends a wait until the SM's clock is `cycles` (a u32 register) beyond `start`, a clock32() of the same block.
inline void wait_since(ptx::KernelBuilder& k, ptx::Reg start, ptx::Reg cycles) {
    const ptx::Reg spent = k.reg(ptx::Type::u32);
    const ptx::Reg more = k.reg(ptx::Type::pred);
    k.while_(
        [&] {
            k("sub.u32", spent, k.clock32(), start);
            k("setp.lt.u32", more, spent, cycles);
            return ptx::Condition(more);
        },
        [] {});
}

}  // namespace gputomo::experiments
