#include "predict/launch/sm_units.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::predict {

SmUnits::SmUnits(const launch::LaunchProfile& profile, const SmRates& rates, double scale)
    : profile_(profile),
      rates_(rates),
      scale_(scale),
      constants_(rates.constants, static_cast<std::size_t>(rates.schedulers), scale),
      issue_(static_cast<std::size_t>(rates.schedulers)),
      ports_(issue_.size(), costs::RegisterPorts(rates.registers)),
      shared_queue_(rates.shared_queue, issue_.size()),
      units_of_sm_(profile.units.size()),
      units_(profile.units.size() * issue_.size()),
      products_(issue_.size()) {
    for (const auto& step : profile.steps)
        if (const auto unit = static_cast<std::size_t>(step.unit);
            step.results > 0 && std::ranges::find(arithmetic_units_, unit) == arithmetic_units_.end())
            arithmetic_units_.push_back(unit);
}

double SmUnits::room_for(const ReplayedWarp& warp, const launch::ProfiledStep& step,
                         const launch::WarpEvent& event) const {
    const bool waits = step.kind == launch::StepKind::shared && event.access < launch::kNotExecuted;
    return waits && shared_queue_.described() && scale_ > 0 ? shared_queue_.room(warp.scheduler) : 0;
}

std::size_t SmUnits::port_of_unit(const launch::ProfiledStep& step, std::uint32_t scheduler) const {
    const auto unit = static_cast<std::size_t>(step.unit);
    return issue_.size() + (profile_.units[unit].of_sm ? unit : units_of_sm_.size() + unit * issue_.size() + scheduler);
}

double SmUnits::free(std::size_t port) const {
    if (port < issue_.size()) return issue_[port].free;
    port -= issue_.size();
    return port < units_of_sm_.size() ? units_of_sm_[port].free : units_[port - units_of_sm_.size()].free;
}

double SmUnits::issue(const launch::ProfiledStep& step, const launch::WarpEvent& event, std::uint32_t scheduler,
                      std::uint32_t warp, double now) {
    if (waits_for_unit(step, event)) unit_of(step, scheduler).take(now, step.interval * scale_);
    const double slots = slots_of(step, event);
    issue_[scheduler].take(now, slots * rates_.issue_interval * scale_);
    const double at = scale_ > 0 ? ports_[scheduler].issue(step.reads, warp, now) : now;
    issue_[scheduler].free += at - now;
    issued_ += rates_.issue_interval;
    hold_arithmetic_back(step, event, scheduler, at);
    return at;
}

double SmUnits::queue(const launch::ProfiledStep& step, std::uint32_t scheduler, double at) {
    Server& unit = unit_of(step, scheduler);
    const double start = unit.take(at, step.interval * scale_);
    if (step.beside > 0) products_[scheduler].add(unit.free, step.beside * scale_);
    return start;
}

SmUnits::Served SmUnits::access(ReplayedWarp& warp, const launch::BlockTrace& trace, const launch::ProfiledStep& step,
                                const launch::WarpEvent& event, SmMemory& memory, double at) {
    const launch::WarpAccess& access = trace.accesses[event.access];
    double read = 0, done = at, first_word = 0;
    if (access.bank_cycles > 0) {
        const double start = stage(launch::Stage::storage).take(at, static_cast<double>(access.bank_cycles) * scale_);
        if (shared_queue_.described())
            shared_queue_.note(warp.scheduler, access.kind == launch::AccessKind::load, at, start);
        read = start;
        done = start + static_cast<double>(access.bank_latency);
        if (access.kind == launch::AccessKind::store) warp.shared_stored = std::max(warp.shared_stored, done);
        first_word = done - static_cast<double>(access.conflict);
    }
    const std::span lines(trace.lines.data() + access.first, access.lines);
    if (access.stage == launch::Stage::constants) done = constants_at(lines, warp, at);
    if (access.stage_cycles > 0) {
        const double cycles = static_cast<double>(access.stage_cycles);
        const double first = stage(access.stage).take(at, cycles * scale_);
        done = std::max({done, first, at + static_cast<double>(access.spread)});
        const double later = access.stage == launch::Stage::textures ? rates_.texture_latency - rates_.l1_latency : 0;
        for (std::size_t i = 0; i < lines.size() && access.stage != launch::Stage::constants; ++i) {
            const double leaves = first + cycles * static_cast<double>(i) / static_cast<double>(lines.size());
            read = std::max(read, leaves);
            const SharedLine line{lines[i], trace.sharers_of(access.first + i)};
            const double there = memory.served(access, line, leaves, warp.twin) + later;
            first_word = i == 0 ? there : std::min(first_word, there);
            done = std::max(done, there);
        }
        if (access.kind == launch::AccessKind::atomic) warp.atomics_left = memory.atomics_left();
        if (access.kind == launch::AccessKind::store) warp.hold = std::max(warp.hold, done - rates_.store_queue);
    }
    if (access.returning > 0)
        done = warp.returning.back({.first = first_word,
                                    .last = done,
                                    .cycles = static_cast<double>(access.returning),
                                    .spread = static_cast<double>(access.conflict)});
    if (step.kind == launch::StepKind::copy) warp.copies_done = std::max(warp.copies_done, done);
    if (access.kind != launch::AccessKind::store)
        warp.memory_done = std::max(warp.memory_done, done);
    else if (access.bank_cycles == 0)
        warp.stored = std::max(warp.stored, done);
    return {.read = read, .written = done};
}

