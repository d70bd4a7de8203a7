#include "launch/profile/recorder.hpp"

#include "sass/form.hpp"
#include "sass/operations.hpp"
#include "sim/machine_code/warp.hpp"
#include "units/interruption.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>

namespace gputomo::launch {
namespace {

using sim::machine_code::Access;
using sim::machine_code::Space;
using Opcode = sass::Operation;

/// Instructions between two looks at the clock.
constexpr std::uint64_t kInstructionsBetweenLooks = 1 << 14;
constexpr std::uint64_t kLocalOfWarp = std::uint64_t{1} << 24;
constexpr std::uint64_t kWord = 4, kLanes = 32;

AccessKind kind_of(Access access) {
    switch (access) {
        case Access::write: return AccessKind::store;
        case Access::atomic: return AccessKind::atomic;
        default: return AccessKind::load;
    }
}

/// Whether the instruction hands on what an atomic found in memory.
bool returns_value(const sim::machine_code::Step& step) { return step.destination.reg != sass::kZeroRegister; }

}  // namespace

Recorder::Recorder(const sim::machine_code::MachineProgram& program, const machine::Machine& machine,
                   SavedMemory& saved, std::uint64_t warps_of_block, Clock::time_point deadline)
    : program_(program),
      saved_(saved),
      ports_(sim::load_ports_of(machine)),
      coalescers_(machine),
      warps_of_block_(warps_of_block),
      deadline_(deadline) {
    if (!machine.shared.banks) return;
    banks_.emplace(machine.shared);
    std::array<std::uint64_t, kLanes> words{};
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) words[lane] = lane * kWord;
    bank_cycles_ = banks_->access(words, ~0U, {}).occupancy;
}

void Recorder::begin(std::uint64_t block, bool trace, std::size_t most_events) {
    counts_ = {.block = block};
    trace_ = {};
    trace_.block = block;
    tracing_ = trace;
    if (tracing_) {
        trace_.warps.resize(warps_of_block_);
        trace_.phases.resize(warps_of_block_);
        trace_.meetings.resize(warps_of_block_);
    }
    barriers_.clear();
    failed_.assign(warps_of_block_, {});
    used_.clear();
    check_failed_ = false;
    most_events_ = most_events;
    events_ = 0;
    pending_ = false;
    read_.clear();
    loaded_.clear();
    written_.clear();
    atomics_ = {};
    observed_.clear();
}

void Recorder::turn(std::size_t warp) {
    finish();
    warp_ = warp;
}

void Recorder::execute(std::size_t step, std::uint32_t lanes, std::uint32_t mask) {
    finish();
    // What other threads of the warp do meanwhile stays in the record.
    if (FailedCheck& failed = failed_[warp_]; (lanes & ~failed.lanes) != 0) failed.barrier = kNoBarrier;
    if (++events_ > most_events_) throw Interruption{Interruption::Why::instructions};
    if (events_ % kInstructionsBetweenLooks == 0) {
        look_for_interruption();
        if (Clock::now() > deadline_) throw Interruption{Interruption::Why::time};
    }
    counts_.instructions += 1;
    counts_.thread_instructions += std::popcount(mask);
    step_ = step;
    mask_ = mask;
    lanes_ = lanes;
    pending_ = true;
    global_.count = shared_.count = local_.count = constant_.count = 0;
}

void Recorder::access(Space space, Access access, std::uint64_t offset, std::uint64_t bytes) {
    switch (space) {
        case Space::global:
            if (access != Access::read) saved_.save(offset, bytes);
            return global_.add(offset, bytes, access);
        case Space::shared: return shared_.add(offset, bytes, access);
        case Space::local: return local_.add(offset, bytes, access);
        case Space::constant: return constant_.add(offset, bytes, access);
        default: return;
    }
}

bool Recorder::end_block(std::uint64_t /*index*/) {
    finish();
    gave_up_ = gave_up_ || std::ranges::any_of(failed_, [](const FailedCheck& failed) { return failed.times > 1; });
    return true;
}

