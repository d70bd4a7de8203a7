#include "sim/memory/dram.hpp"

#include "machine/dram_variation.hpp"
#include "sim/memory/description.hpp"

#include <algorithm>

namespace gputomo::sim {
namespace {

/// Slots of a channel's calendar: queues of up to 32768 cycles. Longer queues come out too short.
constexpr std::uint32_t kChannelSlots = 2048;
/// Bytes of reads that later writes can pair with. A longer phase of reading counts as reads alone.
constexpr double kMostRead = 16 << 20;
/// Bandwidths from different sources may contradict each other by 1% of rounding.
constexpr double kBandwidthRounding = 1.01;
/// Catches typing errors.
constexpr std::int64_t kMaxChannels = 1024;

/// GB/s -> bytes per SM cycle.
double bytes_per_cycle(const machine::Real& bandwidth, const std::string& path, const machine::Machine& machine) {
    return need_rate(bandwidth, path) * 1e3 / need_rate(machine.clock.sm_mhz, "clock.sm_mhz");
}

std::size_t channels_of(const machine::Machine& machine) {
    return machine.memory.channels ? need_count(machine.memory.channels, "memory.channels", kMaxChannels) : 1;
}

double sustained_rate(const machine::Machine& machine, std::size_t channels) {
    const auto& memory = machine.memory;
    double pins = 0;
    if (memory.channel_bytes_per_cycle) {
        (void)need_count(memory.channels, "memory.channels", kMaxChannels);
        pins =
            static_cast<double>(channels) * need_rate(memory.channel_bytes_per_cycle, "memory.channel_bytes_per_cycle");
    } else if (memory.peak_bandwidth) {
        pins = bytes_per_cycle(memory.peak_bandwidth, "memory.peak_bandwidth", machine);
    }
    if (!memory.read_bandwidth && pins > 0) return pins;
    const double read = bytes_per_cycle(memory.read_bandwidth, "memory.read_bandwidth", machine);
    if (pins > 0 && read > pins * kBandwidthRounding)
        reject("memory.read_bandwidth",
               fmt::format("found {} GB/s, {:.2f} bytes per cycle", *memory.read_bandwidth, read),
               fmt::format("at most the rate of the channels, {:.2f} bytes per cycle", pins));
    return read;
}

}  // namespace

machine::Refresh refresh_of(const machine::Machine& machine) {
    const auto& memory = machine.memory;
    if (!memory.refresh_interval && !memory.refresh_time) return {};
    const double interval = need_rate(memory.refresh_interval, "memory.refresh_interval"),
                 time = need_rate(memory.refresh_time, "memory.refresh_time");
    if (!(time < interval))
        reject("memory.refresh_time", fmt::format("found {} ns", time),
               fmt::format("less than memory.refresh_interval, {} ns", interval));
    return machine::refresh_of(memory, need_rate(machine.clock.sm_mhz, "clock.sm_mhz"));
}

Dram::Dram(const machine::Machine& machine)
    : banks_(machine, channels_of(machine)),
      pauses_(machine),
      refresh_(refresh_of(machine)),
      contention_(machine),
      scattered_(costs::scattered_spec_of(machine)),
      reads_(scattered_, costs::ScatteredAccesses::kOfCache),
      writes_(reads_) {
    const auto& memory = machine.memory;
    const std::size_t channels = channels_of(machine);
    const double count = static_cast<double>(channels);
    const double read = sustained_rate(machine, channels);
    cycles_per_read_byte_ = cycles_per_written_byte_ = count / read;
    if (memory.copy_bandwidth) {
        const double copy = bytes_per_cycle(memory.copy_bandwidth, "memory.copy_bandwidth", machine);
        // A batch of reads, a batch of writes and two turnarounds take the time of two batches at the rate of a copy.
        turnaround_ = kWriteBatch * (count / copy - count / read);
        if (turnaround_ < 0) {  // copies are faster than reads: writes cost less, and turnarounds nothing
            turnaround_ = 0;
            cycles_per_written_byte_ = 2 * count / copy - count / read;
            if (cycles_per_written_byte_ <= 0)
                reject("memory.copy_bandwidth", fmt::format("found {}", *memory.copy_bandwidth),
                       "less than twice memory.read_bandwidth");
        }
    }
    cycles_per_read_byte_ *= pauses_.working_share();
    cycles_per_written_byte_ *= pauses_.working_share();
    turnaround_ *= pauses_.working_share();
    channels_.assign(channels, {Server(kChannelSlots)});
}

std::size_t Dram::channel_of(std::uint64_t physical) const {
    if (channels_.size() == 1) return 0;
    const std::uint64_t block = physical / kInterleave;
    // Higher address bits are folded in, so that strides of powers of two do not meet on one channel. Within an aligned
    // run of 2^n blocks the fold is a permutation, so that a stream loads all channels equally.
    const std::uint64_t folded = block ^ (block >> 5) ^ (block >> 10) ^ (block >> 17) ^ (block >> 25);
    return folded % channels_.size();
}

double Dram::distance(std::uint64_t physical) const {
    if (channels_.size() == 1) return machine::line_distance(physical);
    const std::size_t channel =
        banks_.described() ? banks_.channel(physical / banks_.fetch_bytes()) : channel_of(physical);
    return static_cast<double>(channel) / static_cast<double>(channels_.size() - 1) - 0.5;
}

void Dram::use_idle_time(Channel& channel, double now) const {
    const double idle = now - channel.server.busy_until();
    if (idle <= 0) return;
    if (channel.queued > 0 && idle > 2 * turnaround_)
        channel.queued = std::max(0.0, channel.queued - (idle - 2 * turnaround_) / cycles_per_written_byte_);
}

double Dram::fetch(std::uint64_t line, Bursts wanted, double now) {
    const auto place = banks_.place(line);
    if (!banks_.open(place, line, now)) {
        place.bank->line = line;
        place.bank->ready = now;
        for (std::size_t burst = 0; burst < banks_.fetch_bytes() / banks_.burst_bytes(); ++burst) {
            Channel& channel = channels_[(place.channel + burst) % channels_.size()];
            use_idle_time(channel, now);
            channel.read = std::min(kMostRead, channel.read + banks_.burst_bytes());
            place.ready[burst] =
                channel.server.reserve(banks_.reserve(place, burst, now), banks_.burst_bytes() * cycles_per_read_byte_);
            place.bank->ready = std::max(place.bank->ready, place.ready[burst]);
        }
    }
    double ready = now;
    for (std::size_t burst = wanted.first; burst <= wanted.last; ++burst) ready = std::max(ready, place.ready[burst]);
    return ready;
}

Dram::Wait Dram::read(std::uint64_t physical, std::uint32_t bytes, double now, std::optional<std::uint32_t> sm) {
    const double arrival = pauses_.working(now);
    Wait wait = serve_read(physical, bytes, arrival, sm);
    const double served = pauses_.real(arrival + wait.delay, now);
    wait.delay = served + refresh_.wait(physical, served) - now;
    return wait;
}

double Dram::streamed(std::uint64_t physical, std::uint32_t bytes, std::optional<std::uint32_t> sm) {
    if (!sm) return reads_.read(physical, bytes);
    while (reads_of_sm_.size() <= *sm)
        reads_of_sm_.emplace_back(scattered_, costs::ScatteredAccesses::kReadsOfSm);
    return reads_of_sm_[*sm].read(physical, bytes);
}

Dram::Wait Dram::serve_read(std::uint64_t physical, std::uint32_t bytes, double now, std::optional<std::uint32_t> sm) {
    if (banks_.described()) {
        // The described latency is that of the whole read, so its lines do not wait for each other.
        const std::uint64_t line_bytes = banks_.fetch_bytes(), first = physical / line_bytes,
                            last = (physical + bytes - 1) / line_bytes;
        const std::uint64_t begin = physical % line_bytes, end = std::min(begin + bytes, line_bytes);
        const Wait wait{.delay =
                            fetch(first, {begin / banks_.burst_bytes(), (end - 1) / banks_.burst_bytes()}, now) - now};
        for (std::uint64_t line = first + 1; line <= last; ++line) (void)fetch(line, {0, 0}, now);
        return wait;
    }
    Channel& channel = channels_[channel_of(physical)];
    use_idle_time(channel, now);
    const double stream = streamed(physical, bytes, sm), service = stream * cycles_per_read_byte_;
    channel.read = std::min(kMostRead, channel.read + bytes);
    const double loaded = contention_.wait(physical, now);
    contention_.add_read(now, stream);
    return {std::max(loaded, channel.server.reserve(now, service) - now), service, &channel.server};
}

double Dram::write(std::uint64_t physical, std::uint32_t bytes, double now) {
    const double arrival = now;
    now = pauses_.working(now);
    Channel& channel = channels_[channel_of(physical)];
    use_idle_time(channel, now);
    // Writes beside as many reads: where there are none, nothing waits for writes.
    const double streamed = writes_.write(physical, bytes);
    contention_.add_write(now, streamed * (cycles_per_written_byte_ + 2 * turnaround_ / kWriteBatch) /
                                   static_cast<double>(channels_.size()));
    channel.queued += streamed;
    while (channel.queued >= kWriteBatch) {
        channel.queued -= kWriteBatch;
        const double turning = std::min(channel.read, kWriteBatch);
        channel.read -= turning;
        const double start = channel.server.reserve(
            now, kWriteBatch * cycles_per_written_byte_ + 2 * turnaround_ * turning / kWriteBatch);
        channel.batch_start = pauses_.real(start, arrival);
    }
    return std::max(0.0, channel.batch_start - arrival);
}

double Dram::busy_until() const {
    double until = 0;
    for (const auto& channel : channels_) until = std::max(until, channel.server.busy_until());
    return pauses_.real(until, 0);
}

void Dram::begin_launch() {
    for (auto& channel : channels_) channel.queued = 0, channel.read = 0;
    contention_.begin_launch();
}

}  // namespace gputomo::sim
