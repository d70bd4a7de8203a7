#include "predict/launch/sm_memory.hpp"

#include "machine/dram_variation.hpp"
#include "predict/launch/touched_bytes.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace gputomo::predict {
namespace {

std::uint64_t sector_number(const launch::TouchedLine& line, std::uint32_t sector) {
    return line.line * (launch::kTouchedLineBytes / launch::kTouchedSectorBytes) + sector;
}

constexpr std::uint32_t kWholeLine = (1U << (launch::kTouchedLineBytes / launch::kTouchedSectorBytes)) - 1;

double bytes_of(std::uint32_t sectors) {
    return static_cast<double>(std::popcount(sectors)) * launch::kTouchedSectorBytes;
}

}  // namespace

SmMemory::SmMemory(const SmRates& rates, const Shares& shares, double partial_store, Timeline& timeline)
    : rates_(rates),
      shares_(&shares),
      timeline_(&timeline),
      partial_store_(partial_store),
      scale_(shares.contention ? 1 : 0),
      l1_(rates.l1_bytes / launch::kTouchedSectorBytes),
      l2_(shares.l2_bytes / rates.l2_granule),
      load_(rates.contention),
      waiting_stores_(rates.partial_stores.merged_lines),
      scattered_reads_(shares.completed_reads ? costs::ScatteredSpec{} : rates.partial_stores.scattered,
                       costs::ScatteredAccesses::kReadsOfSm),
      filling_reads_(rates.partial_stores.scattered, costs::ScatteredAccesses::kOfCache),
      filling_writes_(filling_reads_),
      // Lines that several SMs write are kept once.
      partial_lines_(rates.partial_stores.kept_lines * shares.writers / std::max(1.0, shares.active_sms)),
      atomic_units_(shares.atomic_shares.parts.size()),
      pages_(rates.tlbs.size()) {
    if (rates.atomic_units && rates.loads.gpu > 0) shared_lines_.resize(rates.atomic_units->count());
}

/// The first accesses of an SM miss in all TLBs, because no SM has used their pages before. Once they are translated,
/// other SMs have usually brought further pages to the TLBs that they share.
double SmMemory::translation(const launch::TouchedLine& line, double now) {
    double waits = 0;
    const auto address = static_cast<double>(line.line * launch::kTouchedLineBytes);
    std::size_t level = 0;
    for (; level < pages_.size(); ++level) {
        const auto entry = pages_[level].find(static_cast<std::uint64_t>(address / rates_.tlbs[level].span));
        if (entry != pages_[level].end()) {
            waits = std::max(waits, entry->second - now);
            break;
        }
        if (rates_.tlbs[level].known) break;
        if (rates_.tlbs[level].of_sm || shares_->active_sms <= 1 || now <= translated_)
            waits += rates_.tlbs[level].penalty;
    }
    if (translated_ == kNotYet) translated_ = now + waits;
    while (level-- > 0)
        pages_[level].emplace(static_cast<std::uint64_t>(address / rates_.tlbs[level].span), now + waits);
    return waits;
}

double SmMemory::served(const launch::WarpAccess& access, const SharedLine& shared, double now, Twin& twin) {
    const launch::TouchedLine& line = shared.line;
    if (access.kind == launch::AccessKind::store) return store(line, now);
    if (access.kind == launch::AccessKind::atomic) return atomic(access, line, now) + translation(line, now);
    twin.issue(now);
    const Arrival data = load(access, shared, now + translation(line, now), twin.lag(now));
    twin.wait_for(data);
    return data.own;
}

