#include "sim/machine_code/wait_watch.hpp"

#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sim/exec/program.hpp"
#include "sim/machine_code/paths.hpp"
#include "sim/machine_code/warp.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace gputomo::sim::machine_code {
namespace {

class Hash {
public:
    void add(std::uint64_t word) {
        value_ = (value_ ^ word) * 0x9E3779B97F4A7C15ULL;
        value_ ^= value_ >> 29;
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0x243F6A8885A308D3ULL;
};

std::uint64_t addresses_of(const Warp& warp, std::uint32_t mask) {
    Hash hash;
    for_lanes(mask, [&](int l) { hash.add(warp.block->addresses[static_cast<std::size_t>(l)]); });
    return hash.value();
}

std::uint64_t values_of(const Warp& warp, const Step& step, std::uint32_t mask) {
    Hash hash;
    if (step.destination.reg != sass::kZeroRegister && !step.destination.uniform)
        for_lanes(mask, [&](int l) { hash.add(warp.registers[step.destination.reg][static_cast<std::size_t>(l)]); });
    for (const PredicateSource& out : step.predicate_out)
        if (out.number != sass::kTruePredicate) hash.add(warp.predicates[out.number] & mask);
    return hash.value();
}

/// What an atomic writes or compares with. The values are those before it, because its result goes elsewhere.
std::uint64_t operands_of(const Warp& warp, const Step& step, std::uint32_t mask) {
    Hash hash;
    for (int i = 0; i < step.source_count; ++i) {
        const View view = warp.view(step, i);
        for_lanes(mask, [&](int l) { hash.add(view.raw(l)); });
    }
    return hash.value();
}

/// Compare-and-swap and exchange, which locks are made of.
bool swaps(const Step& step) {
    const auto text = sass::text_of(step.instruction, 0);
    return text.find(".CAS") != std::string::npos || text.find(".EXCH") != std::string::npos;
}

std::uint64_t state_of(const Warp& warp) {
    Hash hash;
    for (const Warp::Row& row : warp.registers)
        for (const std::uint32_t word : row) hash.add(word);
    for (const std::uint32_t word : warp.uniforms) hash.add(word);
    for (const std::uint32_t word : warp.predicates) hash.add(word);
    for (const std::uint32_t word : warp.uniform_predicates) hash.add(word);
    return hash.value();
}

Visible visible_access(const Step& step) {
    if (step.instruction.form == nullptr) return Visible::none;
    const sass::Facts& facts = *step.instruction.form->facts;
    switch (facts.what) {
        case sass::Class::memory: break;
        case sass::Class::shared_barrier:
            // SYNCS.PHASECHK asks whether a phase has ended; all others arrive or set up.
            return checks_phase(step) ? Visible::read : Visible::write;
        case sass::Class::copy:
        case sass::Class::bulk_copy: return Visible::write;
        default: return Visible::none;
    }
    switch (facts.access) {
        case sass::Access::load: return Visible::read;
        case sass::Access::atomic:
            return step.destination.reg != sass::kZeroRegister ? Visible::read_and_write : Visible::write;
        default: return Visible::write;
    }
}

bool reaches_global(sass::MemorySpace space) {
    return space == sass::MemorySpace::global || space == sass::MemorySpace::generic;
}

}  // namespace

bool checks_phase(const Step& step) {
    return step.instruction.form != nullptr && step.instruction.has(sass::Modifier::try_wait);
}

bool tries_to_wait(const Step& step) {
    return checks_phase(step) && step.instruction.value(sass::Modifier::try_wait) != 0;
}

bool is_alone(const Paths& paths) {
    return std::ranges::count_if(paths.all(), [](const Path& path) {
               return path.state != Path::State::converging && path.state != Path::State::warp_barrier;
           }) <= 1;
}

bool asks_for_registers(const Step& step) {
    return step.instruction.form != nullptr && step.instruction.operation == sass::Operation::USETMAXREG &&
           step.instruction.form->written_predicates > 0;
}

VisibleAccesses visible_accesses(const MachineProgram& program) {
    VisibleAccesses accesses;
    for (const Step& step : program.steps) {
        const Visible kind = visible_access(step);
        accesses.kind.push_back(kind);
        accesses.reads_global.push_back((kind == Visible::read || kind == Visible::read_and_write) &&
                                        reaches_global(step.instruction.form->facts->space));
        accesses.swaps.push_back(kind == Visible::read_and_write &&
                                 atomic_class_of(step) == costs::AtomicClass::compare_swap);
    }
    return accesses;
}

void add_waits(std::vector<Wait>& to, const std::vector<Wait>& waits) {
    for (const Wait& wait : waits) {
        const auto known = std::ranges::find(to, wait.step, &Wait::step);
        if (known == to.end())
            to.push_back(wait);
        else if (wait.certain && !known->certain)
            *known = wait;
    }
}

const Wait* most_certain(const std::vector<Wait>& waits) {
    const auto certain = std::ranges::find(waits, true, &Wait::certain);
    if (certain != waits.end()) return &*certain;
    return waits.empty() ? nullptr : &waits.front();
}

void WaitWatch::start(std::size_t warps) {
    reads_.assign(warps, {});
    seen_.clear();
    most_repeated_ = 0;
}

void WaitWatch::note(const Warp& warp, std::uint64_t block, const Step& step, std::size_t at, std::uint32_t mask) {
    LastRead& last = reads_[warp.number];
    const Visible visible = accesses_.kind[at];
    if (visible == Visible::none) return;
    if (visible == Visible::write) {
        ++writes_;
        last = {};
        return;
    }
    const bool atomic = visible == Visible::read_and_write;
    const std::uint64_t addresses = addresses_of(warp, mask);
    const std::uint64_t operands = atomic ? operands_of(warp, step, mask) : 0;
    if (last.step != at || last.mask != mask || last.addresses != addresses || last.operands != operands) {
        if (atomic) ++writes_;
        last = {.step = at, .mask = mask, .addresses = addresses, .operands = operands};
        return;
    }
    const std::uint64_t values = values_of(warp, step, mask), state = state_of(warp);
    const bool same = last.repeated > 0 && values == last.values;
    // An atomic that found twice in a row what it found before has changed nothing.
    if (atomic && !same) ++writes_;
    last.repeated = same ? last.repeated + 1 : 1;
    // Threads ask for a phase until it ends, however long that takes.
    if (!checks_phase(step)) most_repeated_ = std::max(most_repeated_, last.repeated);
    last.waits = same && state == last.state;
    last.values = values;
    last.state = state;
    if (!last.waits && atomic && !swaps(step)) return;  // it counts, and found another number
    const std::uint64_t address = warp.block->addresses[static_cast<std::size_t>(std::countr_zero(mask))];
    const auto space = step.instruction.form->facts->space;
    const bool in_window = space == sass::MemorySpace::generic && address - kSharedWindow < kWindowSize;
    add_waits(seen_, {{.block = block,
                       .warp = warp.number,
                       .step = at,
                       .shared = space == sass::MemorySpace::shared || in_window,
                       .address = address,
                       .certain = last.waits}});
}

}  // namespace gputomo::sim::machine_code
