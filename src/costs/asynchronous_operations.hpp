// The operations of a description whose times bulk copies, barriers in shared memory and clusters have. No pipeline
// executes them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace gputomo::costs {

inline constexpr std::string_view kBulkLoad = "cp.async.bulk";
inline constexpr std::string_view kBulkStore = "cp.async.bulk:store";
inline constexpr std::string_view kTensorLoad = "cp.async.bulk.tensor";
inline constexpr std::string_view kTensorRow = "cp.async.bulk.tensor:row";
inline constexpr std::string_view kBarrierArrival = "mbarrier.arrive";
inline constexpr std::string_view kBarrierCheck = "mbarrier.try_wait";
inline constexpr std::string_view kClusterLoad = "ld.shared::cluster";
inline constexpr std::string_view kClusterBarrier = "barrier.cluster";

[[nodiscard]] inline bool is_asynchronous(std::string_view operation) {
    constexpr std::array kAll{kBulkLoad,       kBulkStore,    kTensorLoad,  kTensorRow,
                              kBarrierArrival, kBarrierCheck, kClusterLoad, kClusterBarrier};
    return std::ranges::find(kAll, operation) != kAll.end();
}

}  // namespace gputomo::costs
