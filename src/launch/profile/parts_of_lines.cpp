#include "launch/profile/parts_of_lines.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace gputomo::launch {
namespace {

constexpr std::uint64_t kSectors = kTouchedLineBytes / kTouchedSectorBytes;
/// A block goes on with the lines of earlier ones where they have other parts of this share of its lines. Sectors at
/// random places meet in fewer lines.
constexpr double kContinued = 0.5;

}  // namespace

void PartsOfLines::add(const Sectors& own, const Sectors& before) {
    if (spec_.write == 0 && spec_.read == 0) return;
    std::vector<std::uint64_t> sorted;
    sorted.reserve(own.size());
    for (const std::uint64_t sector : own) sorted.push_back(sector);
    std::ranges::sort(sorted);
    costs::ScatteredAccesses writes(spec_, costs::ScatteredAccesses::kOfCache);
    double parts = 0, continued = 0;  // of lines; those of which an earlier block has another part
    for (std::size_t i = 0; i < sorted.size();) {
        const std::uint64_t line = sorted[i] / kSectors;
        std::uint32_t sectors = 0;
        for (; i < sorted.size() && sorted[i] / kSectors == line; ++i) sectors |= 1U << sorted[i] % kSectors;
        const auto bytes = static_cast<double>(std::popcount(sectors) * kTouchedSectorBytes);
        bytes_ += bytes;
        streamed_ += writes.write(line * kTouchedLineBytes, bytes);
        if (std::popcount(sectors) == kSectors) continue;
        ++parts;
        for (std::uint64_t sector = 0; sector < kSectors; ++sector)
            if ((sectors >> sector & 1) == 0 && before.contains(line * kSectors + sector)) {
                ++continued;
                break;
            }
    }
    completed_ = completed_ || (parts > 0 && continued >= kContinued * parts);
}

double PartsOfLines::cost_of_writes() const {
    return bytes_ == 0 || completed_ ? 1 : streamed_ / bytes_;
}

}  // namespace gputomo::launch