void Recorder::arrive(std::uint64_t barrier, bool ends) {
    const auto number = static_cast<std::uint32_t>(barriers_.size());
    BarrierOf& of = barriers_.try_emplace(barrier, BarrierOf{.number = number}).first->second;
    const PhaseUse use{.barrier = of.number, .phase = of.ended, .checks = false};
    // The threads of one instruction arrive together.
    if (used_.empty() || used_.back().checks || used_.back().barrier != use.barrier || used_.back().phase != use.phase)
        used_.push_back(use);
    if (ends) ++of.ended;
}

void Recorder::check(std::uint64_t barrier, bool ended) {
    const auto number = static_cast<std::uint32_t>(barriers_.size());
    const BarrierOf& of = barriers_.try_emplace(barrier, BarrierOf{.number = number}).first->second;
    checked_ = barrier;
    check_failed_ = check_failed_ || !ended;
    // All threads of a warp ask for the same phase; one use stands for them.
    if (!ended || (!used_.empty() && used_.back().checks && used_.back().barrier == of.number)) return;
    used_.push_back({.barrier = of.number, .phase = of.ended, .checks = true});
}

void Recorder::meet(std::uint32_t barrier, std::uint32_t expected, std::uint32_t threads, bool waits) {
    if (!tracing_) return;
    // The event of the instruction follows.
    trace_.meetings[warp_].push_back({.event = static_cast<std::uint32_t>(trace_.warps[warp_].size()),
                                      .barrier = static_cast<std::uint8_t>(barrier),
                                      .waits = waits,
                                      .threads = static_cast<std::uint16_t>(threads),
                                      .expected = static_cast<std::uint16_t>(expected)});
}

void Recorder::forget_failed_check(std::uint64_t barrier) {
    FailedCheck& failed = failed_[warp_];
    if (failed.barrier != barrier) return;
    auto& events = trace_.warps[warp_];
    auto& phases = trace_.phases[warp_];
    // A warp that has arrived at a barrier or reached memory since has done more than ask.
    const bool only_asked = phases.size() == failed.phases &&
                            std::none_of(events.begin() + static_cast<std::ptrdiff_t>(failed.events), events.end(),
                                         [this](const WarpEvent& event) {
                                             return event.access != kNoAccess && event.access != kNotExecuted &&
                                                    trace_.accesses[event.access].lines > 0;
                                         });
    if (!only_asked) return;
    counts_.instructions -= static_cast<double>(events.size() - failed.events);
    events.resize(failed.events);
}

/// What a warp of a block that is not recorded does between two questions for the same phase does not count, as in a
/// record.
void Recorder::count_failed_check(bool asked) {
    FailedCheck& failed = failed_[warp_];
    if (asked) {
        if (failed.barrier == checked_ && !failed.acted) counts_.instructions -= failed.instructions;
        failed = {};
        if (check_failed_) failed = {.barrier = checked_, .lanes = lanes_};
    }
    failed.instructions += 1;
    failed.acted = failed.acted || global_.count > 0 ||
                   std::ranges::any_of(used_, [](const PhaseUse& use) { return !use.checks; });
}

void Recorder::add_phases() {
    const bool asked = check_failed_ || (!used_.empty() && used_.front().checks);
    if (!tracing_) count_failed_check(asked);
    if (tracing_ && asked) {
        forget_failed_check(checked_);
        const std::size_t times = failed_[warp_].barrier == checked_ ? failed_[warp_].times : 0;
        failed_[warp_] = {};
        if (check_failed_)
            failed_[warp_] = {.barrier = checked_,
                              .events = trace_.warps[warp_].size(),
                              .phases = trace_.phases[warp_].size(),
                              .times = times + 1,
                              .lanes = lanes_};
    }
    // Threads that ask for a phase in vain ask again.
    if (tracing_ && !check_failed_)
        for (PhaseUse& use : used_) {
            use.event = static_cast<std::uint32_t>(trace_.warps[warp_].size());
            trace_.phases[warp_].push_back(use);
        }
    used_.clear();
    check_failed_ = false;
}