double SmUnits::copy_bulk(ReplayedWarp& warp, const launch::BlockTrace& trace, const launch::WarpEvent& event,
                          SmMemory& memory, double at) {
    const launch::WarpAccess& access = trace.accesses[event.access];
    const bool writes = access.kind != launch::AccessKind::load;
    const costs::BulkSpec& spec = rates_.bulk;
    const double start = writes ? spec.store_start : access.tensor ? spec.tensor_start : spec.start;
    const double rate = writes ? spec.store_bytes_per_cycle : spec.bytes_per_cycle;
    const double earlier = writes ? 0 : access.tensor ? spec.tensor_earlier : spec.earlier;
    double done = at + start;
    for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i) {
        const launch::TouchedLine& line = trace.lines[i];
        const double bytes = std::popcount(line.sectors) * static_cast<double>(launch::kTouchedSectorBytes);
        const double leaves = bulk_.take(at, std::max(spec.piece, rate > 0 ? bytes / rate : 0) * scale_) + start;
        done = std::max(done, memory.served(access, {line, trace.sharers_of(i)}, leaves, warp.twin) - earlier);
        if (writes) warp.bulk_read = std::max(warp.bulk_read, leaves);
    }
    if (writes) warp.bulk_done = std::max(warp.bulk_done, done);
    return done;
}

void SmUnits::fill_busy(BusyCycles& busy) const {
    const auto most = [](std::span<const Server> servers) { return std::ranges::max(servers, {}, &Server::busy).busy; };
    busy[kIssue] = most(issue_);
    busy[kRegisterPorts] = std::ranges::max(ports_, {}, &costs::RegisterPorts::busy).busy();
    for (std::size_t unit = 0; unit < profile_.units.size(); ++unit) {
        const auto& name = profile_.units[unit].name;  // "sfu", or "unit of lanes" where no pipeline is described
        busy[name.starts_with("unit ") ? name : "unit " + name] =
            std::max(units_of_sm_[unit].busy, most(of_schedulers(unit)));
    }
    constexpr std::array kNames{kStorage, kFirstCache, kConstants, kTextures};  // by launch::Stage
    for (std::size_t number = 0; number < kNames.size(); ++number) busy[kNames[number]] = stages_[number].busy;
}

void SmUnits::fill_used(Utilisation& used, double active) const {
    const auto busy = [this](launch::Stage which) { return stages_[static_cast<std::size_t>(which)].busy; };
    const auto schedulers = static_cast<double>(issue_.size());
    used.sm = std::max(issued_ / schedulers, busy(launch::Stage::constants));
    for (std::size_t unit = 0; unit < profile_.units.size(); ++unit) {
        double sum = 0;
        for (const Server& server : of_schedulers(unit)) sum += server.busy;
        used.sm = std::max({used.sm, units_of_sm_[unit].busy, sum / schedulers});
    }
    used.l1 = std::max(
        {used.l1, busy(launch::Stage::storage), busy(launch::Stage::first_cache), busy(launch::Stage::textures)});
    used.sm *= active;
    used.l1 *= active;
}

Server& SmUnits::unit_of(const launch::ProfiledStep& step, std::uint32_t scheduler) {
    const auto unit = static_cast<std::size_t>(step.unit);
    return profile_.units[unit].of_sm ? units_of_sm_[unit] : units_[unit * issue_.size() + scheduler];
}

std::span<const Server> SmUnits::of_schedulers(std::size_t unit) const {
    return std::span(units_).subspan(unit * issue_.size(), issue_.size());
}

double SmUnits::slots_of(const launch::ProfiledStep& step, const launch::WarpEvent& event) const {
    if (event.access == launch::kNotExecuted) return 1;
    if (event.access == launch::kNoAccess || step.kind == launch::StepKind::constant) return step.slots;
    return step.kind == launch::StepKind::shared ? rates_.shared_slots : rates_.access_slots;
}

/// Beside products of warp groups, arithmetic of all units waits after an instruction that writes registers.
void SmUnits::hold_arithmetic_back(const launch::ProfiledStep& step, const launch::WarpEvent& event,
                                   std::uint32_t scheduler, double at) {
    if (step.results == 0 || event.access == launch::kNotExecuted) return;
    const double next = products_[scheduler].next(at, step.results);
    if (next <= at) return;
    for (const auto unit : arithmetic_units_) {
        Server& server = units_[unit * issue_.size() + scheduler];
        server.free = std::max(server.free, next);
    }
}

double SmUnits::constants_at(std::span<const launch::TouchedLine> lines, const ReplayedWarp& warp, double at) {
    double done = at;
    if (!constants_.described()) return done;
    costs::ConstantLines of_load(rates_.constant_lines);
    const double hit = rates_.constant_lines.hit;
    for (const launch::TouchedLine& line : lines)
        for (std::uint32_t sectors = line.sectors; sectors != 0; sectors &= sectors - 1) {
            const auto sector = static_cast<std::uint64_t>(std::countr_zero(sectors));
            const std::uint64_t address = line.line * launch::kTouchedLineBytes + sector * launch::kTouchedSectorBytes;
            const double there = constants_.there(address, warp.scheduler, at);
            done = std::max(done, of_load.there(address, at, there + hit) - hit);
        }
    return done;
}

}  // namespace gputomo::predict
