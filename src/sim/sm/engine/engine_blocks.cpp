// How a launch begins, and how blocks and warps come and go.
#include "machine/gpc_size.hpp"
#include "sim/sm/engine/engine.hpp"
#include "sim/sm/engine/residency.hpp"
#include "units/error.hpp"
#include "units/processor_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace gputomo::sim {

std::vector<std::byte> packed_parameters(const std::string& kernel, const std::vector<ParameterPlace>& places,
                                         std::size_t bytes, const device::Arguments& arguments) {
    const auto offsets = arguments.offsets();
    if (offsets.size() != places.size())
        throw DeviceError(
            fmt::format("launch of {}: {} arguments given; expected {}", kernel, offsets.size(), places.size()));
    std::vector<std::byte> space(bytes);
    const auto given = arguments.bytes();
    for (std::size_t i = 0; i < places.size(); ++i) {
        const ParameterPlace& place = places[i];
        const std::size_t from = offsets[i];
        const std::size_t end = i + 1 < offsets.size() ? offsets[i + 1] : given.size();
        if (end - from < place.bytes || place.offset + place.bytes > space.size())
            throw DeviceError(
                fmt::format("launch of {}: argument {} has {} bytes; expected {}", kernel, i, end - from, place.bytes));
        std::memcpy(space.data() + place.offset, given.data() + from, place.bytes);
    }
    return space;
}

Engine::Engine(const LaunchSetup& setup, KernelShape shape, Counters& counters)
    : setup_(setup),
      shape_(std::move(shape)),
      counters_(counters),
      shared_bytes_(shape_.static_shared + static_cast<std::uint64_t>(setup.launch.dynamic_shared.count())),
      units_(make_sm_units(setup, shape_.code_address + shape_.code_bytes)),
      deadline_(thread_processor_time() + setup.launch.time_limit) {
    size_launch();
}

void Engine::size_launch() {
    const auto& launch = setup_.launch;
    BlockNeeds needs{launch.block.count(), shared_bytes_, shape_.registers_per_thread, shape_.parameters};
    auto residency = resident_blocks(setup_.machine, needs);
    if (launch.grid.count() == 0) residency.why = "a grid of 0 blocks asked";
    if (shape_.max_threads != 0 && needs.threads > static_cast<std::uint64_t>(shape_.max_threads))
        residency.why = fmt::format("{} threads per block asked; .maxntid is {}", needs.threads, shape_.max_threads);
    if (!residency.why.empty()) throw DeviceError(fmt::format("launch of {}: {}", shape_.name, residency.why));
    check_clusters();
    cluster_groups_ = cluster_groups();
    if (shape_.cluster.count() > 1) {
        units_.block_launch_spec.counts_ends = false;
        if (units_.block_launch_spec.cluster_interval > 0) units_.block_launch_spec.block_interval = 0;
    }
    units_.block_launch_spec.blocks = launch.grid.count();
    units_.block_launch_spec.blocks_per_sm = residency.blocks;
    // Blocks of a cluster start together, when all of them have room.
    if (shape_.cluster.count() > 1) residency.room.warps_give_back = false;
    for (auto& sm : units_.block_launch.sms) sm.room = costs::BlockRoom(residency.room, setup_.costs.schedulers());
    setup_.memory_system.set_aside(residency.shared_of_block * (launch.prefer_l1 ? 1 : residency.blocks));
    const auto sms = static_cast<std::uint64_t>(*setup_.machine.topology.sms);
    const auto threads_per_sm = setup_.machine.topology.max_threads_per_sm.value_or(kDefaultThreadsPerSm);
    const std::uint32_t blocks_of_sm = residency.room.warps_give_back ? residency.room.most_blocks : residency.blocks;
    blocks_.reserve(std::min<std::uint64_t>(units_.block_launch_spec.blocks, blocks_of_sm * sms));
    // Pointers to warps stay valid, because there are never more of them than this.
    std::uint64_t warps_of_sm = std::uint64_t{blocks_of_sm} * residency.room.warps_of_block;
    if (residency.room.warps_give_back)
        warps_of_sm = std::min<std::uint64_t>(
            warps_of_sm, std::uint64_t{residency.room.warps_of_scheduler} * setup_.costs.schedulers());
    most_warps_ = std::min(units_.block_launch_spec.blocks * residency.room.warps_of_block, warps_of_sm * sms);
    facts_ = {.block = launch.block,
              .grid = launch.grid,
              .sms = sms,
              .warps_per_sm = static_cast<std::uint64_t>(threads_per_sm / kWarpSize),
              .dynamic_shared = static_cast<std::uint64_t>(launch.dynamic_shared.count()),
              .total_shared = shared_bytes_};
}

// ---- blocks --------------------------------------------------------------------------------------------------------

void Engine::place_initial_blocks() {
    if (shape_.cluster.count() > 1) return place_clusters(0);
    if (machine::places_by_gpc(setup_.machine))
        for (const auto sm : machine::first_sms(setup_.machine.topology, units_.block_launch_spec.blocks))
            place_block(sm, 0);
    for (bool placed = true; placed;) {
        placed = false;
        for (std::uint32_t sm = 0; sm < units_.block_launch.sms.size(); ++sm) placed |= place_block(sm, 0);
    }
    units_.block_launch.begins = false;
}