void Recorder::add_lines(const Accessed& accessed, bool global, WarpAccess& to) {
    lines_.clear();
    const auto touch = [&](std::uint64_t sector) {
        constexpr std::uint64_t kSectors = kTouchedLineBytes / kTouchedSectorBytes;
        const std::uint64_t line = sector / kSectors;
        const std::uint32_t bit = 1U << (sector % kSectors);
        auto known = std::find_if(lines_.rbegin(), lines_.rend(),
                                  [line](const TouchedLine& touched) { return touched.line == line; });
        if (known == lines_.rend()) {
            lines_.push_back({line, bit});
        } else {
            known->sectors |= bit;
        }
    };
    for (std::size_t i = 0; i < accessed.count; ++i)
        for (std::uint64_t sector = accessed.address[i] / kTouchedSectorBytes;
             sector <= (accessed.address[i] + accessed.bytes - 1) / kTouchedSectorBytes; ++sector)
            touch(sector);
    double sectors = 0;
    for (const auto& line : lines_) {
        sectors += std::popcount(line.sectors);
        if (!global) continue;
        for (std::uint32_t bits = line.sectors; bits != 0; bits &= bits - 1) {
            const std::uint64_t sector = line.line * (kTouchedLineBytes / kTouchedSectorBytes) +
                                         static_cast<std::uint64_t>(std::countr_zero(bits));
            if (to.kind != AccessKind::store) read_.insert(sector);
            if (to.kind == AccessKind::load) loaded_.insert(sector);
            if (to.kind == AccessKind::atomic && returns_value(program_.steps[step_])) observed_.insert(sector);
            if (to.kind != AccessKind::load) written_.insert(sector);
        }
    }
    counts_.transactions += static_cast<double>(lines_.size());
    (to.kind == AccessKind::load    ? counts_.load_sectors
     : to.kind == AccessKind::store ? counts_.store_sectors
                                    : counts_.atomic_sectors) += sectors;
    if (!tracing_) return;
    to.first = static_cast<std::uint32_t>(trace_.lines.size());
    to.lines = static_cast<std::uint16_t>(lines_.size());
    trace_.lines.insert(trace_.lines.end(), lines_.begin(), lines_.end());
}

std::uint32_t Recorder::by_lane(const Accessed& accessed, std::array<std::uint64_t, 32>& addresses) const {
    std::uint32_t mask = 0, lanes = mask_;
    const std::size_t count = std::min<std::size_t>(accessed.count, kLanes);
    // Accesses come in the order of the lanes; instructions that move matrices make others than one a lane.
    const bool one_a_lane = count == static_cast<std::size_t>(std::popcount(mask_));
    for (std::size_t i = 0; i < count; ++i) {
        const auto lane = one_a_lane ? static_cast<std::size_t>(std::countr_zero(lanes)) : i;
        lanes &= lanes - 1;
        addresses[lane] = accessed.address[i];
        mask |= 1U << lane;
    }
    return mask;
}

const std::vector<sim::Segment>& Recorder::take_port(sim::PathKind path, sim::Coalescer& coalescer,
                                                     const Accessed& accessed, WarpAccess& to) {
    const sim::LoadPort& port = ports_[static_cast<std::size_t>(path)];
    std::array<std::uint64_t, kLanes> addresses{};
    const std::uint32_t mask = by_lane(accessed, addresses);
    const auto bytes = static_cast<std::uint32_t>(accessed.bytes);
    const auto& segments = coalescer.merge(addresses, mask, bytes);
    if (port.of_storage) to.stage = Stage::storage;
    if (port.transaction == 0 || (port.of_storage && !banks_)) {
        to.stage_cycles = static_cast<float>(segments.size());
        return segments;
    }
    constexpr std::array kKinds{sim::AccessKind::load, sim::AccessKind::store, sim::AccessKind::atomic};
    const sim::PortAccess on_port{
        .kind = kKinds[static_cast<std::size_t>(to.kind)], .bytes = bytes, .addresses = addresses, .mask = mask};
    const auto time = sim::port_time(port, *banks_, on_port, segments);
    to.stage_cycles = static_cast<float>(time.stage);
    to.returning = static_cast<float>(time.returning);
    to.conflict = static_cast<float>(time.spread);
    to.spread = static_cast<float>(port.spacing * static_cast<double>(segments.size() - 1));
    return segments;
}

