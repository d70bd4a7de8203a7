// How far the SMs of a GPU are out of step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gputomo::predict {

/// SMs begin a launch together. Each block takes a little longer on one SM than on another, and these differences add
/// up from wave to wave as in a random walk. After many waves, SMs are anywhere between the start and the end of a
/// block.
class StepsApart {
public:
    void end_block(double cycles) {
        ++ended_;
        const double from_mean = cycles - mean_;
        mean_ += from_mean / static_cast<double>(ended_);
        squares_ += from_mean * (cycles - mean_);
    }
    /// Cycles between the first and the last of the SMs after that many waves: the width of an even distribution with
    /// the standard deviation of their sum.
    [[nodiscard]] double after(double waves) const {
        if (ended_ < 2) return 0;
        const double variance = squares_ / static_cast<double>(ended_ - 1);
        return std::min(mean_, std::sqrt(12 * variance * waves));
    }

private:
    std::size_t ended_ = 0;
    double mean_ = 0, squares_ = 0;  ///< of the cycles of a block
};

}  // namespace gputomo::predict
