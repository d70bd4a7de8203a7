#include "predict/launch/touched_bytes.hpp"

#include "units/number_set.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace gputomo::predict {

TouchedBytes touched_bytes(std::span<const launch::BlockTrace> blocks, double granule) {
    const auto sectors = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(granule) / launch::kTouchedSectorBytes);
    NumberSet read, written, written_sectors;
    std::unordered_map<std::uint64_t, costs::LineBytes> lines;
    for (const launch::BlockTrace& block : blocks)
        for (const launch::WarpAccess& access : block.accesses) {
            if (access.stage == launch::Stage::constants) continue;
            for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i) {
                const bool writes = access.kind != launch::AccessKind::load;
                if (writes) lines[block.lines[i].line].add(written_by(block.lines[i]));
                for (std::uint32_t bits = block.lines[i].sectors; bits != 0; bits &= bits - 1) {
                    const std::uint64_t sector =
                        block.lines[i].line * (launch::kTouchedLineBytes / launch::kTouchedSectorBytes) +
                        static_cast<std::uint64_t>(std::countr_zero(bits));
                    if (access.kind != launch::AccessKind::store) read.insert(sector / sectors);
                    if (!writes) continue;
                    written.insert(sector / sectors);
                    written_sectors.insert(sector);
                }
            }
        }
    double stored = 0;
    for (const auto& [line, bytes] : lines) stored += bytes.count();
    return {.read = static_cast<double>(read.size()) * granule,
            .written = static_cast<double>(written.size()) * granule,
            .written_sectors = static_cast<double>(written_sectors.size()),
            .written_lines = static_cast<double>(lines.size()),
            .stored = stored};
}

}  // namespace gputomo::predict
