// Warps whose threads each follow a pointer chain of their own through an array, or load whole lines that lie apart.
#pragma once

#include "experiments/experiment.hpp"
#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <optional>

namespace gputomo::experiments {

class RandomChains {
public:
    enum class Order {
        random,     ///< a chain for each thread: 32 transactions a load
        coalesced,  ///< one chain for each warp, whose loads are two whole lines
    };
    /// Writes the chains into an array of `bytes`, a power of 2.
    RandomChains(device::Device& device, std::int64_t bytes, Order order = Order::random);

    struct Rate {
        double latency = 0;  ///< cycles from load to dependent load of a warp
        double loads = 0;    ///< loads of warps per cycle, of all SMs together
    };
    /// One block of `warps` warps on each of `blocks` SMs, the mean of `runs` runs. Returns nullopt if two blocks came
    /// to one SM or the block is too large.
    std::optional<Rate> run(std::int64_t blocks, int warps, std::uint32_t runs = 1);
    [[nodiscard]] std::int64_t sms() const { return sms_; }
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    /// Adds the records of one of `runs` launches; false if an SM ran more than `warps`.
    bool add_run(Rate& rate, std::int64_t all, int warps, std::uint32_t runs);

    CompiledKernel kernel_;
    std::int64_t sms_;
    std::int64_t bytes_;
    Order order_;
    device::Buffer array_, records_;
};

}  // namespace gputomo::experiments
