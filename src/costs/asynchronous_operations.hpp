// The operations of a description whose times bulk copies, barriers in shared memory and clusters have. No pipeline
// executes them.
#pragma once

#include "machine/machine.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gputomo::costs {

inline constexpr std::string_view kBulkLoad = "cp.async.bulk";
inline constexpr std::string_view kBulkStore = "cp.async.bulk:store";
inline constexpr std::string_view kBulkBetween = "cp.async.bulk:between";
inline constexpr std::string_view kTensorLoad = "cp.async.bulk.tensor";
inline constexpr std::string_view kTensorMap = "cp.async.bulk.tensor:map";
inline constexpr std::string_view kTensorRow = "cp.async.bulk.tensor:row";
inline constexpr std::string_view kBarrierArrival = "mbarrier.arrive";
inline constexpr std::string_view kClusterArrival = "mbarrier.arrive:cluster";
inline constexpr std::string_view kBarrierCheck = "mbarrier.try_wait";
inline constexpr std::string_view kClusterLoad = "ld.shared::cluster";
inline constexpr std::string_view kClusterBarrier = "barrier.cluster";

[[nodiscard]] inline bool is_asynchronous(std::string_view operation) {
    constexpr std::array kAll{kBulkLoad,       kBulkStore,      kBulkBetween,  kTensorLoad,  kTensorRow,     kTensorMap,
                              kBarrierArrival, kClusterArrival, kBarrierCheck, kClusterLoad, kClusterBarrier};
    return std::ranges::find(kAll, operation) != kAll.end();
}

/// What the description says of bulk copies. Where it says nothing, a copy costs what a load of its lines costs.
struct BulkSpec {
    double start = 0;                  ///< cycles from the issue of a copy to the departure of its first piece
    double tensor_start = 0;           ///< the same of a box of a tensor
    double earlier = 0;                ///< cycles by which its bytes are there before those of a load would be
    double tensor_earlier = 0;         ///< the same of a box of a tensor
    double map = 0;                    ///< cycles until the SM has a tensor map that it has not used yet
    double store_start = 0;            ///< the same of a copy to global memory
    double between_start = 0;          ///< cycles of a copy to another block, beyond those of its bytes
    double command = 0;                ///< cycles for which a copy occupies the unit, at least
    double tensor_command = 0;         ///< the same of a box
    double piece = 0;                  ///< cycles for which a piece occupies the unit, at least
    double bytes_per_cycle = 0;        ///< of the unit into shared memory; 0: any number
    double store_bytes_per_cycle = 0;  ///< of the unit out of shared memory; 0: any number
    double between = 0;  ///< cycles that a load of another block's shared memory takes longer than one of the own
    double between_load_rate = 0;   ///< bytes a cycle that an SM loads from other blocks' shared memory; 0: any number
    double between_store_rate = 0;  ///< the same of what it stores there
    double signal = 0;           ///< cycles that an arrival at another block's barrier takes longer than one at the own
    double arrival = 0;          ///< cycles from an arrival at a barrier until a check can see it
    double check = 0;            ///< cycles of a check of a barrier beyond those of a load from shared memory
    double checked = 0;          ///< cycles from the end of a phase until a warp that waits for it goes on
    double cluster_barrier = 0;  ///< cycles from the last arrival of a cluster until its warps go on
    double cluster_arrival = 0;  ///< cycles between the arrivals of two warps of an SM at the barrier of a cluster
};
[[nodiscard]] BulkSpec bulk_spec_of(const machine::Machine& machine);

}  // namespace gputomo::costs
