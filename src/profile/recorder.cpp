#include "profile/recorder.hpp"

#include "sass/operations.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <ranges>

namespace gputomo::profile {
namespace {

using predict::kTouchedLineBytes;
using predict::kTouchedSectorBytes;
using sim::machine_code::Access;
using sim::machine_code::Space;
using Opcode = sass::Operation;

/// Instructions between two looks at the clock.
constexpr std::uint64_t kInstructionsBetweenLooks = 1 << 14;
/// Local memory is laid out where no allocation is, so that its lines differ from those of global memory.
constexpr std::uint64_t kLocalMemory = std::uint64_t{1} << 56;
constexpr std::uint64_t kLocalOfWarp = std::uint64_t{1} << 24;
constexpr std::uint64_t kWord = 4, kLanes = 32;

predict::AccessKind kind_of(Access access) {
    switch (access) {
        case Access::write: return predict::AccessKind::store;
        case Access::atomic: return predict::AccessKind::atomic;
        default: return predict::AccessKind::load;
    }
}

/// Asynchronous copies that pass the first cache by.
bool skips_near(const sass::Instruction& instruction) {
    return instruction.operation == Opcode::LDGSTS && instruction.value(sass::Modifier::bypass) == 0;
}

}  // namespace

Recorder::Recorder(const sim::machine_code::MachineProgram& program, const machine::Machine& machine,
                   const sim::DeviceMemory& memory, std::uint64_t warps_of_block, Clock::time_point deadline)
    : program_(program), memory_(memory), warps_of_block_(warps_of_block), deadline_(deadline) {
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
    if (tracing_) trace_.warps.resize(warps_of_block_);
    most_events_ = most_events;
    events_ = 0;
    pending_ = false;
    read_.clear();
    written_.clear();
}

void Recorder::restore() {
    for (const auto& [address, content] : sectors_)
        std::memcpy(memory_.resolve(address, content.size()), content.data(), content.size());
    for (const auto& [address, content] : std::views::reverse(pieces_))
        std::memcpy(memory_.resolve(address, content.size()), content.data(), content.size());
    sectors_.clear();
    pieces_.clear();
    saved_.clear();
}

void Recorder::turn(std::size_t warp) {
    finish();
    warp_ = warp;
}

void Recorder::execute(std::size_t step, std::uint32_t /*lanes*/, std::uint32_t mask) {
    finish();
    if (++events_ > most_events_) throw Interruption{Interruption::Why::instructions};
    if (events_ % kInstructionsBetweenLooks == 0 && Clock::now() > deadline_)
        throw Interruption{Interruption::Why::time};
    counts_.instructions += 1;
    counts_.thread_instructions += std::popcount(mask);
    step_ = step;
    mask_ = mask;
    pending_ = true;
    global_.count = shared_.count = local_.count = 0;
}

void Recorder::access(Space space, Access access, std::uint64_t offset, std::uint64_t bytes) {
    switch (space) {
        case Space::global:
            if (access != Access::read) save(offset, bytes);
            return global_.add(offset, bytes, access);
        case Space::shared: return shared_.add(offset, bytes, access);
        case Space::local: return local_.add(offset, bytes, access);
        default: return;
    }
}

bool Recorder::end_block(std::uint64_t /*index*/) {
    finish();
    return true;
}

void Recorder::save(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t sector = address / kTouchedSectorBytes;
    const bool one = sector == (address + bytes - 1) / kTouchedSectorBytes;
    if (one && !saved_.insert(sector).second) return;
    const auto* const whole = one ? memory_.resolve(sector * kTouchedSectorBytes, kTouchedSectorBytes) : nullptr;
    if (whole != nullptr) {
        auto& [at, content] = sectors_.emplace_back();
        at = sector * kTouchedSectorBytes;
        std::memcpy(content.data(), whole, content.size());
        return;
    }
    // The last bytes of an allocation: each write is kept.
    if (one) saved_.erase(sector);
    const auto* const from = memory_.resolve(address, bytes);
    if (from != nullptr) pieces_.emplace_back(address, std::vector<std::byte>(from, from + bytes));
}

void Recorder::add_lines(const Accessed& accessed, bool global, predict::WarpAccess& to) {
    lines_.clear();
    const auto touch = [&](std::uint64_t sector) {
        constexpr std::uint64_t kSectors = kTouchedLineBytes / kTouchedSectorBytes;
        const std::uint64_t line = sector / kSectors;
        const std::uint32_t bit = 1U << (sector % kSectors);
        auto known = std::ranges::find(std::views::reverse(lines_), line, &predict::TouchedLine::line);
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
            if (to.kind != predict::AccessKind::store) read_.insert(sector);
            if (to.kind != predict::AccessKind::load) written_.insert(sector);
        }
    }
    counts_.transactions += static_cast<double>(lines_.size());
    (to.kind == predict::AccessKind::load    ? counts_.load_sectors
     : to.kind == predict::AccessKind::store ? counts_.store_sectors
                                             : counts_.atomic_sectors) += sectors;
    if (!tracing_) return;
    to.first = static_cast<std::uint32_t>(trace_.lines.size());
    to.lines = static_cast<std::uint16_t>(lines_.size());
    trace_.lines.insert(trace_.lines.end(), lines_.begin(), lines_.end());
}

