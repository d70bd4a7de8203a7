#include "measure/chase/interference_chase.hpp"

#include "measure/chase/interference_kernel.hpp"
#include "measure/kernel/device_facts.hpp"

#include <algorithm>

namespace gputomo::measure {
namespace {

/// Grid sizes in blocks for each SM. The launch is repeated with the next size until both SMs have got a block.
constexpr std::uint32_t kGridBlocksPerSm[] = {2, 8, 16};

std::shared_ptr<device::Module> load_module(device::Device& device, LoadHint hint) {
    ptx::ModuleBuilder module(target_of(device));
    module.add(interference_kernel(target_of(device), hint));
    if (hint == LoadHint::constant) module.add(constant_base_kernel(target_of(device)));
    return device.load(module.text());
}

}  // namespace

InterferenceChase::InterferenceChase(device::Device& device, LoadHint hint, device::Address base,
                                     device::Texture texture)
    : device_(device),
      hint_(hint),
      base_(base),
      texture_(texture),
      module_(load_module(device, hint)),
      kernel_(module_, interference_kernel(target_of(device), hint).name(), {}),
      writer_(device),
      results_(device, Bytes{sizeof(InterferenceResults) + 16}),
      sms_(sms_of(device)) {
    if (hint == LoadHint::constant) constants_.emplace(device, module_);
    kernel_.prefer_l1();
}

std::uint64_t InterferenceChase::link_to(device::Address address) const {
    if (constants_) return constants_->link_to(address);
    return hint_ == LoadHint::texture ? (address - base_) / 4 : address;
}

void InterferenceChase::set_arrays(std::span<const device::Address> own, std::span<const device::Address> rivals) {
    for (const auto order : {own, rivals}) {
        if (constants_)
            constants_->write_cycle(order);
        else if (hint_ == LoadHint::texture)
            writer_.write_texels(order, base_);
        else
            writer_.write_cycle(order);
    }
    own_start_ = link_to(own.front());
    rival_start_ = link_to(rivals.front());
    own_iterations_ = static_cast<std::uint32_t>((own.size() + kInterferenceUnroll - 1) / kInterferenceUnroll);
    rival_iterations_ = static_cast<std::uint32_t>((rivals.size() + kInterferenceUnroll - 1) / kInterferenceUnroll);
}

std::optional<InterferenceChase::Cycles> InterferenceChase::cycles(const Setup& setup) {
    device::Arguments arguments;
    arguments.add(own_start_)
        .add(rival_start_)
        .add(setup.own ? own_iterations_ : 0)
        .add(rival_iterations_)
        .add(setup.passes)
        .add(setup.sm)
        .add(setup.rival);
    arguments.add(results_.address());
    if (hint_ == LoadHint::texture) arguments.add(texture_);
    const auto a_load = [](std::uint32_t begin, std::uint32_t end, std::uint32_t iterations) {
        return static_cast<double>(end - begin) / (kInterferenceUnroll * static_cast<double>(iterations));
    };
    for (const std::uint32_t blocks : kGridBlocksPerSm) {
        device_.fill_u32(results_.address(), 0, sizeof(InterferenceResults) / 4);
        kernel_.launch({blocks * sms_}, {1}, arguments);
        const auto r = results_.read<InterferenceResults>(1).front();
        if (r.done != 0)
            return Cycles{a_load(r.begin, r.end, own_iterations_),
                          a_load(r.rival_begin, r.rival_end, rival_iterations_)};
    }
    return std::nullopt;
}

}  // namespace gputomo::measure