Arrival SmMemory::load(const launch::WarpAccess& access, const SharedLine& shared, double now, double lag) {
    const launch::TouchedLine& line = shared.line;
    Arrival done{now + rates_.l1_latency, now + rates_.l1_latency + lag};
    std::uint32_t missing = 0;
    for (std::uint32_t sectors = line.sectors; sectors != 0; sectors &= sectors - 1) {
        const auto sector = static_cast<std::uint32_t>(std::countr_zero(sectors));
        timeline_->l1_bytes += launch::kTouchedSectorBytes;
        const double* const arrival = access.skips_near ? nullptr : l1_.find(sector_number(line, sector));
        if (arrival == nullptr) {
            missing |= 1U << sector;
            continue;
        }
        timeline_->l1_hit_bytes += launch::kTouchedSectorBytes;
        if (*arrival > now) done.wait_for(on_the_way(granule_of(sector_number(line, sector)), *arrival, now, lag));
    }
    if (missing == 0) return done;
    const Arrival arrival = load_missing(shared, missing, access.prefetched, now, lag);
    if (!access.skips_near)
        for (; missing != 0; missing &= missing - 1)
            l1_.insert(sector_number(line, static_cast<std::uint32_t>(std::countr_zero(missing))), arrival.own);
    done.wait_for(arrival);
    return done;
}

Arrival SmMemory::on_the_way(std::uint64_t granule, double arrival, double now, double lag) const {
    const std::size_t place = seen_.find(granule);
    const bool known = place != NumberSet::kNone && later_for_twin_[place] != kNotYet;
    const double later = known ? later_for_twin_[place] : lag;
    return {arrival, std::max(arrival + later, now + lag)};
}

/// The bytes pass the SM's port, then its share of the GPU's bandwidth. There each byte counts as `weight` bytes.
/// Returns when the share begins to serve them.
double SmMemory::through(Server& port, GpuServer& share, const Bandwidth& bandwidth, double bytes, double now,
                         double weight) const {
    double start = now;
    if (bandwidth.sm > 0) start = port.take(start, bytes / bandwidth.sm * scale_);
    if (bandwidth.gpu > 0) start = at_share(share, start, weight * bytes * shares_->active_sms / bandwidth.gpu);
    return start;
}

Arrival SmMemory::load_missing(const SharedLine& shared, std::uint32_t missing, std::uint32_t prefetched, double now,
                               double lag) {
    const double bytes = bytes_of(missing);
    timeline_->l2_read_bytes += bytes;
    const Granules granules = granules_of(shared.line, missing);
    // Loads of a GPC's SMs for one line are one request.
    const double merged = std::min(rates_.merged_loads, shared.sharers);
    // The L2 takes as long for a part of a granule as for the whole one.
    const double weight = static_cast<double>(granules.count) * rates_.l2_granule / bytes / merged;
    double start = through(loads_, load_share_, rates_.loads, bytes, now, weight);
    if (rates_.gpc_loads > 0)
        start = at_share(gpc_share_, start, bytes * shares_->gpc_sms / merged / rates_.gpc_loads, shares_->gpc_sms);
    return from_l2(granules, through_part(shared, granules.count, start), lag, prefetched);
}

double SmMemory::through_part(const SharedLine& shared, std::size_t granules, double now) {
    if (shared_lines_.empty() || shared.sharers <= 1) return now;
    const double readers = std::max(shared.sharers, 1 / std::max(shares_->first_of_gpu, 1 / shares_->active_sms));
    const double requests = readers / std::min(rates_.merged_loads, shared.sharers);
    const auto parts = static_cast<double>(shared_lines_.size());
    const double cycles = static_cast<double>(granules) * rates_.l2_granule * parts / rates_.loads.gpu;
    const std::size_t part = rates_.atomic_units->unit_of(shared.line.line * launch::kTouchedLineBytes);
    return shared_lines_[part].take(now, requests * cycles * scale_);
}

std::uint64_t SmMemory::granule_of(std::uint64_t sector) const {
    return sector /
           std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rates_.l2_granule) / launch::kTouchedSectorBytes);
}

SmMemory::Granules SmMemory::granules_of(const launch::TouchedLine& line, std::uint32_t sectors) const {
    Granules granules;
    for (; sectors != 0; sectors &= sectors - 1) {
        const auto number = granule_of(sector_number(line, static_cast<std::uint32_t>(std::countr_zero(sectors))));
        if (granules.count == 0 || granules.number[granules.count - 1] != number)
            granules.number[granules.count++] = number;
    }
    return granules;
}

