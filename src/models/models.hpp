// The models of the catalogue, one file each, and the formulas that several of them share.
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

/// Cycles that a lone warp takes for a group (Volkov 2016, 4.1): mem_lat + alpha alu_lat.
[[nodiscard]] double group_latency(const Parameters& parameters, const Group& group);
/// Cycles that a lone warp takes for a group's arithmetic: alpha alu_lat.
[[nodiscard]] double arithmetic_latency(const Parameters& parameters, const Group& group);
/// Groups per cycle and SM that the tightest throughput limit allows (Volkov 2016, 4.1).
[[nodiscard]] double group_throughput(const Parameters& parameters, const Group& group);
/// Cycles that older models take to issue any instruction: 1 / alu_thru.
[[nodiscard]] double instruction_time(const Parameters& parameters);
/// Throughput that grows linearly up to the full issue rate at `needed` warps and has no other limit.
[[nodiscard]] double linear_to_peak(const Parameters& parameters, double warps, double needed);
/// Threads that run for R cycles and then wait for L cycles, of which `needed` keep the processor busy.
[[nodiscard]] Solution coarse_multithreading(const Parameters& parameters, const Group& group, double warps,
                                             double needed);

}  // namespace gputomo::models
