// DRAM banks. Each opens one row at a time, so accesses to different rows of one bank wait for each other.
#pragma once

#include "machine/machine.hpp"
#include "sim/memory/server.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// DRAM reads lines of memory.fetch_bytes as bursts, one from each of several neighbouring channels. Each line keeps a
/// bank busy for memory.bank_cycles. A hash of the address chooses channels and banks. Loads of many warps therefore
/// meet at random banks, and wait longer the busier the banks are. This models the queue that Volkov 2016
/// observes in 6.4 and 6.6.
class Banks {
public:
    /// Without memory.channel_banks there are no banks, and described() is false. Throws InputError.
    Banks(const machine::Machine& machine, std::size_t channels);

    struct Bank {
        Server server;
        std::uint64_t line = ~std::uint64_t{0};  ///< the last line whose first burst it read
        double ready = 0;                        ///< when that whole line has left DRAM
    };
    struct Place {
        std::uint64_t hash;
        std::size_t channel;  ///< of the first burst; the next ones are in the next channels
        Bank* bank;           ///< of the first burst
        double* ready;        ///< when each burst of the line that the bank read last has left DRAM
    };

    [[nodiscard]] bool described() const { return !banks_.empty(); }
    [[nodiscard]] std::uint32_t fetch_bytes() const { return fetch_; }
    [[nodiscard]] std::uint32_t burst_bytes() const { return burst_; }
    [[nodiscard]] Place place(std::uint64_t line);
    /// The channel of the line's first burst.
    [[nodiscard]] std::size_t channel(std::uint64_t line) const;
    /// Whether the line is in flight or its row still open, so that it need not be fetched again.
    [[nodiscard]] bool open(const Place& place, std::uint64_t line, double now) const {
        return place.bank->line == line && now < place.bank->ready + cycles_;
    }
    /// Books the bank of burst `burst`; returns when the burst can leave it.
    double reserve(const Place& place, std::size_t burst, double now);

private:
    [[nodiscard]] std::size_t channel_of(std::uint64_t hash) const {
        return static_cast<std::size_t>((hash & 0xffff) % channels_);
    }
    [[nodiscard]] std::size_t number(std::size_t channel, std::uint64_t hash) const {
        return channel * per_channel_ + static_cast<std::size_t>(hash % per_channel_);
    }

    std::vector<Bank> banks_;    ///< a channel's banks side by side
    std::vector<double> ready_;  ///< by bank and burst
    std::size_t channels_ = 1;
    std::size_t per_channel_ = 0;
    double cycles_ = 0;
    std::uint32_t fetch_ = 0;
    std::uint32_t burst_ = 0;
};

}  // namespace gputomo::sim