void Recorder::add_passes(WarpAccess& to) {
    std::array<std::uint64_t, kLanes> addresses{};
    std::uint32_t left = by_lane(global_, addresses);
    if (tracing_) to.first = static_cast<std::uint32_t>(trace_.lines.size());
    lines_.clear();
    std::size_t before = 0;  // lines of earlier passes
    while (left != 0) {
        const std::uint32_t pass = costs::next_pass(addresses, left);
        left &= ~pass;
        for (std::uint32_t lanes = pass; lanes != 0; lanes &= lanes - 1) {
            const std::uint64_t address = addresses[static_cast<std::size_t>(std::countr_zero(lanes))];
            const std::uint64_t line = address / kTouchedLineBytes;
            const auto of_pass = std::ranges::find(lines_.begin() + static_cast<std::ptrdiff_t>(before), lines_.end(),
                                                   line, &TouchedLine::line);
            const auto bytes = static_cast<std::uint8_t>(global_.bytes);
            const std::uint32_t bit = 1U << (address % kTouchedLineBytes / kTouchedSectorBytes);
            if (of_pass == lines_.end()) {
                const bool again = std::any_of(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(before),
                                               [line](const TouchedLine& touched) { return touched.line == line; });
                lines_.push_back({.line = line, .sectors = bit, .again = again, .lone = true, .asked = bytes});
            } else {
                of_pass->sectors |= bit;
                of_pass->lone = false;
                of_pass->asked = static_cast<std::uint8_t>(of_pass->asked + bytes);
            }
        }
        before = lines_.size();
    }
    for (TouchedLine& line : lines_) {
        line.partial = line.asked < std::popcount(line.sectors) * kTouchedSectorBytes;
        for (std::uint32_t bits = line.sectors; bits != 0; bits &= bits - 1)
            atomics_.requests[line.line * (kTouchedLineBytes / kTouchedSectorBytes) +
                              static_cast<std::uint64_t>(std::countr_zero(bits))] += 1;
    }
    if (!tracing_) return;
    to.lines = static_cast<std::uint16_t>(lines_.size());
    trace_.lines.insert(trace_.lines.end(), lines_.begin(), lines_.end());
}

void Recorder::add_swaps(const Accessed& accessed, bool global) {
    auto& swapped = global ? atomics_.swapped : atomics_.swapped_shared;
    for (std::size_t i = 0; i < accessed.count; ++i) {
        const auto [known, first] = swapped.try_emplace(accessed.address[i], SwappedAddress{.warp = warp_});
        known->second.swaps += 1;
        known->second.met = known->second.met || known->second.warp != warp_;
    }
}

void Recorder::add_global(WarpAccess& to) {
    const std::size_t first = trace_.lines.size();
    add_lines(global_, true, to);
    if (to.kind == AccessKind::atomic) {
        if (tracing_) trace_.lines.resize(first);
        add_passes(to);
        if (to.atomic_class == costs::AtomicClass::compare_swap) add_swaps(global_, true);
    }
    if (!tracing_) return;
    const bool near = to.kind == AccessKind::load && !to.skips_near;
    for (const sim::Segment& segment :
         take_port(sim::PathKind::global, near ? coalescers_.global : coalescers_.global_far, global_, to)) {
        if (!segment.partial) continue;
        const auto lines = std::span(trace_.lines).subspan(to.first, to.lines);
        const auto found = std::ranges::find(lines, segment.address / kTouchedLineBytes, &TouchedLine::line);
        if (found == lines.end()) continue;
        found->partial = true;
        found->written = segment.touched;
    }
}

/// Word by word: the same word of the warp's threads lies together.
void Recorder::add_local(WarpAccess& to) {
    Accessed laid_out{.bytes = kWord, .access = local_.access};
    const std::uint64_t frame = kLocalMemory + (counts_.block * warps_of_block_ + warp_) * kLocalOfWarp;
    const std::uint64_t words = std::max<std::uint64_t>(1, local_.bytes / kWord);
    for (std::uint64_t word = 0; word < words; ++word)
        for (std::size_t i = 0; i < local_.count; ++i)
            laid_out.add(frame + ((local_.address[i] / kWord + word) * kLanes + i) * kWord, kWord, local_.access);
    add_lines(laid_out, false, to);
    if (!tracing_) return;
    const bool near = to.kind == AccessKind::load;
    (void)take_port(sim::PathKind::local, near ? coalescers_.local : coalescers_.local_far, laid_out, to);
    to.stage_cycles *= static_cast<float>(words);
}

