#include "measure/mix/mix_arrays.hpp"

#include "measure/mix/mix_throughput.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace gputomo::measure {
namespace {

/// An L1's ring has one line, which the first load brings. More lines would only risk misses.
constexpr std::int64_t kL1Lines = 1;
/// An L2's ring takes a quarter of the L2 that the driver reports, so that it fits one of several partitions too,
/// and at most 2^16 lines (8 MiB). A larger ring spreads loads over more slices but may miss.
constexpr std::int64_t kL2Share = 4;
constexpr std::int64_t kMostL2Lines = std::int64_t{1} << 16;

}  // namespace

LinkedArray& MixArrays::of(MixAccess access) {
    auto& array = arrays_[access];
    if (!array) array = std::make_unique<LinkedArray>(make(access));
    return *array;
}

LinkedArray MixArrays::make(MixAccess access) const {
    if (access == MixAccess::global) return {device_, max_warps_of(device_), MixThroughput::kMostLines};
    if (access != MixAccess::l2) return LinkedArray::ring(device_, kL1Lines);
    const auto lines =
        device_.attribute(device::Attribute::l2_cache_bytes).value_or(0) / LinkedArray::kLineBytes / kL2Share;
    return LinkedArray::ring(device_, static_cast<std::int64_t>(std::bit_floor(
                                          static_cast<std::uint64_t>(std::clamp(lines, kL1Lines, kMostL2Lines)))));
}

}  // namespace gputomo::measure
