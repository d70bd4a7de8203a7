// The memory that each kind of mix reads.
#pragma once

#include "measure/mix/linked_array.hpp"
#include "measure/mix/mix_shape.hpp"

#include <map>
#include <memory>

namespace gputomo::measure {

/// The arrays of one device, each allocated when it is first needed.
class MixArrays {
public:
    explicit MixArrays(device::Device& device) : device_(device) {}

    /// `global`: a stream for all warps that the GPU holds. `l1` and `l2`: a ring that the cache holds. Other kinds
    /// read no lines and get the smallest ring.
    LinkedArray& of(MixAccess access);

private:
    [[nodiscard]] LinkedArray make(MixAccess access) const;

    device::Device& device_;
    std::map<MixAccess, std::unique_ptr<LinkedArray>> arrays_;
};

}  // namespace gputomo::measure
