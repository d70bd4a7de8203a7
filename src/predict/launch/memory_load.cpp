#include "predict/launch/memory_load.hpp"

namespace gputomo::predict {
namespace {

/// Cycles over which the throughput of reads is averaged, in `kBuckets` parts. A longer time averages over phases of a
/// kernel, and in a shorter one single accesses count as load.
constexpr double kBucketCycles = 256;
constexpr std::int64_t kBuckets = 4;
/// Share of a limit at which the wait stops growing: nearer to it the measured curve is steep and uncertain.
constexpr double kMostOfLimit = 0.9;

std::int64_t bucket_number(double now) { return static_cast<std::int64_t>(now / kBucketCycles); }

}  // namespace

void MemoryLoad::add(double now, double bytes) {
    const auto number = bucket_number(now);
    Bucket& bucket = bucket_of(number);
    if (bucket.number < number) bucket = {number, 0};
    if (bucket.number == number) bucket.bytes += bytes;
}

double MemoryLoad::wait(double now) {
    if (terms_.empty()) return 0;
    const auto number = bucket_number(now);
    double bytes = 0;
    for (std::int64_t i = std::max<std::int64_t>(0, number - kBuckets); i < number; ++i)
        if (bucket_of(i).number == i) bytes += bucket_of(i).bytes;
    double cycles = 0;
    for (const auto& [slope, limit] : terms_) {
        const double rate = std::min(bytes / (kBucketCycles * kBuckets), kMostOfLimit * limit);
        cycles += slope * rate / (limit - rate);
    }
    return cycles;
}

}  // namespace gputomo::predict