std::uint32_t Engine::take_block() {
    if (free_blocks_.empty()) {
        blocks_.emplace_back();
        return static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    const std::uint32_t index = free_blocks_.back();
    free_blocks_.pop_back();
    return index;
}

bool Engine::place_block(std::uint32_t sm, double now) {
    choose_next_block(now);
    const auto start = start_block(units_.block_launch_spec, units_.block_launch, sm, now);
    if (!start) return false;
    const auto& grid = setup_.launch.grid;
    const std::uint32_t number = take_block();
    Block& block = blocks_[number];
    block.index = block_of_start(start->block);
    block.coordinates = {static_cast<std::uint32_t>(block.index % grid.x),
                         static_cast<std::uint32_t>(block.index / grid.x % grid.y),
                         static_cast<std::uint32_t>(block.index / grid.x / grid.y)};
    block.sm = sm;
    block.started = start->when;
    block.age = units_.scheduler_spec.oldest_block_first ? ++started_blocks_ : 0;
    block.issued = 0;
    block.shared.assign(shape_.system_shared + shared_bytes_, std::byte{0});
    block.warps.clear();
    block.barriers = {};
    const auto threads = static_cast<std::uint32_t>(setup_.launch.block.count());
    for (std::uint32_t w = 0; w < units_.block_launch.sms[sm].room.warps_of_block(); ++w)
        start_warp(number, w, std::min<std::uint32_t>(kWarpSize, threads - w * kWarpSize), start->when);
    return true;
}

std::uint32_t Engine::take_warp() {
    if (free_warps_.empty()) {
        // The warps that make_warp() returns stay where they are only within what was reserved for them.
        if (warps_.size() == most_warps_) throw std::logic_error("more warps are resident than the SMs have room for");
        warps_.push_back(&make_warp());
        return static_cast<std::uint32_t>(warps_.size() - 1);
    }
    const std::uint32_t index = free_warps_.back();
    free_warps_.pop_back();
    return index;
}

/// Warps go to the SM's schedulers in turn, each into the first free slot of its scheduler.
void Engine::choose_slot(ResidentWarp& warp, std::uint32_t sm) {
    const auto per_sm = setup_.costs.schedulers();
    const std::uint32_t number = units_.block_launch.sms[sm].room.start_warp();
    warp.scheduler = sm * per_sm + number;
    const auto taken = [&](std::uint32_t slot) {
        return std::ranges::any_of(units_.schedulers[warp.scheduler].warps,
                                   [&](std::uint32_t other) { return warps_[other]->slot == slot; });
    };
    warp.slot = number;
    while (taken(warp.slot)) warp.slot += per_sm;
}

void Engine::start_warp(std::uint32_t block, std::uint32_t in_block, std::uint32_t threads, double now) {
    const std::uint32_t index = take_warp();
    ResidentWarp& warp = *warps_[index];
    warp.block = block;
    warp.in_block = in_block;
    choose_slot(warp, blocks_[block].sm);
    warp.buffer = {};
    warp.hold = warp.gap = now;
    warp.issued = 0;
    warp.in_use = true;
    begin_warp(warp, threads == kWarpSize ? 0xFFFFFFFF : (1U << threads) - 1, now);
    blocks_[block].warps.push_back(index);
    warp.position = add_warp(units_.schedulers[warp.scheduler], index, blocks_[block].age);
    ++live_warps_;
    wake(warp, now);
}

void Engine::end_warp(std::uint32_t index, double now) {
    ResidentWarp& warp = *warps_[index];
    Block& block = blocks_[warp.block];
    Scheduler& scheduler = units_.schedulers[warp.scheduler];
    remove_warp(scheduler, warp.position);
    for (std::size_t i = warp.position; i < scheduler.warps.size(); ++i) warps_[scheduler.warps[i]]->position = i;
    std::erase(block.warps, index);
    block.issued += warp.issued;
    warp.in_use = false;
    free_warps_.push_back(index);
    --live_warps_;
    const std::uint32_t sm = block.sm;
    costs::BlockRoom& room = units_.block_launch.sms[sm].room;
    room.end_warp(scheduler.number);
    release_complete_barriers(block);
    if (!block.warps.empty()) return;
    note_end(block, now);
    free_blocks_.push_back(warp.block);
    const BlockLaunchSpec& spec = units_.block_launch_spec;
    const bool in_clusters = shape_.cluster.count() > 1;
    // An end counts for the block that it lets start: none where earlier blocks have taken the room. The blocks of a
    // cluster start when all of them have room.
    now = costs::end_block(
        room, now, [&] { return !in_clusters && units_.block_launch.next < spec.blocks; },
        [&](double end) { return count_end(spec, units_.block_launch, end); },
        [&](double end) { return place_block(sm, end + spec.replacement); });
    latest_ = std::max(latest_, now);
    if (in_clusters) place_clusters(now + spec.cluster_replacement);
}

// ---- block barriers ------------------------------------------------------------------------------------------------

void Engine::release_complete_barriers(Block& block) {
    for (std::size_t number = 0; number < block.barriers.size(); ++number)
        release_if_complete(block, static_cast<int>(number));
}

void Engine::release_if_complete(Block& block, int number) {
    Barrier& barrier = block.barriers[static_cast<std::size_t>(number)];
    if (barrier.arrived == 0) return;
    LiveCount live;
    if (barrier.expected == 0)
        for (const auto index : block.warps) {
            ++live.warps;
            live.threads += live_threads(*warps_[index]);
        }
    const auto release = sim::release_if_complete(units_.barriers, barrier, live);
    if (!release) return;
    for (const auto index : block.warps) leave_barrier(*warps_[index], number, *release);
}

}  // namespace gputomo::sim
