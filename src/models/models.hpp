// The rows of the catalogue, one file each, and what several of them share.
#pragma once

#include "models/model.hpp"

namespace gputomo::models {

[[nodiscard]] Model volkov_basic();
[[nodiscard]] Model volkov_contention();
[[nodiscard]] Model cuda_guide();
[[nodiscard]] Model cuda_guide_refined();
[[nodiscard]] Model hong_kim();
[[nodiscard]] Model baghsorkhi();
[[nodiscard]] Model zhang_owens_max();
[[nodiscard]] Model zhang_owens_add();
[[nodiscard]] Model sim_2012();
[[nodiscard]] Model huang_round_robin();
[[nodiscard]] Model huang_greedy();
[[nodiscard]] Model huang_round_robin_bandwidth();
[[nodiscard]] Model huang_greedy_bandwidth();
[[nodiscard]] Model saavedra_barrera();
[[nodiscard]] Model agarwal();
[[nodiscard]] Model mowry();
[[nodiscard]] Model chen_aamodt_1();
[[nodiscard]] Model chen_aamodt_2();
[[nodiscard]] Model chen_aamodt_3();
[[nodiscard]] Model roofline();
[[nodiscard]] Model gputomo_replay();

/// Cycles of a group in a warp that runs alone (Volkov 2016, 4.1): mem_lat + alpha alu_lat.
[[nodiscard]] double group_latency(const Parameters& parameters, const Group& group);
/// The same without its memory instruction's latency, which may vary with load.
[[nodiscard]] double arithmetic_latency(const Parameters& parameters, const Group& group);
/// Groups per cycle and SM that each limit allows; the least counts (Volkov 2016, 4.1).
[[nodiscard]] double group_throughput(const Parameters& parameters, const Group& group);
/// Cycles of issue that older models give any instruction: 1 / alu_thru.
[[nodiscard]] double instruction_time(const Parameters& parameters);
/// Throughput of what grows with warps up to the full rate of issue and is stopped by nothing else.
[[nodiscard]] double linear_to_peak(const Parameters& parameters, double warps, double needed);

}  // namespace gputomo::models
