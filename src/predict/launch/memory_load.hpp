// How busy memory is, and how long reads wait for it.
#pragma once

#include "predict/launch/sm_rates.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::predict {

/// How long reads wait because memory is busy with those of all SMs.
class MemoryLoad {
public:
    explicit MemoryLoad(const std::vector<ContentionTerm>& terms) : terms_(terms) {}

    void add(double now, double bytes);
    [[nodiscard]] double wait(double now);

private:
    struct Bucket {
        std::int64_t number = -1;
        double bytes = 0;
    };
    Bucket& bucket_of(std::int64_t number) { return buckets_[static_cast<std::size_t>(number) % buckets_.size()]; }

    const std::vector<ContentionTerm>& terms_;
    std::array<Bucket, 256> buckets_;
};

}  // namespace gputomo::predict
