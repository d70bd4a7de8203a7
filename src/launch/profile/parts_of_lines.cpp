#include "launch/profile/parts_of_lines.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace gputomo::launch {
namespace {

constexpr std::uint64_t kSectors = kTouchedLineBytes / kTouchedSectorBytes;
/// Blocks go on with the lines of others where earlier ones have other parts of this share of their lines. Sectors at
/// random places meet in fewer lines.
constexpr double kContinued = 0.5;
/// Blocks that go on with others decide if together they have this share of the parts that a mean block has. The rest
/// of a halo does not decide for the grid.
constexpr double kEnough = 0.5;

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
    ++blocks_;
    parts_ += parts;
    // The rest of the lines of a block that meets no other one may belong to a block that was not executed.
    if (continued == 0) return;
    parts_of_continuing_ += parts;
    continued_ += continued;
}

bool PartsOfLines::are_completed() const {
    return continued_ > 0 && continued_ >= kContinued * parts_of_continuing_ &&
           parts_of_continuing_ * blocks_ >= kEnough * parts_;
}

double PartsOfLines::cost_of_writes() const { return bytes_ == 0 || are_completed() ? 1 : streamed_ / bytes_; }

}  // namespace gputomo::launch
