// The error of a kernel that has machine code which is not executed here.
#pragma once

#include "units/error.hpp"

namespace gputomo::sim {

/// A warp reached an instruction that cannot be decoded or executed. The kernel is not at fault, and no other way to
/// execute its machine code helps.
class RefusedInstruction : public DeviceError {
public:
    using DeviceError::DeviceError;
};

}  // namespace gputomo::sim
