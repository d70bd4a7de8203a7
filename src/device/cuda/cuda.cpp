#include "device/cuda/cuda.hpp"

#include "device/cuda/driver.hpp"
#include "device/cuda/nvml.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <thread>
#include <unordered_map>

namespace gputomo::device::cuda {
namespace {

constexpr int kNotReady = 600;
constexpr std::int64_t kDynamicSharedWithoutOptIn = 48 << 10;

struct AttributeRow {
    Attribute attribute;
    int number;
};
constexpr AttributeRow kAttributes[] = {
    {Attribute::max_threads_per_block, 1}, {Attribute::max_grid_x, 5}, {Attribute::max_shared_memory_per_block, 8}, {Attribute::warp_size, 10}, {Attribute::max_registers_per_block, 12},
    {Attribute::clock_rate_khz, 13}, {Attribute::multiprocessor_count, 16}, {Attribute::concurrent_kernels, 31}, {Attribute::memory_clock_rate_khz, 36}, {Attribute::memory_bus_width_bits, 37},
    {Attribute::l2_cache_bytes, 38}, {Attribute::max_threads_per_multiprocessor, 39}, {Attribute::compute_capability_major, 75}, {Attribute::compute_capability_minor, 76},
    {Attribute::max_shared_memory_per_multiprocessor, 81}, {Attribute::max_registers_per_multiprocessor, 82}, {Attribute::max_shared_memory_per_block_optin, 97},
    {Attribute::virtual_memory_management, 102}, {Attribute::max_blocks_per_multiprocessor, 106},
};

/// Newest PTX version that a driver's compiler takes: CUDA 13.0 brought PTX 9.0, 12.0 brought 8.0, 11.0 brought 7.0 (PTX ISA, release history).
std::pair<int, int> ptx_version(int driver_version) {
    const int major = driver_version / 1000, minor = driver_version % 1000 / 10;
    return major >= 13 ? std::pair(9, std::min(minor, 0)) : major == 12 ? std::pair(8, std::min(minor, 8)) : major == 11 ? std::pair(7, std::min(minor, 8)) : std::pair(6, 0);
}

/// A window of virtual addresses over one physical allocation.
struct Window {
    std::size_t bytes = 0, stride = 0, physical = 0;
    std::size_t images = 0;
    unsigned long long handle = 0;
};

/// What all objects of one GPU share.
struct Gpu {
    std::shared_ptr<Driver> driver;
    int ordinal = 0;
    Handle context = nullptr;
    Handle stream = nullptr, start = nullptr, stop = nullptr;
    std::string lost;  ///< why the device can do nothing any more

    void use() const {
        if (!lost.empty()) throw DeviceError("the device is lost: " + lost);
        driver->check(driver->context_set(context), "cuCtxSetCurrent");
    }
    void check(Result result, const std::string& call, const std::string& about = {}) const { driver->check(result, call, about); }
};

class CudaKernel final : public Kernel {
public:
    CudaKernel(std::shared_ptr<Gpu> gpu, std::string name, Handle function) : gpu_(std::move(gpu)), name_(std::move(name)), function_(function) {}
    [[nodiscard]] const std::string& name() const override { return name_; }
    [[nodiscard]] KernelProperties properties() const override {
        gpu_->use();
        return {attribute(4), Bytes(attribute(1)), Bytes(attribute(3)), attribute(0)};
    }
    LaunchResult launch(const Launch& launch) override;

private:
    [[nodiscard]] int attribute(int number) const {
        int value = 0;
        gpu_->check(gpu_->driver->function_attribute(&value, number, function_), "cuFuncGetAttribute", "kernel " + name_);
        return value;
    }
    void wait(std::chrono::milliseconds limit);

