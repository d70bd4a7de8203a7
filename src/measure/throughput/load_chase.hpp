// Pointer chases through constants, textures or global memory by all warps of one block: how often an SM takes a load.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/doubled_timing.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace gputomo::measure {

/// A path of loads that caches of the SM serve.
enum class LoadPath : std::uint8_t { global, constant, texture };

/// Each word of a small array holds its own place, so that every thread loads one word again and again, each load
/// waiting for the one before.
class LoadChase {
public:
    struct Shape {
        LoadPath path = LoadPath::constant;
        int chains = 1;  ///< independent chains of a thread, all over the same word
    };
    /// Words of the array: 32 lines of 128 bytes, one for each thread of a warp.
    static constexpr int kWords = 1024;

    LoadChase(device::Device& device, Shape shape);

    /// Cycles from one load of a chain to the next, where `words[i]` is the word that thread i of each warp loads.
    [[nodiscard]] double cycles(int warps, std::span<const std::uint32_t> words);
    [[nodiscard]] Shape shape() const { return shape_; }
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    static std::shared_ptr<device::Module> load(device::Device& device, Shape shape);
    void write_words();

    device::Device& device_;
    Shape shape_;
    std::shared_ptr<device::Module> module_;
    CompiledKernel kernel_;
    Stamps stamps_;
    device::Buffer words_, starts_, results_;
    device::Texture texture_ = 0;
};

/// Arguments: words, starts and stamps (u64), iterations (u32), results and texture (u64).
[[nodiscard]] ptx::KernelBuilder load_chase_kernel(ptx::Target target, LoadChase::Shape shape);

}  // namespace gputomo::measure
