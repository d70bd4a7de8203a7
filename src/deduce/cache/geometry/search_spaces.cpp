#include "deduce/cache/geometry/search_spaces.hpp"

#include <bit>

namespace gputomo::deduce::cache {
namespace {

/// Lines are searched for in the first `times` times the smallest array that overflows. The window that the geometry is
/// then checked in is the whole buffer or only that span.
struct Trial {
    std::uint64_t times = 0;
    bool whole_buffer = false;
};
/// In the order of trial. A much larger span brings other limits into play, such as a TLB's; a smaller one may not hold
/// enough lines of one set.
constexpr Trial kSearchTrials[] = {{8, true}, {8, false}, {32, true}, {4, false}};

}  // namespace

std::vector<SearchSpace> search_spaces(const CacheQuestion& question) {
    const std::uint64_t all = std::bit_floor(question.buffer_bytes);
    std::vector<SearchSpace> spaces;
    for (const auto& trial : kSearchTrials) {
        const std::uint64_t bytes = std::bit_ceil(question.overflows) * trial.times;
        if (trial.whole_buffer || bytes < all) spaces.push_back({trial.whole_buffer ? all : bytes, bytes});
    }
    return spaces;
}

}  // namespace gputomo::deduce::cache