/// When granules that the SM requests at `start` have arrived from the L2 or DRAM.
Arrival SmMemory::from_l2(const Granules& granules, double start, double lag, std::uint32_t prefetched) {
    start = std::max(start, filling_.free);
    const std::size_t missing = missing_of(granules, prefetched);
    Arrival done{start + rates_.l2_latency, start + rates_.l2_latency + lag};
    for (const std::uint64_t granule : std::span(granules.number).first(granules.count)) {
        if (const double* const arrival = l2_.find(granule)) {
            if (*arrival > start) done.wait_for(on_the_way(granule, *arrival, start, lag));
            continue;
        }
        const Arrival arrival = fetch(granule, streamed_of(granule, missing), start, lag);
        l2_.insert(granule, arrival.own);
        done.wait_for(arrival);
        fetch_block_of(granule, prefetched, start, lag);
    }
    return done;
}

/// The L2 reads the other granules of the block as well. Nothing waits for them now.
void SmMemory::fetch_block_of(std::uint64_t granule, std::uint32_t prefetched, double now, double lag) {
    const auto bytes = std::min<std::uint64_t>(prefetched, launch::kTouchedLineBytes);
    const std::uint64_t count = bytes / static_cast<std::uint64_t>(rates_.l2_granule);
    for (std::uint64_t i = 0; i < count; ++i)
        if (const std::uint64_t other = granule / count * count + i; l2_.find(other) == nullptr)
            l2_.insert(other, fetch(other, rates_.l2_granule, now, lag).own);
}

std::size_t SmMemory::missing_of(const Granules& granules, std::uint32_t prefetched) {
    std::size_t missing = 0;
    for (const std::uint64_t granule : std::span(granules.number).first(granules.count))
        missing += l2_.find(granule) == nullptr ? 1 : 0;
    const auto ahead = static_cast<std::size_t>(prefetched / rates_.l2_granule);
    return missing > 0 ? std::max(missing, ahead) : 0;
}

/// Bytes of a stream in whose time DRAM reads a granule, together with others of its line.
double SmMemory::streamed_of(std::uint64_t granule, std::size_t missing) {
    const double bytes = rates_.l2_granule * static_cast<double>(missing);
    const auto address = granule * static_cast<std::uint64_t>(rates_.l2_granule);
    return scattered_reads_.read(address, bytes) / static_cast<double>(missing);
}

/// When a granule arrives that is not in this SM's part of the L2: it is read for the first time, or was evicted.
/// SMs that run the same code request a common granule at about the same time. One of them fetches it from DRAM,
/// and all wait for it. This SM therefore books only its share of the fetch.
Arrival SmMemory::fetch(std::uint64_t granule, double streamed, double now, double lag) {
    const std::size_t place = seen_.place(granule);
    const bool again = place < later_for_twin_.size();
    if (!again) later_for_twin_.push_back(kNotYet);
    const Arrival hit{now + rates_.l2_latency, now + rates_.l2_latency + lag};
    if (!again && shares_->content != nullptr && shares_->content->holds(granule, rates_.l2_granule)) return hit;
    const double share = again ? 1 : shares_->first_of_gpu;
    const double bytes = share * rates_.l2_granule;
    timeline_->dram_read_bytes += bytes;
    to_dram(bytes * shares_->displaced, shares_->write_cost, now);
    const double all = share * streamed * shares_->active_sms;
    const double queued = at_share(dram_, now, all / rates_.memory_bandwidth);
    const auto address = granule * static_cast<std::uint64_t>(rates_.l2_granule);
    const double start = std::max(queued, now + load_.wait(now) * scale_);
    load_.add(now, all);
    fetched_ += share;
    if (later_wave_) {
        // This SM waits for its share of the fetches. Blocks of earlier waves have brought the other granules to the
        // L2.
        if (fetched_ < 1) return hit;
        fetched_ -= 1;
    }
    const double writing = now > 0 ? std::min(1.0, written_back_ / now) : 0;
    const double distance = machine::line_distance(address) * rates_.memory_line_range;
    const double latency = start - now + rates_.refresh.wait(address, start) + rates_.memory_latency + distance +
                           machine::write_wait(address, now, writing, rates_.write_delay) * scale_;
    Arrival arrival = from_memory(address, now, latency, lag, share);
    // What DRAM has read passes on its way back, and stores that arrive until then come first.
    const double passes = through_fabric(bytes, arrival.own) - arrival.own;
    arrival.own += passes;
    arrival.twin += passes;
    arrival.own = std::max(arrival.own, hit.own);
    arrival.twin = std::max(arrival.twin, hit.twin);
    if (share < 1) later_for_twin_[place] = arrival.twin - arrival.own;
    return arrival;
}

