#include "predict/launch/l2_use.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::predict {

L2Use l2_use_of(const L2Data& data, const L2Content& content) {
    // Readers are spread over the partitions at random. This is the probability that a partition has one of them.
    const double by_another = 1 - std::pow(1 - 1 / data.sides, data.readers);
    const double copies = 1 + (data.sides - 1) * by_another;
    const double room = data.sides * data.capacity, occupied = copies * data.read + data.written;
    L2Use use{.fits = occupied <= room};
    const double kept = use.fits ? 1 : room / occupied;
    use.kept_of_read = kept;
    if (data.written > 0) use.written_back = 1 - std::min(data.capacity, data.written * kept) / data.written;
    // What the launch finds of its own data, it does not have to put there.
    if (!use.fits && content.own_share() > 0) use.written_back = 1 - content.own_share();
    if (content.is_dirty() && room > 0)
        use.displaced = data.capacity * std::min(1.0, occupied / room) / std::max(1.0, data.read + data.written);
    return use;
}

}  // namespace gputomo::predict