void Recorder::add_constant(WarpAccess& to) {
    to.stage = Stage::constants;
    const auto& address = program_.steps[step_].address;
    if (address.reg != sass::kZeroRegister || (address.has_uniform && address.uniform != sass::kZeroUniformRegister))
        for (std::size_t i = 0; i < constant_.count; ++i)
            constants_.insert(std::uint64_t{program_.steps[step_].bank} << 32 |
                              constant_.address[i] / kConstantGranule);
    if (tracing_) {
        lines_.clear();
        // Constant banks lie one after the other.
        const std::uint64_t bank = kConstantBankBytes * program_.steps[step_].bank;
        for (std::size_t i = 0; i < constant_.count; ++i) {
            const std::uint64_t sector = (bank + constant_.address[i]) / kTouchedSectorBytes;
            constexpr std::uint64_t kSectors = kTouchedLineBytes / kTouchedSectorBytes;
            const auto known = std::ranges::find(lines_, sector / kSectors, &TouchedLine::line);
            TouchedLine& line = known != lines_.end() ? *known : lines_.emplace_back(TouchedLine{sector / kSectors, 0});
            line.sectors |= 1U << (sector % kSectors);
        }
        to.first = static_cast<std::uint32_t>(trace_.lines.size());
        to.lines = static_cast<std::uint16_t>(lines_.size());
        trace_.lines.insert(trace_.lines.end(), lines_.begin(), lines_.end());
    }
    // The uniform datapath does not pass the port.
    if (tracing_ && !program_.steps[step_].uniform)
        (void)take_port(sim::PathKind::constant, coalescers_.constant, constant_, to);
}

/// Texels of a filter that lie in one line come with one transaction.
void Recorder::add_texture(WarpAccess& to) {
    add_lines(global_, true, to);
    to.stage = Stage::textures;
    const sim::LoadPort& port = ports_[static_cast<std::size_t>(sim::PathKind::texture)];
    const double fetches = sim::fetches_of(port, sim::machine_code::dimensions_of_fetch(program_.steps[step_]),
                                           static_cast<std::uint32_t>(global_.bytes));
    to.stage_cycles = static_cast<float>(sim::read_cycles(port, fetches, to.lines));
    to.spread = static_cast<float>(port.spacing * (to.lines > 0 ? to.lines - 1 : 0));
}

/// The lines of a bulk copy follow each other, and no port of the SM is in their way.
void Recorder::add_bulk(WarpAccess& to) {
    to.skips_near = true;
    to.tensor = program_.steps[step_].instruction.operation != Opcode::UBLKCP &&
                program_.steps[step_].instruction.operation != Opcode::UBLKRED &&
                program_.steps[step_].instruction.operation != Opcode::UBLKPF;
    lines_.clear();
    double sectors = 0;
    for (std::size_t i = 0; i < global_.count; ++i) {
        constexpr std::uint64_t kSectors = kTouchedLineBytes / kTouchedSectorBytes;
        const std::uint64_t sector = global_.address[i] / kTouchedSectorBytes;
        if (lines_.empty() || lines_.back().line != sector / kSectors) lines_.push_back({sector / kSectors, 0});
        const std::uint32_t bit = 1U << (sector % kSectors);
        if ((lines_.back().sectors & bit) != 0) continue;
        lines_.back().sectors |= bit;
        ++sectors;
        if (to.kind == AccessKind::load) read_.insert(sector), loaded_.insert(sector);
        if (to.kind != AccessKind::load) written_.insert(sector);
    }
    counts_.transactions += static_cast<double>(lines_.size());
    (to.kind == AccessKind::load ? counts_.load_sectors : counts_.store_sectors) += sectors;
    if (!tracing_) return;
    to.first = static_cast<std::uint32_t>(trace_.lines.size());
    to.lines =
        static_cast<std::uint16_t>(std::min<std::size_t>(lines_.size(), std::numeric_limits<std::uint16_t>::max()));
    trace_.lines.insert(trace_.lines.end(), lines_.begin(), lines_.end());
}

