// What of a launch's data the L2 keeps while the launch runs, and what it writes to DRAM to make room for them.
#pragma once

#include "predict/launch/l2_content.hpp"

namespace gputomo::predict {

/// The data of a launch, in bytes, each byte counted once.
struct L2Data {
    double capacity = 0;  ///< of one partition of the L2, which is what one SM sees
    double sides = 1;     ///< partitions
    double read = 0, written = 0;
    double readers = 1;  ///< SMs that read a byte, in the mean
};

struct L2Use {
    bool fits = true;         ///< all data stay until the launch ends
    double kept_of_read = 1;  ///< share of the latest read bytes that are still there
    double written_back = 0;  ///< share of the written bytes that go to DRAM before the launch ends
    double displaced = 0;     ///< bytes of earlier data that go to DRAM for each byte of the launch
};

/// A line that is read is kept by its own partition, and by each other one whose SMs have read it. A line that is
/// written is kept once, and all partitions together keep as many written bytes as one of them holds
/// (docs/notes/2026-11-27-what-the-l2-keeps.md).
[[nodiscard]] L2Use l2_use_of(const L2Data& data, const L2Content& content);

}  // namespace gputomo::predict
