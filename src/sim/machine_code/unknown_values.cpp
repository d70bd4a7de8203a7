#include "sim/machine_code/unknown_values.hpp"

#include "sass/form.hpp"
#include "sim/machine_code/clusters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim::machine_code {
namespace {

constexpr std::uint64_t kSector = 32;

[[noreturn]] void need_products(const Step& step, std::string_view what) {
    throw NeedsProducts(
        fmt::format("{} depends on a product of matrices in {}", what, sass::name_of(step.instruction.operation)));
}

sass::Class class_of(const Step& step) {
    return step.instruction.form == nullptr ? sass::Class::flow : step.instruction.form->facts->what;
}

/// Whether the instruction forms an address from registers.
bool has_address(sass::Class what) {
    switch (what) {
        case sass::Class::memory:
        case sass::Class::shared_barrier:
        case sass::Class::constant:
        case sass::Class::texture:
        case sass::Class::copy:
        case sass::Class::bulk_copy: return true;
        default: return false;
    }
}

/// Whether the instruction has reached shared memory of another block of the cluster with one of these lanes.
bool reaches_others(const Warp& warp, std::uint32_t mask) {
    const BlockState& own = *warp.block;
    if (own.cluster == nullptr || own.cluster->blocks.size() < 2) return false;
    bool found = false;
    for_lanes(mask, [&](int lane) {
        const BlockState* const reached = own.reached[static_cast<std::size_t>(lane)];
        found = found || (reached != nullptr && reached != &own);
    });
    return found;
}

}  // namespace

void UnknownMemory::mark(std::uint64_t address, std::uint64_t bytes) {
    for (std::uint64_t sector = address / kSector; sector <= (address + bytes - 1) / kSector; ++sector)
        sectors_.insert(sector);
}

bool UnknownMemory::has(std::uint64_t address, std::uint64_t bytes) const {
    if (sectors_.empty()) return false;
    for (std::uint64_t sector = address / kSector; sector <= (address + bytes - 1) / kSector; ++sector)
        if (sectors_.contains(sector)) return true;
    return false;
}

void UnknownValues::start(Observer* observer) {
    observer_ = observer;
    any_shared_ = false;
    shared_.assign(shared_.size(), false);
}

void UnknownValues::start(Warp& warp) {
    if (of_warps_.capacity() == 0) of_warps_.reserve(1024 / kWarpSize);  // Warps keep pointers to what is theirs.
    if (warp.number >= of_warps_.size()) of_warps_.resize(warp.number + 1);
    UnknownRegisters& unknown = of_warps_[warp.number];
    unknown = {};
    unknown.local.assign(warp.local_bytes / kWord + 1, false);
    warp.unknown = &unknown;
}

std::uint32_t UnknownValues::begin(Warp& warp, const Step& step, std::uint32_t lanes, std::uint32_t mask) {
    UnknownRegisters& unknown = *warp.unknown;
    registers_ = &unknown;
    touched_.clear();
    unknown.read = unknown.writes_uniform = false;
    unknown.written.reset();
    unknown.written_predicates = 0;
    const sass::Class what = class_of(step);
    if (!step.guard.uniform && (unknown.predicates >> step.guard.predicate & 1) != 0) {
        if (what != sass::Class::compute) need_products(step, "a guard");
        unknown.read = true;
        mask = lanes;
    }
    if (has_address(what))
        for (const Address* address : {&step.address, &step.copy_to})
            for (std::size_t word = 0; word < 2; ++word)
                if (address->reg != sass::kZeroRegister && unknown.registers[address->reg + word] &&
                    (word == 0 || address->wide))
                    need_products(step, "an address");
    return mask;
}

void UnknownValues::end(Warp& warp, const Step& step, std::uint32_t mask) {
    UnknownRegisters& unknown = *warp.unknown;
    const bool all_lanes = (mask & warp.lanes) == warp.lanes;
    bool results = unknown.read;
    switch (class_of(step)) {
        case sass::Class::compute:
            if (unknown.read && step.instruction.operation == sass::Operation::MATCH) need_products(step, "the time");
            break;
        case sass::Class::memory:
        case sass::Class::copy: results = finish_access(warp, step, mask); break;
        case sass::Class::bulk_copy:
            if (unknown.read) need_products(step, "a copy");
            if (any_shared_ && warp.block->transfer.kind == Transfer::Kind::between)
                need_products(step, "shared memory of another block");
            for (const Touched& touched : touched_) {
                if (touched.space != Space::global) continue;
                if (touched.access == Access::read) {
                    if (is_unknown(touched)) need_products(step, "a copy");
                } else if (any_shared_) {
                    global_.mark(touched.offset, touched.bytes);
                }
            }
            break;
        default:
            if (unknown.read) need_products(step, "control flow");
    }
    if (results) {
        if (unknown.writes_uniform) need_products(step, "a uniform register");
        unknown.registers |= unknown.written;
        unknown.predicates |= unknown.written_predicates;
    } else if (all_lanes) {
        unknown.registers &= ~unknown.written;
        unknown.predicates &= static_cast<std::uint8_t>(~unknown.written_predicates);
    }
}

