#include "compiling_device.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace gputomo::ptxas_check {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string kernel_name(std::string_view ptx) {
    constexpr std::string_view kMark = ".entry ";
    const auto begin = ptx.find(kMark) + kMark.size();
    return std::string(ptx.substr(begin, ptx.find_first_of(" (\n", begin) - begin));
}

device::MachineCode compile(const Compiler& compiler, std::string_view ptx) {
    const fs::path base = compiler.folder / kernel_name(ptx);
    const std::string source = base.string() + ".ptx";
    const std::string cubin = base.string() + ".cubin";
    const std::string log = base.string() + ".log";
    std::ofstream(source, std::ios::binary) << ptx;
    const auto command = fmt::format("'{}' -arch=sm_{} '{}' -o '{}' > '{}' 2>&1", compiler.ptxas, compiler.target.sm,
                                     source, cubin, log);
    if (std::system(command.c_str()) != 0) throw DeviceError(fmt::format("{}\n{}", command, read_file(log)));
    fs::remove(log);
    const std::string bytes = read_file(cubin);
    device::MachineCode code;
    std::ranges::transform(bytes, std::back_inserter(code.cubin), [](char c) { return static_cast<std::byte>(c); });
    return code;
}

class CompilingModule final : public device::Module {
public:
    CompilingModule(std::unique_ptr<device::Module> inner, device::MachineCode code)
        : inner_(std::move(inner)), code_(std::move(code)) {}
    device::Kernel& kernel(std::string_view name) override { return inner_->kernel(name); }
    [[nodiscard]] const std::optional<device::MachineCode>& machine_code() const override { return code_; }
    Symbol symbol(std::string_view name) override { return inner_->symbol(name); }

private:
    std::unique_ptr<device::Module> inner_;
    std::optional<device::MachineCode> code_;
};

class CompilingDevice final : public device::Device {
public:
    CompilingDevice(std::unique_ptr<device::Device> inner, Compiler compiler)
        : inner_(std::move(inner)), compiler_(std::move(compiler)) {}
    [[nodiscard]] std::string name() const override { return inner_->name(); }
    [[nodiscard]] std::string id() const override { return inner_->id(); }
    [[nodiscard]] PtxTarget ptx_target() const override { return compiler_.target; }
    [[nodiscard]] std::optional<std::int64_t> attribute(device::Attribute attribute) const override {
        return inner_->attribute(attribute);
    }
    [[nodiscard]] device::Address allocate(Bytes size) override { return inner_->allocate(size); }
    void free(device::Address address) noexcept override { inner_->free(address); }
    device::Address allocate_at(device::Address address, Bytes size, device::MemorySpace space) override {
        return inner_->allocate_at(address, size, space);
    }
    std::vector<Nanoseconds> run(std::span<const device::QueuedLaunch> sequence,
                                 std::chrono::milliseconds limit) override {
        return inner_->run(sequence, limit);
    }
    void copy_to_device(device::Address to, std::span<const std::byte> from) override {
        inner_->copy_to_device(to, from);
    }
    void copy_to_host(std::span<std::byte> to, device::Address from) override { inner_->copy_to_host(to, from); }
    void fill_u32(device::Address to, std::uint32_t value, std::size_t count) override {
        inner_->fill_u32(to, value, count);
    }
    [[nodiscard]] Bytes mapping_granularity() const override { return inner_->mapping_granularity(); }
    [[nodiscard]] device::Address map_aliased(Bytes physical, Bytes stride, Bytes window) override {
        return inner_->map_aliased(physical, stride, window);
    }
    [[nodiscard]] device::Texture linear_texture(device::Address address, Bytes size,
                                                 device::TexelFormat format) override {
        return inner_->linear_texture(address, size, format);
    }
    [[nodiscard]] std::unique_ptr<device::Module> load(std::string_view ptx) override {
        return std::make_unique<CompilingModule>(inner_->load(ptx), compile(compiler_, ptx));
    }
    [[nodiscard]] device::ClockState clock_state() const override { return inner_->clock_state(); }

private:
    std::unique_ptr<device::Device> inner_;
    Compiler compiler_;
};

}  // namespace

std::unique_ptr<device::Device> compiling_device(std::unique_ptr<device::Device> inner, Compiler compiler) {
    return std::make_unique<CompilingDevice>(std::move(inner), std::move(compiler));
}

}  // namespace gputomo::ptxas_check
