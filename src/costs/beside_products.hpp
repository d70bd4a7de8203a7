// Arithmetic of a scheduler whose tensor core multiplies matrices of a warp group.
#pragma once

#include "machine/machine.hpp"

#include <algorithm>

namespace gputomo::costs {

/// Cycles from one arithmetic instruction of a scheduler to the next while its tensor core adds products to sums of
/// `registers` registers a thread in `cycles`. The description has this time for a register a cycle, which single
/// precision sums need. The sums pass through the register file, so that half as many take half of it. 0 where nothing
/// is described.
[[nodiscard]] inline double interval_beside_products(const machine::Machine& machine, double registers, double cycles) {
    return cycles > 0 ? machine.issue.beside_products.value_or(0) * std::min(1.0, registers / cycles) : 0;
}

/// The products that the tensor core of one scheduler still has to multiply.
class ProductsUnderWay {
public:
    /// A product that ends at `end`; arithmetic issues every `interval` cycles until then.
    void add(double end, double interval) {
        end_ = std::max(end_, end);
        interval_ = interval;
    }
    /// When the next arithmetic instruction can issue after one at `now` that writes `registers` registers.
    [[nodiscard]] double next(double now, double registers) const {
        return now < end_ ? now + interval_ * registers : now;
    }

private:
    double end_ = 0, interval_ = 0;
};

}  // namespace gputomo::costs
