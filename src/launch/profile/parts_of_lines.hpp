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
    [[nodiscard]] bool are_completed() const { return completed_; }
    /// Time of memory for a written byte of them, relative to that of a stream. It is 1 where they are completed,
    /// because the last cache keeps lines until then.
    [[nodiscard]] double cost_of_writes() const;

private:
    costs::ScatteredSpec spec_;
    double bytes_ = 0, streamed_ = 0;
    bool completed_ = false;  ///< a block goes on with lines of which earlier ones have parts
};

}  // namespace gputomo::launch
