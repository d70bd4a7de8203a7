#include "predict/launch/touched_bytes.hpp"

#include "units/number_set.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace gputomo::predict {

TouchedBytes touched_bytes(std::span<const launch::BlockTrace> blocks, double granule) {
    const auto sectors = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(granule) / launch::kTouchedSectorBytes);
    NumberSet read, written;
    for (const launch::BlockTrace& block : blocks)
        for (const launch::WarpAccess& access : block.accesses) {
            if (access.stage == launch::Stage::constants) continue;
            for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i)
                for (std::uint32_t bits = block.lines[i].sectors; bits != 0; bits &= bits - 1) {
                    const auto number =
                        (block.lines[i].line * (launch::kTouchedLineBytes / launch::kTouchedSectorBytes) +
                         static_cast<std::uint64_t>(std::countr_zero(bits))) /
                        sectors;
                    if (access.kind != launch::AccessKind::store) read.insert(number);
                    if (access.kind != launch::AccessKind::load) written.insert(number);
                }
        }
    return {static_cast<double>(read.size()) * granule, static_cast<double>(written.size()) * granule};
}

}  // namespace gputomo::predict