/// The replayed SM belongs to the first partition, its twins to another one.
Arrival SmMemory::from_memory(std::uint64_t address, double now, double latency, double lag, double share) const {
    const machine::FarMemory& memory = rates_.far;
    const bool far = machine::partition_of(address, memory.sides) != 0;
    const double alone = now + latency + memory.beyond_mean(far), chance = chance_of_twin(share);
    if (chance == 0 || memory.extra == 0) return {alone, alone + lag};
    // The earlier request makes DRAM read the line, and the data arrive on each side as far as that is.
    const double asked = std::min(now + (far ? memory.request : 0), now + lag + (far ? 0 : memory.request));
    const double near = asked + latency + memory.beyond_mean(false);
    const Arrival together{near + (far ? memory.response() : 0), near + (far ? 0 : memory.response())};
    return {chance * together.own + (1 - chance) * alone, chance * together.twin + (1 - chance) * (alone + lag)};
}

double SmMemory::through_fabric(double bytes, double now) {
    if (rates_.l2_fabric == 0 || scale_ == 0) return now;
    return at_share(fabric_share_, now, bytes * shares_->active_sms / rates_.l2_fabric);
}

double SmMemory::store(const launch::TouchedLine& line, double now) {
    const bool global = line.line < launch::kLocalMemory / launch::kTouchedLineBytes;
    const std::uint32_t sectors =
        global && scale_ > 0 ? waiting_stores_.left(line.line, line.sectors, now) : line.sectors;
    // What joins a waiting store may complete its sectors.
    if (sectors != line.sectors) partial_lines_.join(line.line, line.sectors & ~sectors, written_by(line));
    if (sectors == 0) return now;
    const double bytes = bytes_of(sectors);
    timeline_->l2_written_bytes += bytes;
    const bool joins = global && scale_ > 0 && waiting_stores_.has(line.line, now);
    const double taken = costs::stored_bytes(rates_.partial_stores, partial_store_, {bytes, line.partial, joins});
    const double sent = through(stores_, store_share_, rates_.stores, bytes, now, taken / bytes);
    const double start = through_fabric(bytes, sent);
    if (global) waiting_stores_.add(line.line, sectors, start);
    stores_passed_ = std::max(stores_passed_, start);
    write_back(bytes, start);
    if (global && rates_.partial_stores.kept_lines > 0 && !shares_->completed_writes &&
        (line.partial || partial_lines_.knows(line.line)))
        fill_partial(line, sectors, start);
    if (rates_.l1_keeps_stores) keep_stored(line, now);
    return behind_fill(line, start);
}

