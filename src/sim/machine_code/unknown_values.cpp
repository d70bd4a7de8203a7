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

/// By source of an instruction: bits.
using Sources = std::array<std::uint32_t, 3>;

/// Bits of a result of LOP3 that may change with the unknown bits of its sources.
std::uint32_t unknown_of_lookup(const Step& step, const Sources& unknown) {
    const auto table = static_cast<std::uint8_t>(step.mode);
    std::uint32_t changes = 0;
    constexpr unsigned kRows = 8;
    for (unsigned row = 0; row < kRows; ++row)
        for (unsigned other = 0; other < row; ++other) {
            if ((table >> row & 1) == (table >> other & 1)) continue;
            // Bits for which the sources may select either row.
            std::uint32_t either = ~0U;
            for (std::size_t i = 0; i < unknown.size(); ++i) {
                const unsigned place = 2 - static_cast<unsigned>(i);
                const bool set = (row >> place & 1) != 0;
                if (set != ((other >> place & 1) != 0))
                    either &= unknown[i];
                else if (const Source& source = step.source[i]; source.kind == Source::Kind::immediate)
                    either &= set ? source.low : ~source.low;
                else if (source.kind == Source::Kind::zero && set)
                    either = 0;
            }
            changes |= either;
        }
    return changes;
}

/// Bits of a result of PRMT that are those of unknown bits.
std::uint32_t unknown_of_permutation(std::uint32_t selector, const Sources& unknown) {
    const std::uint64_t both = unknown[0] | std::uint64_t{unknown[2]} << 32;
    std::uint32_t bits = 0;
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
        const std::uint32_t pick = selector >> (4 * byte) & 15;
        auto picked = static_cast<std::uint32_t>(both >> (8 * (pick & 7)) & 0xFF);
        const bool copies_sign = (pick & 8) != 0;
        if (copies_sign) picked = (picked & 0x80) != 0 ? 0xFF : 0;
        bits |= picked << (8 * byte);
    }
    return bits;
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
    at_ = kNowhere;
    unknown.read = unknown.writes_uniform = false;
    unknown.written.reset();
    unknown.written_predicates = 0;
    const sass::Class what = class_of(step);
    if (!step.guard.uniform && (unknown.predicates >> step.guard.predicate & 1) != 0) {
        if (what != sass::Class::compute) need_products(step, "a guard");
        unknown.read = true;
        mask = lanes;
    }
    find_bits(warp, step);
    if (has_address(what))
        for (const Address* address : {&step.address, &step.copy_to})
            for (std::size_t word = 0; word < 2; ++word)
                if (address->reg != sass::kZeroRegister && unknown.registers[address->reg + word] &&
                    (word == 0 || address->wide))
                    need_products(step, "an address");
    return mask;
}

bool UnknownValues::leaves_out(Warp& warp, const Step& step, std::size_t at) {
    UnknownRegisters& unknown = *warp.unknown;
    if (bits_ || unknown.read || step.uniform || class_of(step) != sass::Class::compute ||
        step.instruction.operation == sass::Operation::MATCH ||
        step.instruction.form->facts->unit == sass::Unit::tensor)
        return false;
    sources_ = 0;
    for (std::size_t i = 0; i < step.source_count; ++i)
        if (step.source[i].kind == Source::Kind::reg && unknown.registers[step.source[i].reg]) sources_ |= 1U << i;
    if (sources_ == 0) return false;
    if (at >= effects_.size()) effects_.resize(at + 1);
    const Effect& known = effects_[at];
    if (known.sources != sources_) {
        at_ = at;
        return false;
    }
    unknown.read = true;
    unknown.written = known.written;
    unknown.written_predicates = known.written_predicates;
    return true;
}

void UnknownValues::end(Warp& warp, const Step& step, std::uint32_t mask) {
    UnknownRegisters& unknown = *warp.unknown;
    const bool all_lanes = (mask & warp.lanes) == warp.lanes;
    if (bits_ && !unknown.writes_uniform) return end_bits(unknown, step, all_lanes);
    bool results = unknown.read;
    switch (class_of(step)) {
        case sass::Class::compute:
            if (unknown.read && step.instruction.operation == sass::Operation::MATCH) need_products(step, "the time");
            if (at_ != kNowhere && unknown.read && !unknown.writes_uniform)
                effects_[at_] = {sources_, unknown.written, unknown.written_predicates};
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
        unknown.in_part &= ~unknown.written;
        unknown.predicates |= unknown.written_predicates;
    } else if (all_lanes) {
        unknown.registers &= ~unknown.written;
        unknown.predicates &= static_cast<std::uint8_t>(~unknown.written_predicates);
    }
}

/// Compilers keep the truth of a condition in the lower half of a register, whose upper half may follow from a product.
/// So what LOP3 and PRMT make of such registers is followed bit by bit.
void UnknownValues::find_bits(const Warp& warp, const Step& step) {
    bits_.reset();
    if (warp.unknown->read) return;  // its guard is unknown
    const bool permutes = step.instruction.operation == sass::Operation::PRMT;
    if (!permutes && step.instruction.operation != sass::Operation::LOP3) return;
    Sources unknown{};
    for (std::size_t i = 0; i < unknown.size(); ++i)
        if (step.source[i].kind == Source::Kind::reg) unknown[i] = warp.unknown->bits_of(step.source[i].reg);
    if (std::ranges::all_of(unknown, [](std::uint32_t bits) { return bits == 0; })) return;
    if (!permutes) {
        bits_ = unknown_of_lookup(step, unknown);
    } else if (step.source[1].kind == Source::Kind::immediate &&
               step.instruction.value(sass::Modifier::permutation) == 0) {
        bits_ = unknown_of_permutation(step.source[1].low, unknown);
    }
}

/// A result of which some bits are unknown.
void UnknownValues::end_bits(UnknownRegisters& unknown, const Step& step, bool all_lanes) const {
    const std::size_t reg = step.destination.reg;
    if (reg != sass::kZeroRegister) {
        const std::uint32_t bits = all_lanes ? *bits_ : *bits_ | unknown.bits_of(reg);
        unknown.registers[reg] = bits != 0;
        unknown.in_part[reg] = true;
        unknown.bits[reg] = bits;
    }
    const bool other = step.predicate_count > 0 && (unknown.predicates >> step.predicate[0].number & 1) != 0;
    if (*bits_ != 0 || other)
        unknown.predicates |= unknown.written_predicates;
    else if (all_lanes)
        unknown.predicates &= static_cast<std::uint8_t>(~unknown.written_predicates);
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
