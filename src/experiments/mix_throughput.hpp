// Throughput of mixes of one other instruction and arithmetic against occupancy: the workload of Volkov 2016, 4.1 and 5.1.
#pragma once

#include "experiments/compiled_kernel.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::experiments {

/// What is mixed with floating-point adds.
enum class MixAccess : std::uint8_t {
    global,  ///< streaming loads, coalesced, each of a line that no other reads
    shared,  ///< loads without conflicts
    sfu,     ///< reciprocal square roots
};

struct MixShape {
    MixAccess access = MixAccess::global;
    /// Arithmetic instructions behind each other one. Of global loads the first computes the address, so at least 1 there: a pointer's
    /// upper half is the same for all, and joining the halves is an instruction where the compiler can't leave it out.
    int alpha = 1;
    int chains = 1;  ///< independent chains of a warp (instruction-level parallelism)
    /// Adds alone; alpha is then not used.
    bool arithmetic_only = false;

    [[nodiscard]] bool reads_lines() const { return access == MixAccess::global && !arithmetic_only; }
    [[nodiscard]] int groups() const;  ///< repeating groups of one chain in a turn
    /// Of the mix in one turn of the kernel's loop, all chains together; about 500 (5.1).
    [[nodiscard]] int instructions() const;
    [[nodiscard]] std::string name() const;
};

[[nodiscard]] ptx::KernelBuilder mix_kernel(ptx::Target target, const MixShape& shape);

/// Words that hold the lower half of the address of the word a line of 128 bytes further on, for all mixes of a device.
class LinkedArray {
public:
    /// For `warps` warps on each SM at once that each read `lines`.
    LinkedArray(device::Device& device, std::int64_t warps, std::int64_t lines);
    [[nodiscard]] device::Address address() const { return buffer_.address(); }
    /// First of `lines` lines that were not read for as long as the array allows. Throws std::logic_error for more than it has.
    [[nodiscard]] std::int64_t take(std::int64_t lines);

private:
    std::int64_t lines_ = 0;
    std::int64_t next_ = 0;
    std::vector<device::Buffer> set_aside_;  ///< whose addresses don't survive an add
    device::Buffer buffer_;
};

class MixThroughput {
public:
    MixThroughput(device::Device& device, const MixShape& shape, LinkedArray& array);

    /// Instructions of the mix per cycle and SM with `warps` warps on every SM, from mean warp latency by Little's law (3.4), n against
    /// 2n turns. nullopt where not every SM had that many at once. Throws DeviceError where a pointer came out other than it must.
    [[nodiscard]] std::optional<double> instructions_per_cycle(int warps);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    /// Turns n of the loop; the kernel runs 2n as well.
    [[nodiscard]] std::uint32_t turns() const { return turns_; }

    /// Lines that one warp of any shape reads in the longer run, at most.
    static constexpr std::int64_t kMostLines = 1024;

private:
    struct Blocks {
        int per_sm = 1;
        int warps = 1;  ///< of a block
    };
    [[nodiscard]] Blocks blocks_for(int warps) const;
    [[nodiscard]] std::optional<double> mean_latency(const Blocks& blocks, std::uint32_t turns);
    void check(std::size_t warp, std::uint32_t pointers, std::int64_t first_line, std::int64_t lines) const;

    device::Device& device_;
    MixShape shape_;
    LinkedArray& array_;
    CompiledKernel kernel_;
    std::uint32_t turns_ = 1;
};

/// Occupancies that are whole numbers of warps for each scheduler (7), some for each doubling; `most` is the last.
[[nodiscard]] std::vector<int> mix_occupancies(int schedulers, int most);
/// 1 to 512 in steps of the square root of 2 (7.9), or of 4 in a hurry.
[[nodiscard]] std::vector<int> mix_alphas(bool quick);

}  // namespace gputomo::experiments