void SmMemory::fill_partial(const launch::TouchedLine& line, std::uint32_t sectors, double now) {
    // The L2 has the rest of a line that the SM has loaded.
    if (!partial_lines_.knows(line.line)) {
        const Granules granules = granules_of(line, sectors);
        if (std::ranges::all_of(std::span(granules.number).first(granules.count),
                                [&](std::uint64_t granule) { return l2_.find(granule) != nullptr; }))
            return;
    }
    const costs::FilledLine filled = partial_lines_.store(line.line, sectors, written_by(line));
    if (filled.sectors == 0) return;
    // Each store has booked its part of what does not stay in the L2 in the end. The rest leaves it now, and is written
    // beside as many bytes that are read.
    const double bytes = bytes_of(filled.sectors);
    const double stored = static_cast<double>(filled.stored) * launch::kTouchedSectorBytes;
    const double booked = std::min(bytes, stored * shares_->written_back);
    timeline_->dram_read_bytes += bytes;
    timeline_->dram_written_bytes += bytes - booked;
    const double streamed = filling_writes_.write(filled.address(), bytes) + bytes * (rates_.write_cost - 1) -
                            booked * (shares_->scattered + shares_->write_cost - 1);
    const double read = filling_reads_.read(filled.address(), bytes);
    (void)at_share(dram_, now, read * shares_->active_sms / rates_.memory_bandwidth);
    write_for(std::max(0.0, streamed) * shares_->active_sms / rates_.memory_bandwidth, now);
    stores_passed_ = std::max(stores_passed_, dram_.served_until());
}

/// A sector that was written in part is fetched for those who read another part. In local memory each thread reads what
/// it has written itself.
void SmMemory::keep_stored(const launch::TouchedLine& line, double now) {
    if (line.partial && line.line < launch::kLocalMemory / launch::kTouchedLineBytes) return;
    for (std::uint32_t sectors = line.sectors; sectors != 0; sectors &= sectors - 1) {
        const auto number = sector_number(line, static_cast<std::uint32_t>(std::countr_zero(sectors)));
        if (l1_.find(number) == nullptr) l1_.insert(number, now);
    }
}

/// When a store is served that arrives at `now`. While its line is on the way from DRAM, the part of the L2 that serves
/// the line is blocked. The blocks of all SMs are spread over all parts.
double SmMemory::behind_fill(const launch::TouchedLine& line, double now) {
    if (!rates_.stores_block_fills || scale_ == 0) return now;
    const double start = std::max(now, filling_.free);
    double there = 0;
    const Granules granules = granules_of(line, kWholeLine);
    for (const std::uint64_t granule : std::span(granules.number).first(granules.count))
        if (const double* const arrival = l2_.find(granule)) there = std::max(there, *arrival - rates_.l2_latency);
    if (there <= start) return start;
    const auto parts = static_cast<double>(rates_.atomic_units->count());
    (void)filling_.take(start, (there - start) * shares_->active_sms / parts);
    return start;
}

double SmMemory::atomic(const launch::WarpAccess& access, const launch::TouchedLine& line, double now) {
    const double bytes = bytes_of(line.sectors);
    if (!line.again) timeline_->l2_atomic_bytes += bytes;
    if (shares_->atomics != nullptr) return at_unit(access, line, now);
    const double start = through(atomics_, atomic_share_, rates_.atomics, bytes, now);
    write_back(bytes, start);
    return from_l2(granules_of(line, line.sectors), start, 0).own;
}

/// Books what other SMs ask of all units. It is booked in lots, because there are many units and many small requests.
void SmMemory::occupy_units(double cycles, double now) {
    constexpr double kLot = 8;  // cycles of the busiest unit; larger lots would delay requests by as much
    pending_atomics_ += cycles;
    if (pending_atomics_ * shares_->atomic_shares.largest < kLot) return;
    for (std::size_t unit = 0; unit < atomic_units_.size(); ++unit)
        (void)atomic_units_[unit].take(now, shares_->atomic_shares.parts[unit] * pending_atomics_);
    pending_atomics_ = 0;
}

void SmMemory::end_whole_waves(double now) {
    const AtomicShares& atomics = shares_->atomic_shares;
    if (atomics.parts.empty()) return;
    booked_ahead_ = std::max(0.0, atomics.own - own_atomics_);
    occupy_units(booked_ahead_ * atomics.others * scale_, now);
}

