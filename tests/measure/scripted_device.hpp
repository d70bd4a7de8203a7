// A device whose memory is the host's and whose kernels are C++ functions, to test how instruments drive a device and
// what they conclude from its answers.
#pragma once

#include "device/device.hpp"
#include "units/error.hpp"

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::measure::testing {

/// Reads the arguments of a launch in the order in which they were added.
class ArgumentReader {
public:
    explicit ArgumentReader(const device::Arguments& arguments) : arguments_(arguments) {}
    template <class T>
    T next() {
        T value;
        std::memcpy(&value, arguments_.bytes().data() + arguments_.offsets()[index_++], sizeof(T));
        return value;
    }

private:
    const device::Arguments& arguments_;
    std::size_t index_ = 0;
};

class ScriptedDevice : public device::Device {
public:
    using Body = std::function<void(ScriptedDevice&, const device::Launch&)>;
    /// Sets what runs for kernels whose name begins with `prefix`.
    void script(std::string prefix, Body body) { bodies_[std::move(prefix)] = std::move(body); }
    /// Sets the cubin that load() has for a kernel.
    void compile(std::string kernel, std::vector<std::byte> cubin) { cubins_[std::move(kernel)] = {std::move(cubin)}; }
    std::map<device::Attribute, std::int64_t> attributes{{device::Attribute::multiprocessor_count, 4}};
    int launches = 0;

    template <class T>
    T load(device::Address address) const {
        T value;
        std::memcpy(&value, &memory_.at(address), sizeof(T));
        return value;
    }
    template <class T>
    void store(device::Address address, T value) {
        std::memcpy(&memory_.at(address), &value, sizeof(T));
    }

    std::string name() const override { return "Scripted"; }
    std::string id() const override { return "scripted:0"; }
    PtxTarget ptx_target() const override { return {6, 0, 30}; }
    std::optional<std::int64_t> attribute(device::Attribute attribute) const override {
        const auto found = attributes.find(attribute);
        return found == attributes.end() ? std::nullopt : std::optional(found->second);
    }
    device::Address allocate(Bytes size) override {
        const auto at = (memory_.size() + 255) / 256 * 256 + 256;
        memory_.resize(at + static_cast<std::size_t>(size.count()) + 256);
        return at;
    }
    void free(device::Address) noexcept override {}
    device::Address allocate_at(device::Address address, Bytes, device::MemorySpace) override { return address; }
    std::vector<Nanoseconds> run(std::span<const device::QueuedLaunch>, std::chrono::milliseconds) override {
        return {};
    }
    void copy_to_device(device::Address to, std::span<const std::byte> from) override {
        std::memcpy(&memory_.at(to), from.data(), from.size());
    }
    void copy_to_host(std::span<std::byte> to, device::Address from) override {
        std::memcpy(to.data(), &memory_.at(from), to.size());
    }
    void fill_u32(device::Address to, std::uint32_t value, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i) store(to + 4 * i, value);
    }
    Bytes mapping_granularity() const override { return Bytes{0}; }
    device::Address map_aliased(Bytes, Bytes, Bytes) override { throw DeviceError("map_aliased is not supported"); }
    device::Texture linear_texture(device::Address, Bytes, device::TexelFormat) override { return 0; }
    std::unique_ptr<device::Module> load(std::string_view ptx) override {
        for (const auto& [kernel, code] : cubins_)
            if (ptx.find(".entry " + kernel + "(") != std::string_view::npos)
                return std::make_unique<ScriptedModule>(*this, code);
        return std::make_unique<ScriptedModule>(*this, std::nullopt);
    }
    device::ClockState clock_state() const override { return state; }
    device::ClockState state;

private:
    class ScriptedKernel : public device::Kernel {
    public:
        ScriptedKernel(ScriptedDevice& device, std::string name) : device_(device), name_(std::move(name)) {}
        const std::string& name() const override { return name_; }
        device::KernelProperties properties() const override { return {.max_threads_per_block = 1024}; }
        device::LaunchResult launch(const device::Launch& launch) override {
            ++device_.launches;
            for (const auto& [prefix, body] : device_.bodies_)
                if (name_.starts_with(prefix)) body(device_, launch);
            return {};
        }

    private:
        ScriptedDevice& device_;
        std::string name_;
    };
    class ScriptedModule : public device::Module {
    public:
        ScriptedModule(ScriptedDevice& device, std::optional<device::MachineCode> code)
            : device_(device), code_(std::move(code)) {}
        device::Kernel& kernel(std::string_view name) override {
            return kernels_.try_emplace(std::string(name), device_, std::string(name)).first->second;
        }
        const std::optional<device::MachineCode>& machine_code() const override { return code_; }
        Symbol symbol(std::string_view) override { return {}; }

    private:
        ScriptedDevice& device_;
        std::map<std::string, ScriptedKernel> kernels_;
        std::optional<device::MachineCode> code_;
    };
    std::map<std::string, Body> bodies_;
    std::map<std::string, device::MachineCode> cubins_;
    std::vector<std::byte> memory_;
};

}  // namespace gputomo::measure::testing
