#include "sim/memory/banks.hpp"

#include "sim/memory/description.hpp"
#include "units/scattered.hpp"

#include <bit>

namespace gputomo::sim {
namespace {

/// Slots of a bank's calendar: queues of up to 8192 cycles. Longer queues come out too short.
constexpr std::uint32_t kBankSlots = 512;
/// The hash is rotated by this many bits for each burst, so that the bursts of a line lie in unrelated banks.
constexpr unsigned kBurstShift = 12;
/// Limits that catch typing errors.
constexpr std::int64_t kMaxBanks = 256, kMaxFetch = 4096;

std::uint32_t power_of_two(const machine::Integer& field, const char* path) {
    const auto bytes = need_count(field, path, kMaxFetch);
    if (!std::has_single_bit(bytes)) reject(path, fmt::format("found {}", bytes), "a power of two");
    return static_cast<std::uint32_t>(bytes);
}

}  // namespace

Banks::Banks(const machine::Machine& machine, std::size_t channels) : channels_(channels) {
    const auto& memory = machine.memory;
    if (!memory.channel_banks) return;
    per_channel_ = need_count(memory.channel_banks, "memory.channel_banks", kMaxBanks);
    cycles_ = need_rate(memory.bank_cycles, "memory.bank_cycles");
    fetch_ = power_of_two(memory.fetch_bytes, "memory.fetch_bytes");
    burst_ = power_of_two(memory.burst_bytes, "memory.burst_bytes");
    if (burst_ > fetch_)
        reject("memory.burst_bytes", fmt::format("found {}", burst_),
               fmt::format("at most memory.fetch_bytes, {}", fetch_));
    if (fetch_ / burst_ > channels)
        reject(
            "memory.burst_bytes", fmt::format("found {}", burst_),
            fmt::format("at least {}, so that each of {} channels has one burst at most", fetch_ / channels, channels));
    banks_.assign(channels * per_channel_, {Server(kBankSlots, true)});
    ready_.assign(banks_.size() * (fetch_ / burst_), 0.0);
}

Banks::Place Banks::place(std::uint64_t line) {
    const std::uint64_t hash = scattered(line);
    const std::size_t channel = channel_of(hash);
    const std::size_t bank = number(channel, std::rotr(hash, kBurstShift));
    return {hash, channel, &banks_[bank], &ready_[bank * (fetch_ / burst_)]};
}

std::size_t Banks::channel(std::uint64_t line) const { return channel_of(scattered(line)); }

double Banks::reserve(const Place& place, std::size_t burst, double now) {
    return banks_[number((place.channel + burst) % channels_,
                         std::rotr(place.hash, static_cast<int>(kBurstShift * (burst + 1))))]
        .server.reserve(now, cycles_);
}

}  // namespace gputomo::sim