/// Accesses of the instruction become known or unknown. Returns whether its results are unknown.
bool UnknownValues::finish_access(const Warp& warp, const Step& step, std::uint32_t mask) {
    const sass::Facts& facts = *step.instruction.form->facts;
    const bool unknown = warp.unknown->read, all_lanes = (mask & warp.lanes) == warp.lanes;
    const bool shared = std::ranges::find(touched_, Space::shared, &Touched::space) != touched_.end();
    if (shared && reaches_others(warp, step.uniform ? 1U : mask)) {
        // What the words of other blocks hold is not followed.
        if (unknown || global_.any_shared()) need_products(step, "shared memory of another block");
        return false;
    }
    const bool copies = facts.what == sass::Class::copy;
    const auto is_read = [&](const Touched& touched) {
        return copies ? touched.space == Space::global
                      : facts.access == sass::Access::load || facts.access == sass::Access::atomic;
    };
    const auto is_written = [&](const Touched& touched) {
        return copies ? touched.space != Space::global : facts.access != sass::Access::load;
    };
    bool found = unknown;
    for (const Touched& touched : touched_) found = found || (is_read(touched) && is_unknown(touched));
    // An atomic leaves what it found in its place too, so that only a plain store makes memory known again.
    const bool stores = copies || facts.access == sass::Access::store;
    for (const Touched& touched : touched_)
        if (is_written(touched) && (found || stores)) set(touched, found, all_lanes);
    return found;
}

bool UnknownValues::is_unknown(const Touched& touched) const {
    const auto any = [&](const std::vector<bool>& words) {
        for (std::uint64_t word = touched.offset / kWord; word <= (touched.offset + touched.bytes - 1) / kWord; ++word)
            if (word < words.size() && words[word]) return true;
        return false;
    };
    switch (touched.space) {
        case Space::global: return global_.has(touched.offset, touched.bytes);
        case Space::shared: return any_shared_ && any(shared_);
        case Space::local: return any(registers_->local);
        default: return false;
    }
}

/// Only whole words become known again, in local memory only those of all lanes, and never global memory.
void UnknownValues::set(const Touched& touched, bool unknown, bool all_lanes) {
    if (touched.space == Space::global) {
        if (unknown) global_.mark(touched.offset, touched.bytes);
        return;
    }
    if (touched.space == Space::constant || (!unknown && touched.bytes < kWord)) return;
    if (touched.space == Space::local && !unknown && !all_lanes) return;
    if (unknown && touched.space == Space::shared) any_shared_ = true, global_.note_shared();
    std::vector<bool>& words = touched.space == Space::local ? registers_->local : shared_;
    for (std::uint64_t word = touched.offset / kWord; word <= (touched.offset + touched.bytes - 1) / kWord; ++word)
        if (word < words.size()) words[word] = unknown;
}

void UnknownValues::turn(std::size_t warp) {
    if (observer_ != nullptr) observer_->turn(warp);
}

void UnknownValues::execute(std::size_t step, std::uint32_t lanes, std::uint32_t mask) {
    if (observer_ != nullptr) observer_->execute(step, lanes, mask);
}

void UnknownValues::access(Space space, Access access, std::uint64_t offset, std::uint64_t bytes) {
    touched_.push_back({space, access, offset, bytes});
    if (observer_ != nullptr) observer_->access(space, access, offset, bytes);
}

void UnknownValues::arrive(std::uint64_t barrier, bool ends) {
    if (observer_ != nullptr) observer_->arrive(barrier, ends);
}

void UnknownValues::check(std::uint64_t barrier, bool ended) {
    if (observer_ != nullptr) observer_->check(barrier, ended);
}

void UnknownValues::meet(std::uint32_t barrier, std::uint32_t expected, std::uint32_t threads, bool waits) {
    if (observer_ != nullptr) observer_->meet(barrier, expected, threads, waits);
}

bool UnknownValues::end_block(std::uint64_t index) { return observer_ == nullptr || observer_->end_block(index); }

}  // namespace gputomo::sim::machine_code
