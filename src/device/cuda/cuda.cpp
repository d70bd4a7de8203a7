#include "device/cuda/cuda.hpp"

#include "device/cuda/aliased_memory.hpp"
#include "device/cuda/compile_ahead.hpp"
#include "device/cuda/compiler.hpp"
#include "device/cuda/fixed_memory.hpp"
#include "device/cuda/identity.hpp"
#include "device/cuda/module.hpp"
#include "device/cuda/session.hpp"
#include "sass/cubin.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::device::cuda {
namespace {

/// Time limit of a copy. A longer one means that the device no longer answers: even 140 GB over a slow PCIe link take
/// less.
constexpr auto kCopyLimit = std::chrono::milliseconds(60'000);

struct AttributeRow {
    Attribute attribute;
    int number;  // CUdevice_attribute
};
constexpr std::array kAttributes{
    AttributeRow{Attribute::compute_capability_major, 75},
    AttributeRow{Attribute::compute_capability_minor, 76},
    AttributeRow{Attribute::multiprocessor_count, 16},
    AttributeRow{Attribute::warp_size, 10},
    AttributeRow{Attribute::max_threads_per_block, 1},
    AttributeRow{Attribute::max_threads_per_multiprocessor, 39},
    AttributeRow{Attribute::max_blocks_per_multiprocessor, 106},
    AttributeRow{Attribute::max_registers_per_block, 12},
    AttributeRow{Attribute::max_registers_per_multiprocessor, 82},
    AttributeRow{Attribute::max_shared_memory_per_block, 8},
    AttributeRow{Attribute::max_shared_memory_per_block_optin, 97},
    AttributeRow{Attribute::max_shared_memory_per_multiprocessor, abi::kAttributeMultiprocessorSharedMemory},
    AttributeRow{Attribute::clock_rate_khz, 13},
    AttributeRow{Attribute::memory_clock_rate_khz, 36},
    AttributeRow{Attribute::memory_bus_width_bits, 37},
    AttributeRow{Attribute::l2_cache_bytes, 38},
    AttributeRow{Attribute::max_grid_x, 5},
    AttributeRow{Attribute::max_grid_y, 6},
    AttributeRow{Attribute::max_grid_z, 7},
    AttributeRow{Attribute::max_block_x, 2},
    AttributeRow{Attribute::max_block_y, 3},
    AttributeRow{Attribute::max_block_z, 4},
    AttributeRow{Attribute::concurrent_kernels, 31},
    AttributeRow{Attribute::virtual_memory_management, abi::kAttributeVirtualMemoryManagement},
};

constexpr int texel_format(TexelFormat format) {
    switch (format) {
        case TexelFormat::u32: return abi::kFormatU32;
        case TexelFormat::s32: return abi::kFormatS32;
        case TexelFormat::f32: return abi::kFormatF32;
    }
    return abi::kFormatU32;
}

class CudaDevice final : public Device {
public:
    CudaDevice(std::shared_ptr<const Driver> driver, std::shared_ptr<const Nvml> nvml, int index);
    ~CudaDevice() override;

    [[nodiscard]] std::string name() const override { return session_->driver().device_name(session_->index()); }
    [[nodiscard]] std::string id() const override { return session_->id(); }
    [[nodiscard]] std::string uuid() const override { return uuid_of(session_->driver(), session_->index()); }
    [[nodiscard]] Identification identification() const override;
    [[nodiscard]] PtxTarget ptx_target() const override { return target_; }
    [[nodiscard]] std::optional<std::int64_t> attribute(Attribute attribute) const override;

    [[nodiscard]] Address allocate(Bytes size) override;
    Address allocate_at(Address address, Bytes size, MemorySpace space) override {
        return fixed_.allocate(address, size, space, static_cast<std::size_t>(aliased_.granularity().count()));
    }
    void free(Address address) noexcept override;
    void copy_to_device(Address to, std::span<const std::byte> from) override;
    void copy_to_host(std::span<std::byte> to, Address from) override;
    void fill_u32(Address to, std::uint32_t value, std::size_t count) override;

    [[nodiscard]] Bytes mapping_granularity() const override { return aliased_.granularity(); }
    [[nodiscard]] Address map_aliased(Bytes physical, Bytes stride, Bytes window) override {
        return aliased_.map(physical, stride, window);
    }
    [[nodiscard]] Texture linear_texture(Address address, Bytes size, TexelFormat format) override;
    [[nodiscard]] std::unique_ptr<Module> load(std::string_view ptx) override;
    [[nodiscard]] bool compiles_ahead() const override { return true; }
    void compile_ahead(std::string_view ptx) override { ahead_.add(std::string(ptx)); }
    std::vector<Nanoseconds> run(std::span<const QueuedLaunch> sequence, std::chrono::milliseconds limit) override {
        return run_sequence(*session_, sequence, limit);
    }
    [[nodiscard]] ClockState clock_state() const override { return nvml_.state(own_pid_); }

private:
    void find_own_pid(const std::vector<unsigned>& before);

    NvmlGpu nvml_;
    std::optional<std::vector<unsigned>> processes_before_;
    std::shared_ptr<Session> session_;
    AliasedMemory aliased_;
    FixedMemory fixed_;
    CompileAhead ahead_;
    PtxTarget target_;
    std::vector<Texture> textures_;
    std::optional<unsigned> own_pid_;
};

CudaDevice::CudaDevice(std::shared_ptr<const Driver> driver, std::shared_ptr<const Nvml> nvml, int index)
    : nvml_(find_in_nvml(*driver, std::move(nvml), index)),
      processes_before_(nvml_.compute_processes()),
      session_(std::make_shared<Session>(std::move(driver), index)),
      aliased_(*session_),
      fixed_(*session_),
      ahead_(session_) {
    const auto major = attribute(Attribute::compute_capability_major);
    const auto minor = attribute(Attribute::compute_capability_minor);
    if (!major || !minor)
        throw DeviceError(
            fmt::format("{}: the driver does not report the compute capability of the GPU; expected one", id()));
    target_ = cuda::ptx_target(session_->driver().version(), static_cast<int>(*major), static_cast<int>(*minor));
    if (processes_before_) find_own_pid(*processes_before_);
}

CudaDevice::~CudaDevice() {
    if (!session_->try_enter()) return;
    for (const Texture texture : textures_) session_->call().texture_destroy(texture);
}

Identification CudaDevice::identification() const {
    return identification_of(session_->driver(), nvml_, session_->index());
}

/// In a container, NVML may list this process under another pid than its own. Then it is the process that appeared when
/// the context was created.
void CudaDevice::find_own_pid(const std::vector<unsigned>& before) {
    const auto after = nvml_.compute_processes();
    if (!after) return;
    const auto self = static_cast<unsigned>(getpid());
    if (std::find(after->begin(), after->end(), self) != after->end()) {
        own_pid_ = self;
        return;
    }
    std::vector<unsigned> appeared;
    for (const unsigned pid : *after)
        if (std::find(before.begin(), before.end(), pid) == before.end()) appeared.push_back(pid);
    if (appeared.size() == 1) own_pid_ = appeared.front();
}

std::optional<std::int64_t> CudaDevice::attribute(Attribute attribute) const {
    const auto& call = session_->call();
    if (attribute == Attribute::total_memory_bytes) {
        std::size_t bytes = 0;
        if (call.device_total_mem(&bytes, session_->device()) != abi::kSuccess) return std::nullopt;
        return static_cast<std::int64_t>(bytes);
    }
    const auto row = std::find_if(kAttributes.begin(), kAttributes.end(),
                                  [&](const AttributeRow& r) { return r.attribute == attribute; });
    int value = 0;
    if (row == kAttributes.end() || call.device_get_attribute(&value, row->number, session_->device()) != abi::kSuccess)
        return std::nullopt;
    return value;
}

Address CudaDevice::allocate(Bytes size) {
    session_->enter("cuMemAlloc_v2");
    Address address = 0;
    session_->check(session_->call().mem_alloc(&address, static_cast<std::size_t>(size.count())), "cuMemAlloc_v2",
                    fmt::format("{} B", size.count()));
    return address;
}

void CudaDevice::free(Address address) noexcept {
    if (address == 0 || !session_->try_enter()) return;
    if (!aliased_.give_back(address) && !fixed_.give_back(address)) session_->call().mem_free(address);
}

void CudaDevice::copy_to_device(Address to, std::span<const std::byte> from) {
    if (from.empty()) return;
    const std::string context = fmt::format("copy of {} B to {:#x}", from.size(), to);
    session_->enter(context);
    if (fixed_.is_of_host(to)) {
        std::memcpy(reinterpret_cast<void*>(to), from.data(), from.size());
        return;
    }
    session_->check(session_->call().memcpy_to_device(to, from.data(), from.size(), session_->stream()),
                    "cuMemcpyHtoDAsync_v2", context);
    session_->wait_for_stream({.call = "cuStreamQuery", .context = context, .limit = kCopyLimit});
}

void CudaDevice::copy_to_host(std::span<std::byte> to, Address from) {
    if (to.empty()) return;
    const std::string context = fmt::format("copy of {} B from {:#x}", to.size(), from);
    session_->enter(context);
    if (fixed_.is_of_host(from)) {
        std::memcpy(to.data(), reinterpret_cast<const void*>(from), to.size());
        return;
    }
    session_->check(session_->call().memcpy_to_host(to.data(), from, to.size(), session_->stream()),
                    "cuMemcpyDtoHAsync_v2", context);
    session_->wait_for_stream({.call = "cuStreamQuery", .context = context, .limit = kCopyLimit});
}

void CudaDevice::fill_u32(Address to, std::uint32_t value, std::size_t count) {
    if (count == 0) return;
    const std::string context = fmt::format("fill of {} words at {:#x}", count, to);
    session_->enter(context);
    session_->check(session_->call().memset_d32(to, value, count, session_->stream()), "cuMemsetD32Async", context);
    session_->wait_for_stream({.call = "cuStreamQuery", .context = context, .limit = kCopyLimit});
}

std::unique_ptr<Module> CudaDevice::load(std::string_view ptx) {
    if (sass::is_cubin(ptx)) {
        const auto bytes = std::as_bytes(std::span(ptx));
        return std::make_unique<CudaModule>(session_, std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    auto cubin = ahead_.take(ptx);
    return std::make_unique<CudaModule>(session_, cubin.empty() ? compile(*session_, ptx) : std::move(cubin));
}

Texture CudaDevice::linear_texture(Address address, Bytes size, TexelFormat format) {
    session_->enter("cuTexObjectCreate");
    abi::ResourceDescription resource{};
    resource.type = abi::kResourceLinear;
    resource.resource.linear = {address, texel_format(format), 1, static_cast<std::size_t>(size.count())};
    abi::TextureDescription description{};
    for (int& mode : description.address_mode) mode = abi::kAddressClamp;
    description.flags = format == TexelFormat::f32 ? 0 : abi::kReadAsInteger;
    Texture texture = 0;
    session_->check(session_->call().texture_create(&texture, &resource, &description, nullptr), "cuTexObjectCreate",
                    fmt::format("{} B at {:#x}", size.count(), address));
    textures_.push_back(texture);
    return texture;
}

}  // namespace

Presence presence(const Libraries& libraries) {
    try {
        const Driver driver(libraries.driver);
        const int count = driver.count();
        return {count, count > 0 ? "" : fmt::format("the CUDA driver {} finds no GPU", libraries.driver)};
    } catch (const DeviceError& error) {
        return {0, error.what()};
    }
}

int count(const Libraries& libraries) { return presence(libraries).count; }

std::string name(int index, const Libraries& libraries) { return Driver(libraries.driver).device_name(index); }

Overview overview(int index, const Libraries& libraries) {
    const Driver driver(libraries.driver);
    const auto gpu = find_in_nvml(driver, std::make_shared<const Nvml>(libraries.nvml), index);
    return {.name = driver.device_name(index),
            .uuid = uuid_of(driver, index),
            .identification = identification_of(driver, gpu, index),
            .condition = gpu.condition()};
}

std::unique_ptr<Device> open(int index, const Libraries& libraries) {
    return open(index, std::make_shared<const Driver>(libraries.driver), std::make_shared<const Nvml>(libraries.nvml));
}

std::unique_ptr<Device> open(int index, std::shared_ptr<const Driver> driver, std::shared_ptr<const Nvml> nvml) {
    return std::make_unique<CudaDevice>(std::move(driver), std::move(nvml), index);
}

}  // namespace gputomo::device::cuda