double SmMemory::at_unit(const launch::WarpAccess& access, const launch::TouchedLine& line, double now) {
    const double bytes = bytes_of(line.sectors);
    const auto weight = static_cast<double>(line.asked) / bytes;
    const double sectors = bytes / launch::kTouchedSectorBytes;
    double sent = through(atomics_, atomic_share_, rates_.atomics, bytes, now, weight);
    // An SM has a limited number of them in flight.
    if (rates_.atomics_in_flight > 0 && scale_ > 0)
        for (; !atomics_in_flight_.empty() && atomic_sectors_in_flight_ + sectors > rates_.atomics_in_flight;
             atomics_in_flight_.pop()) {
            sent = std::max(sent, atomics_in_flight_.top().first);
            atomic_sectors_in_flight_ -= atomics_in_flight_.top().second;
        }
    atomics_left_ = std::max(atomics_left_, sent);
    const std::size_t unit = shares_->atomics->unit_of(line);
    const double own = shares_->atomics->cycles(line, access.atomic_class);
    own_atomics_ += own;
    const double ahead = std::min(own, booked_ahead_);
    booked_ahead_ -= ahead;
    occupy_units((own - ahead) * shares_->atomic_shares.others * scale_, sent);
    const double start = atomic_units_[unit].take(sent, own * scale_);
    // The line is fetched while its unit still serves others.
    if (!line.again) write_back(bytes, sent);
    // It is in flight until its unit takes it, half of the way to the L2 and back.
    atomics_in_flight_.emplace(start + rates_.l2_latency / 2, sectors);
    atomic_sectors_in_flight_ += sectors;
    return std::max(start + rates_.l2_latency, from_l2(granules_of(line, line.sectors), sent, 0).own);
}

double SmMemory::atomics_end() const {
    double end = 0;
    for (const Server& unit : atomic_units_) end = std::max(end, unit.free);
    return end > 0 ? end + rates_.l2_latency : 0;
}

void SmMemory::write_back(double bytes, double now) {
    to_dram(bytes * shares_->written_back, shares_->scattered + shares_->write_cost - 1, now);
    to_dram(bytes * shares_->stored_once * shares_->displaced, shares_->write_cost, now);
}

void SmMemory::to_dram(double written, double cost, double now) {
    timeline_->dram_written_bytes += written;
    write_for(written * cost * shares_->active_sms / rates_.memory_bandwidth, now);
}

void SmMemory::write_for(double cycles, double now) {
    if (cycles <= 0) return;
    written_back_ += cycles;
    (void)at_share(dram_, now, cycles);
}

void SmMemory::fill_busy(BusyCycles& busy) const {
    busy[kDram] = dram_.busy();
    busy[kL2Loads] = std::max({loads_.busy, load_share_.busy(), gpc_share_.busy()});
    busy[kL2Stores] = std::max(stores_.busy, store_share_.busy());
    busy[kL2Atomics] = std::max(atomics_.busy, atomic_share_.busy());
    if (rates_.l2_fabric > 0) busy[kL2Fabric] = fabric_share_.busy();
    busy[kFilling] = filling_.busy;
    double most = 0;
    for (const Server& unit : atomic_units_) most = std::max(most, unit.busy);
    if (most == 0) return;
    auto& contended = busy[shares_->atomics->is_one_sector() ? kOneSector
                           : shares_->atomics->is_uneven()   ? kFewSectors
                                                             : kL2Atomics];
    contended = std::max(contended, most);
}

Utilisation SmMemory::used() const {
    const double read = timeline_->dram_read_bytes, written = timeline_->dram_written_bytes;
    double atomics = 0;
    for (const Server& unit : atomic_units_) atomics += unit.busy / static_cast<double>(atomic_units_.size());
    return {.l1 = std::max({loads_.busy, stores_.busy, atomics_.busy}),
            .l2 = std::max({load_share_.busy(), gpc_share_.busy(), store_share_.busy(), fabric_share_.busy(),
                            atomic_share_.busy(), atomics}),
            .dram = shares_->active_sms * (read + written) / rates_.memory_peak};
}

}  // namespace gputomo::predict
