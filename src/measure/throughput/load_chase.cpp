#include "measure/throughput/load_chase.hpp"

#include "units/warp.hpp"

#include <fmt/format.h>

#include <numeric>
#include <string>
#include <vector>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// The most threads that a block may have on any GPU so far.
constexpr int kMostChaseThreads = 1024;
/// Loads of a chain in the loop's body. The body must fit an instruction cache.
constexpr int kLoadsOfChain = 16;
/// Iterations by which the longer run exceeds the shorter one: 512 loads of a chain. Reading the clock to the cycle
/// then adds less than a hundredth to each.
constexpr std::uint32_t kLoadIterations = 32;
constexpr int kChaseWordBytes = 4;

ptx::ModuleArray constants() {
    return {.name = "load_chase_words",
            .space = ptx::Space::constant,
            .type = Type::u32,
            .size = Bytes{LoadChase::kWords * kChaseWordBytes}};
}

std::string_view name_of(LoadPath path) {
    switch (path) {
        case LoadPath::global: return "global";
        case LoadPath::constant: return "constant";
        case LoadPath::texture: return "texture";
    }
    return {};
}

LoopedCode expected(LoadChase::Shape shape) {
    const std::string_view opcodes = shape.path == LoadPath::global     ? "LDG|LD"
                                     : shape.path == LoadPath::constant ? "LDC"
                                                                        : "TEX|TLD|TLD4";
    return {.operation = {opcodes}, .count = kLoadsOfChain * shape.chains};
}

/// place = the word at place.
class Follower {
public:
    Follower(ptx::KernelBuilder& k, LoadPath path, Reg base, Reg texture)
        : k_(k), path_(path), base_(base), texture_(texture), address_(k.reg(Type::u64)), rest_(k.regs(Type::s32, 3)) {}

    void load(Reg place) {
        if (path_ == LoadPath::texture) {
            k_("tex.1d.v4.u32.s32", ptx::Vec{place, rest_[0], rest_[1], rest_[2]}, Mem{texture_}, ptx::Vec{place});
            return;
        }
        k_("mad.wide.u32", address_, place, kChaseWordBytes, base_);
        k_(path_ == LoadPath::constant ? "ld.const.u32" : "ld.global.ca.u32", place, Mem{address_});
    }

private:
    ptx::KernelBuilder& k_;
    LoadPath path_;
    Reg base_, texture_, address_;
    std::vector<Reg> rest_;  ///< further components that a texture fetch returns
};

}  // namespace

ptx::KernelBuilder load_chase_kernel(ptx::Target target, LoadChase::Shape shape) {
    ptx::KernelBuilder k(fmt::format("load_chase_{}_x{}", name_of(shape.path), shape.chains), target);
    const Reg words = k.param(Type::u64, "words"), starts = k.param(Type::u64, "starts"),
              stamps = k.param(Type::u64, "stamps"), iterations = k.param(Type::u32, "iterations"),
              results = k.param(Type::u64, "results"), texture = k.param(Type::u64, "texture");
    const Reg base = shape.path == LoadPath::constant ? k.array(constants()) : words;
    const Reg start = k.element(starts, k.thread_index(), Bytes{kChaseWordBytes});
    // Volatile, so that the compiler does not merge the chains.
    const std::vector<Reg> places = k.regs(Type::s32, shape.chains);
    for (const Reg place : places) k("ld.volatile.global.s32", place, Mem{start});
    Follower follower(k, shape.path, base, texture);
    const auto append = [&](int count) {
        k.repeat(count, [&](int) {
            for (const Reg place : places) follower.load(place);
        });
    };
    append_timed_loop(k, {.stamps = stamps, .waited = places.back(), .length = kLoadsOfChain, .append = append},
                      iterations);
    for (const Reg place : places) k("st.volatile.global.u32", Mem{results}, place);
    return k;
}

std::shared_ptr<device::Module> LoadChase::load(device::Device& device, Shape shape) {
    return device.load(load_chase_kernel(target_of(device), shape).text());
}

LoadChase::LoadChase(device::Device& device, Shape shape)
    : device_(device),
      shape_(shape),
      module_(load(device, shape)),
      kernel_(module_, load_chase_kernel(target_of(device), shape).name(), {expected(shape)}),
      stamps_(device, kMostChaseThreads),
      words_(device, Bytes{kWords * kChaseWordBytes}),
      starts_(device, Bytes{kMostChaseThreads * kChaseWordBytes}),
      results_(device, Bytes{kChaseWordBytes}) {
    write_words();
    if (shape.path == LoadPath::texture)
        texture_ = device.linear_texture(words_.address(), Bytes{kWords * kChaseWordBytes}, device::TexelFormat::u32);
}

void LoadChase::write_words() {
    std::vector<std::uint32_t> own(kWords);
    std::iota(own.begin(), own.end(), 0U);
    words_.write(own);
    if (shape_.path == LoadPath::constant)
        device_.copy_to_device(module_->symbol(constants().name).address, std::as_bytes(std::span(own)));
}

double LoadChase::cycles(int warps, std::span<const std::uint32_t> words) {
    std::vector<std::uint32_t> starts;
    for (int i = 0; i < warps * kWarpSize; ++i) starts.push_back(words[static_cast<std::size_t>(i) % words.size()]);
    starts_.write(starts);
    device::Arguments arguments;
    arguments.add(words_.address()).add(starts_.address()).add(stamps_.address()).add(kLoadIterations);
    arguments.add(results_.address()).add(texture_);
    kernel_.launch({1}, {static_cast<std::uint32_t>(starts.size())}, arguments);
    return stamps_.cycles_of_n(warps * kWarpSize) / (kLoadIterations * kLoadsOfChain);
}

}  // namespace gputomo::measure