void Recorder::add_banks(predict::WarpAccess& to) {
    counts_.shared_accesses += 1;
    if (!banks_) return;
    std::array<std::uint64_t, kLanes> addresses{};
    std::uint32_t mask = 0, lanes = mask_;
    const std::size_t count = std::min<std::size_t>(shared_.count, kLanes);
    // Accesses come in the order of the lanes; instructions that move matrices make others than one a lane.
    const bool by_lane = count == static_cast<std::size_t>(std::popcount(mask_));
    for (std::size_t i = 0; i < count; ++i) {
        const auto lane = by_lane ? static_cast<std::size_t>(std::countr_zero(lanes)) : i;
        lanes &= lanes - 1;
        addresses[lane] = shared_.address[i];
        mask |= 1U << lane;
    }
    const Opcode operation = program_.steps[step_].instruction.operation;
    const auto found = banks_->access(addresses, mask,
                                      {.bytes = static_cast<std::uint32_t>(shared_.bytes),
                                       .broadcasts = operation != Opcode::ATOMS,
                                       .pairs = operation == Opcode::LDS});
    to.bank_cycles = static_cast<float>(found.occupancy);
    to.bank_latency = static_cast<float>(found.latency);
    counts_.bank_cycles += found.occupancy / bank_cycles_;
}

void Recorder::finish() {
    if (!pending_) return;
    pending_ = false;
    predict::WarpEvent event{.step = static_cast<std::uint32_t>(step_)};
    if (mask_ == 0) event.access = predict::kNotExecuted;
    if (global_.count + shared_.count + local_.count > 0) {
        predict::WarpAccess access{.kind = kind_of(global_.count > 0 ? global_.access : local_.access),
                                   .skips_near = skips_near(program_.steps[step_].instruction)};
        if (global_.count > 0) add_lines(global_, true, access);
        if (local_.count > 0) {
            // Word by word: the same word of the warp's threads lies together.
            Accessed laid_out = local_;
            const std::uint64_t frame = kLocalMemory + (counts_.block * warps_of_block_ + warp_) * kLocalOfWarp;
            for (std::size_t i = 0; i < laid_out.count; ++i)
                laid_out.address[i] = frame + (laid_out.address[i] / kWord * kLanes + i) * kWord;
            laid_out.bytes = kWord;
            add_lines(laid_out, false, access);
        }
        if (shared_.count > 0) add_banks(access);
        if (tracing_) {
            event.access = static_cast<std::uint32_t>(trace_.accesses.size());
            trace_.accesses.push_back(access);
        }
    }
    if (tracing_) trace_.warps[warp_].push_back(event);
}

}  // namespace gputomo::profile
