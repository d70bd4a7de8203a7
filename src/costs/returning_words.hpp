// When the words of a warp's loads are back from the storage of its SM.
#pragma once

#include <algorithm>

namespace gputomo::costs {

/// Words that lie in one bank of shared memory or of the first-level cache come back to their warp
/// shared.conflict_cost cycles apart. Meanwhile the storage reads words of other warps, so that all warps together get
/// more. The loads of one warp share this way back. A load of 32 words in one bank takes a lone warp 69 cycles on an
/// H200, and several warps 32 (docs/notes/2026-11-26-streams-of-an-h200.md). Each warp has one object.
class ReturningWords {
public:
    struct Load {
        double first = 0, last = 0;  ///< when the first and the last of its words can leave the storage
        double cycles = 0;           ///< for which its words occupy the way back
        double spread = 0;           ///< cycles from the return of its first word to that of its last one, at least
    };
    /// Returns when the last word is back. Words return in the order in which they can leave, whichever of the warp's
    /// loads they are of.
    double back(const Load& load) {
        // The way back is idle before the words that it now waits for.
        if (load.first + load.cycles <= begin_) return std::max(load.last, load.first + load.spread);
        if (load.first > begin_ + work_) begin_ = load.first, work_ = 0;
        const double done = std::max(load.last, begin_ + work_ + load.spread);
        work_ += load.cycles;
        return done;
    }

private:
    double begin_ = 0;  ///< of the present time without a pause
    double work_ = 0;   ///< cycles since then, of all loads
};

}  // namespace gputomo::costs
