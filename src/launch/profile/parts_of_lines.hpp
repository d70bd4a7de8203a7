// Whether the lines that blocks read and write are read and written as a whole.
#pragma once

#include "costs/scattered_accesses.hpp"
#include "launch/profile/grid_footprint.hpp"

namespace gputomo::launch {

/// Blocks are added one after the other. What one block writes of a line is taken to reach memory together.
class PartsOfLines {
public:
    explicit PartsOfLines(const costs::ScatteredSpec& spec) : spec_(spec) {}

    /// Sectors that a block reads or writes, and those of all blocks before it.
    void add(const Sectors& own, const Sectors& before);
    /// Whether other blocks read or write the rest of the lines.
    [[nodiscard]] bool are_completed() const;
    /// Time of memory for a written byte of them, relative to that of a stream. It is 1 where they are completed,
    /// because the last cache keeps lines until then.
    [[nodiscard]] double cost_of_writes() const;

private:
    costs::ScatteredSpec spec_;
    double bytes_ = 0, streamed_ = 0;
    double blocks_ = 0, parts_ = 0;  ///< parts of lines that blocks have
    /// Parts of the blocks that have lines of which an earlier block has another part, and how many of these.
    double parts_of_continuing_ = 0, continued_ = 0;
};

}  // namespace gputomo::launch