    std::shared_ptr<Gpu> gpu_;
    std::string name_;
    Handle function_;
    std::int64_t opted_in_ = kDynamicSharedWithoutOptIn;
};

LaunchResult CudaKernel::launch(const Launch& launch) {
    gpu_->use();
    const Driver& d = *gpu_->driver;
    const std::string about = fmt::format("kernel {}, grid ({}, {}, {}), block ({}, {}, {}), {} bytes of shared memory", name_, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y, launch.block.z, launch.dynamic_shared.count());
    if (launch.dynamic_shared.count() > opted_in_) {
        constexpr int kMaxDynamicShared = 8;
        d.check(d.set_function_attribute(function_, kMaxDynamicShared, static_cast<int>(launch.dynamic_shared.count())), "cuFuncSetAttribute", about);
        opted_in_ = launch.dynamic_shared.count();
    }
    std::vector<std::byte> bytes(launch.arguments.bytes().begin(), launch.arguments.bytes().end());
    std::vector<void*> pointers;
    for (const auto offset : launch.arguments.offsets()) pointers.push_back(bytes.data() + offset);
    d.check(d.event_record(gpu_->start, gpu_->stream), "cuEventRecord", about);
    d.check(d.launch(function_, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y, launch.block.z, static_cast<unsigned>(launch.dynamic_shared.count()), gpu_->stream, pointers.data(), nullptr), "cuLaunchKernel", about);
    d.check(d.event_record(gpu_->stop, gpu_->stream), "cuEventRecord", about);
    wait(launch.time_limit);
    float milliseconds = 0;
    d.check(d.event_elapsed(&milliseconds, gpu_->start, gpu_->stop), "cuEventElapsedTime", about);
    return {Nanoseconds(static_cast<double>(milliseconds) * 1e6)};
}

void CudaKernel::wait(std::chrono::milliseconds limit) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    for (;;) {
        const Result result = gpu_->driver->event_query(gpu_->stop);
        if (result == 0) return;
        const auto waited = Clock::now() - start;
        if (result != kNotReady) {
            gpu_->lost = fmt::format("kernel {} ended with {}", name_, gpu_->driver->text(result));
            throw DeviceError("cuEventQuery: " + gpu_->lost);
        }
        if (waited > limit) {
            gpu_->lost = fmt::format("kernel {} did not end within {} ms", name_, limit.count());
            throw TimeLimitError(fmt::format("launch of {}: not finished within {} ms", name_, limit.count()));
        }
        if (waited > std::chrono::milliseconds(5)) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

class CudaModule final : public Module {
public:
    CudaModule(std::shared_ptr<Gpu> gpu, std::string_view ptx);
    ~CudaModule() override {
        if (gpu_->lost.empty() && module_ != nullptr) gpu_->driver->module_unload(module_);
    }
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;
    Kernel& kernel(std::string_view name) override;
    [[nodiscard]] const std::optional<MachineCode>& machine_code() const override { return code_; }
    Symbol symbol(std::string_view name) override {
        gpu_->use();
        DevicePointer address = 0;
        std::size_t bytes = 0;
        if (gpu_->driver->module_global(&address, &bytes, module_, std::string(name).c_str()) != 0) throw InputError(fmt::format("module has no variable '{}'", name));
        return {address, Bytes(static_cast<std::int64_t>(bytes))};
    }

private:
    std::shared_ptr<Gpu> gpu_;
    Handle module_ = nullptr;
    std::optional<MachineCode> code_;
    std::unordered_map<std::string, std::unique_ptr<CudaKernel>> kernels_;
};

/// The compiler's log, with the lines of PTX that it names.
std::string quoted(std::string_view log, std::string_view ptx) {
    std::string out(log.substr(0, log.find('\0')));
    const auto at = out.find("line ");
    if (at == std::string::npos) return out;
    const int line = std::atoi(out.c_str() + at + 5);
    std::size_t begin = 0;
    for (int i = 1; i < line && begin != std::string_view::npos; ++i) begin = ptx.find('\n', begin) == std::string_view::npos ? std::string_view::npos : ptx.find('\n', begin) + 1;
    if (line > 0 && begin != std::string_view::npos) out += fmt::format("\n    {}", ptx.substr(begin, ptx.find('\n', begin) - begin));
    return out;
}

CudaModule::CudaModule(std::shared_ptr<Gpu> gpu, std::string_view ptx) : gpu_(std::move(gpu)) {
    gpu_->use();
    const Driver& d = *gpu_->driver;
    std::array<char, 8192> log{};
    constexpr int kErrorLog = 5, kErrorLogBytes = 6, kPtx = 1;
    std::array<int, 2> options{kErrorLog, kErrorLogBytes};
    std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
    Handle link = nullptr;
    d.check(d.link_create(options.size(), options.data(), values.data(), &link), "cuLinkCreate");
    std::string text(ptx);
    Result result = d.link_add(link, kPtx, text.data(), text.size() + 1, "kernel.ptx", 0, nullptr, nullptr);
    void* cubin = nullptr;
    std::size_t bytes = 0;
    if (result == 0) result = d.link_complete(link, &cubin, &bytes);
    if (result == 0) {
        const auto* begin = static_cast<const std::byte*>(cubin);
        code_.emplace(MachineCode{{begin, begin + bytes}});
        result = d.module_load(&module_, cubin);
    }
    d.link_destroy(link);
    if (result != 0) throw DeviceError(fmt::format("compiling PTX: {}\n{}", d.text(result), quoted({log.data(), log.size()}, ptx)));
}

Kernel& CudaModule::kernel(std::string_view name) {
    auto& kernel = kernels_[std::string(name)];
    if (kernel == nullptr) {
        gpu_->use();
        Handle function = nullptr;
        if (gpu_->driver->module_function(&function, module_, std::string(name).c_str()) != 0) {
            kernels_.erase(std::string(name));
            throw InputError(fmt::format("module has no kernel '{}'", name));
        }
        kernel = std::make_unique<CudaKernel>(gpu_, std::string(name), function);
    }
    return *kernel;
}

class CudaDevice final : public Device {
public:
    CudaDevice(std::shared_ptr<Driver> driver, int index);
    ~CudaDevice() override {
        if (gpu_->lost.empty()) {
            for (const auto texture : textures_) gpu_->driver->texture_destroy(texture);
            gpu_->driver->context_release(gpu_->ordinal);
        }
    }
    CudaDevice(const CudaDevice&) = delete;
    CudaDevice& operator=(const CudaDevice&) = delete;

    [[nodiscard]] std::string name() const override { return name_; }
    [[nodiscard]] std::string id() const override { return fmt::format("cuda:{}", index_); }
    [[nodiscard]] PtxTarget ptx_target() const override {
        const auto [major, minor] = ptx_version(driver_version_);
        return {major, minor, static_cast<int>(*attribute(Attribute::compute_capability_major) * 10 + *attribute(Attribute::compute_capability_minor))};
    }
    [[nodiscard]] std::optional<std::int64_t> attribute(Attribute attribute) const override;

    Address allocate(Bytes size) override {
        gpu_->use();
        DevicePointer pointer = 0;
        gpu_->check(gpu_->driver->allocate(&pointer, static_cast<std::size_t>(size.count())), "cuMemAlloc", fmt::format("{} bytes", size.count()));
        return pointer;
    }
    void free(Address address) noexcept override;
    void copy_to_device(Address to, std::span<const std::byte> from) override {
        gpu_->use();
        gpu_->check(gpu_->driver->copy_to_device(to, from.data(), from.size()), "cuMemcpyHtoD", fmt::format("{} bytes", from.size()));
    }
    void copy_to_host(std::span<std::byte> to, Address from) override {
        gpu_->use();
        gpu_->check(gpu_->driver->copy_to_host(to.data(), from, to.size()), "cuMemcpyDtoH", fmt::format("{} bytes", to.size()));
    }
    void fill_u32(Address to, std::uint32_t value, std::size_t count) override {
        gpu_->use();
        gpu_->check(gpu_->driver->fill(to, value, count), "cuMemsetD32", fmt::format("{} words", count));
    }
    [[nodiscard]] Bytes mapping_granularity() const override;
    Address map_aliased(Bytes physical, Bytes stride, Bytes window) override;
    Texture linear_texture(Address address, Bytes size, TexelFormat format) override;
    std::unique_ptr<Module> load(std::string_view ptx) override { return std::make_unique<CudaModule>(gpu_, ptx); }
    [[nodiscard]] ClockState clock_state() const override { return nvml_->state(); }

private:
    [[nodiscard]] AllocationProperties properties() const {
        AllocationProperties p;
        p.location.id = gpu_->ordinal;
        return p;
    }
    void release(Address address, const Window& window) noexcept;

    std::shared_ptr<Gpu> gpu_ = std::make_shared<Gpu>();
    int index_;
    int driver_version_ = 0;
    std::string name_;
    std::unique_ptr<Nvml> nvml_;
    std::map<Address, Window> windows_;
    std::vector<unsigned long long> textures_;
};

CudaDevice::CudaDevice(std::shared_ptr<Driver> driver, int index) : index_(index) {
    gpu_->driver = std::move(driver);
    const Driver& d = *gpu_->driver;
    int gpus = 0;
    d.check(d.device_count(&gpus), "cuDeviceGetCount");
    if (index >= gpus) throw DeviceError(fmt::format("device cuda:{}: this machine has {} CUDA GPU{}", index, gpus, gpus == 1 ? "" : "s"));
    d.check(d.device_get(&gpu_->ordinal, index), "cuDeviceGet");
    d.check(d.driver_version(&driver_version_), "cuDriverGetVersion");
    std::array<char, 128> text{};
    d.check(d.device_name(text.data(), text.size(), gpu_->ordinal), "cuDeviceGetName");
    name_ = text.data();
    d.check(d.device_bus_id(text.data(), text.size(), gpu_->ordinal), "cuDeviceGetPCIBusId");
    nvml_ = std::make_unique<Nvml>(text.data());
    d.check(d.context_retain(&gpu_->context, gpu_->ordinal), "cuDevicePrimaryCtxRetain");
    gpu_->use();
    constexpr unsigned kNonBlocking = 1;
    d.check(d.stream_create(&gpu_->stream, kNonBlocking), "cuStreamCreate");
    d.check(d.event_create(&gpu_->start, 0), "cuEventCreate");
    d.check(d.event_create(&gpu_->stop, 0), "cuEventCreate");
}

std::optional<std::int64_t> CudaDevice::attribute(Attribute attribute) const {
    if (attribute == Attribute::total_memory_bytes) {
        std::size_t bytes = 0;
        gpu_->check(gpu_->driver->device_memory(&bytes, gpu_->ordinal), "cuDeviceTotalMem");
        return static_cast<std::int64_t>(bytes);
    }
    for (const auto& row : kAttributes) {
        int value = 0;
        if (row.attribute == attribute && gpu_->driver->device_attribute(&value, row.number, gpu_->ordinal) == 0) return value;
    }
    return std::nullopt;
}

void CudaDevice::free(Address address) noexcept {
    if (!gpu_->lost.empty() || address == 0) return;
    gpu_->driver->context_set(gpu_->context);
    if (const auto window = windows_.find(address); window != windows_.end()) {
        release(address, window->second);
        windows_.erase(window);
        return;
    }
    gpu_->driver->release(address);
}

void CudaDevice::release(Address address, const Window& window) noexcept {
    const Driver& d = *gpu_->driver;
    for (std::size_t i = 0; i < window.images; ++i) d.unmap(address + i * window.stride, window.physical);
    if (window.handle != 0) d.destroy(window.handle);
    d.unreserve(address, window.bytes);
}

Bytes CudaDevice::mapping_granularity() const {
    std::size_t bytes = 0;
    const auto p = properties();
    if (attribute(Attribute::virtual_memory_management).value_or(0) == 0 || gpu_->driver->granularity(&bytes, &p, 0) != 0) return Bytes(0);
    return Bytes(static_cast<std::int64_t>(bytes));
}

Address CudaDevice::map_aliased(Bytes physical, Bytes stride, Bytes bytes) {
    gpu_->use();
    const Driver& d = *gpu_->driver;
    Window window{static_cast<std::size_t>(bytes.count()), static_cast<std::size_t>(stride.count()), static_cast<std::size_t>(physical.count()), 0, 0};
    if (window.physical == 0 || window.stride < window.physical || window.bytes < window.stride) throw DeviceError("map_aliased: expected physical <= stride <= window");
    const std::string about = fmt::format("{} bytes every {} in a window of {}", window.physical, window.stride, window.bytes);
    DevicePointer base = 0;
    d.check(d.reserve(&base, window.bytes, 0, 0, 0), "cuMemAddressReserve", about);
    try {
        const auto p = properties();
        d.check(d.create(&window.handle, window.physical, &p, 0), "cuMemCreate", about);
        AccessDescription access;
        access.location.id = gpu_->ordinal;
        for (std::size_t at = 0; at + window.physical <= window.bytes; at += window.stride) {
            d.check(d.map(base + at, window.physical, 0, window.handle, 0), "cuMemMap", about);
            ++window.images;
            d.check(d.set_access(base + at, window.physical, &access, 1), "cuMemSetAccess", about);
        }
    } catch (...) {
        release(base, window);
        throw;
    }
    windows_[base] = window;
    return base;
}

Texture CudaDevice::linear_texture(Address address, Bytes size, TexelFormat format) {
    gpu_->use();
    LinearResource resource;
    resource.pointer = address;
    constexpr int kFormats[] = {0x03, 0x0a, 0x20};
    resource.format = kFormats[static_cast<int>(format)];
    resource.bytes = static_cast<std::size_t>(size.count());
    const TextureDescription description;
    unsigned long long texture = 0;
    gpu_->check(gpu_->driver->texture_create(&texture, &resource, &description, nullptr), "cuTexObjectCreate", fmt::format("{} bytes", size.count()));
    textures_.push_back(texture);
    return texture;
}

}  // namespace

int count() noexcept {
    try {
        const Driver driver;
        int gpus = 0;
        return driver.device_count(&gpus) == 0 ? gpus : 0;
    } catch (const Error&) {
        return 0;
    }
}

std::string name(int index) {
    const Driver driver;
    int ordinal = 0;
    driver.check(driver.device_get(&ordinal, index), "cuDeviceGet");
    std::array<char, 128> text{};
    driver.check(driver.device_name(text.data(), text.size(), ordinal), "cuDeviceGetName");
    return text.data();
}

std::unique_ptr<Device> open(int index) { return std::make_unique<CudaDevice>(std::make_shared<Driver>(), index); }

}  // namespace gputomo::device::cuda