void Recorder::add_banks(WarpAccess& to) {
    counts_.shared_accesses += 1;
    if (!banks_) return;
    std::array<std::uint64_t, kLanes> addresses{};
    const std::uint32_t mask = by_lane(shared_, addresses);
    const Opcode operation = program_.steps[step_].instruction.operation;
    const sim::SharedBanks::Request request{
        .bytes = static_cast<std::uint32_t>(shared_.bytes),
        .broadcasts = operation != Opcode::ATOMS || sim::machine_code::sums_lanes(program_.steps[step_]),
        .loads = operation == Opcode::LDS,
        .swaps = operation == Opcode::ATOMS && to.atomic_class == costs::AtomicClass::compare_swap,
        .one_of_bank = sim::machine_code::swaps_one_of_bank(program_.steps[step_])};
    const auto found = banks_->access(addresses, mask, request);
    to.bank_cycles = static_cast<float>(found.occupancy);
    to.bank_latency = static_cast<float>(found.latency);
    if (operation == Opcode::LDS || operation == Opcode::LDSM) {
        to.returning = static_cast<float>(found.returning);
        to.conflict = static_cast<float>(found.conflict);
    }
    counts_.bank_cycles += found.occupancy / bank_cycles_;
    // Threads that read one word take less time than those with a word each.
    counts_.conflict_free_cycles += std::min(found.occupancy, conflict_free_cycles(mask, request)) / bank_cycles_;
}

double Recorder::conflict_free_cycles(std::uint32_t mask, const sim::SharedBanks::Request& request) {
    const std::uint64_t key = mask | std::uint64_t{request.bytes} << 32 | std::uint64_t{request.broadcasts} << 48 |
                              std::uint64_t{request.loads} << 49 | std::uint64_t{request.swaps} << 50 |
                              std::uint64_t{request.one_of_bank} << 51;
    const auto [known, first] = conflict_free_.try_emplace(key);
    if (first) {
        std::array<std::uint64_t, kLanes> addresses{};
        std::uint64_t next = 0;
        for (std::uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1, next += request.bytes)
            addresses[static_cast<std::size_t>(std::countr_zero(lanes))] = next;
        known->second = banks_->access(addresses, mask, request).occupancy;
    }
    return known->second;
}

void Recorder::finish() {
    if (!pending_) return;
    pending_ = false;
    add_phases();
    WarpEvent event{.step = static_cast<std::uint32_t>(step_)};
    if (mask_ == 0) event.access = kNotExecuted;
    if (global_.count + shared_.count + local_.count + constant_.count > 0) {
        WarpAccess access{.kind = kind_of(global_.count > 0 ? global_.access : local_.access),
                          .skips_near = sim::machine_code::skips_near(program_.steps[step_].instruction),
                          .prefetched = static_cast<std::uint16_t>(
                              sim::machine_code::prefetched_bytes(program_.steps[step_].instruction)),
                          .atomic_class = sim::machine_code::atomic_class_of(program_.steps[step_]),
                          .lanes = static_cast<std::uint8_t>(std::popcount(mask_))};
        const Accessed& most = global_.count > 0 ? global_ : local_.count > 0 ? local_ : shared_;
        access.bytes = static_cast<std::uint8_t>(most.bytes);
        if (global_.count > 0) {
            const auto* const form = program_.steps[step_].instruction.form;
            if (form != nullptr && form->facts->what == sass::Class::bulk_copy)
                add_bulk(access);
            else if (sim::machine_code::fetches_texels(program_.steps[step_]))
                add_texture(access);
            else
                add_global(access);
        }
        if (local_.count > 0) add_local(access);
        if (constant_.count > 0) add_constant(access);
        if (shared_.count > 0) {
            add_banks(access);
            if (access.atomic_class == costs::AtomicClass::compare_swap) add_swaps(shared_, false);
        }
        if (tracing_) {
            event.access = static_cast<std::uint32_t>(trace_.accesses.size());
            trace_.accesses.push_back(access);
        }
    }
    if (tracing_) trace_.warps[warp_].push_back(event);
}

}  // namespace gputomo::launch
