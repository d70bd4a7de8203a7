// The interface between gputomo and a GPU, real or simulated: what the CUDA driver API offers, and nothing more.
#pragma once

#include "units/quantity.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gputomo::device {

/// An address in the device's virtual address space.
using Address = std::uint64_t;

/// The attributes of cuDeviceGetAttribute that gputomo reads. Experiments rely on these and on their own measurements,
/// and on nothing else.
enum class Attribute {
    compute_capability_major,
    compute_capability_minor,
    multiprocessor_count,
    warp_size,
    max_threads_per_block,
    max_threads_per_multiprocessor,
    max_blocks_per_multiprocessor,
    max_registers_per_block,
    max_registers_per_multiprocessor,
    max_shared_memory_per_block,        ///< bytes, without opting in to more
    max_shared_memory_per_block_optin,  ///< bytes
    max_shared_memory_per_multiprocessor,
    clock_rate_khz,
    memory_clock_rate_khz,
    memory_bus_width_bits,
    l2_cache_bytes,
    total_memory_bytes,
    max_grid_x,  ///< blocks
    max_grid_y,
    max_grid_z,
    max_block_x,  ///< threads
    max_block_y,
    max_block_z,
    concurrent_kernels,
    virtual_memory_management,  ///< 1 if map_aliased() works
};

struct Dim3 {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
    [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
    constexpr bool operator==(const Dim3&) const = default;
};

/// Kernel parameters, packed in order with their natural alignment as the PTX .param space requires.
class Arguments {
public:
    template <class T>
    requires std::is_trivially_copyable_v<T> Arguments& add(const T& value) {
        offsets_.push_back(align_to(alignof(T)));
        const auto* raw = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), raw, raw + sizeof(T));
        return *this;
    }
    /// Adds a parameter at this byte of the parameter space, behind those that were added before.
    Arguments& add_at(std::size_t offset, std::span<const std::byte> value) {
        bytes_.resize(offset);
        offsets_.push_back(offset);
        bytes_.insert(bytes_.end(), value.begin(), value.end());
        return *this;
    }
    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
    /// Byte offset of each parameter in bytes().
    [[nodiscard]] std::span<const std::size_t> offsets() const { return offsets_; }

private:
    std::size_t align_to(std::size_t alignment) {
        bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
        return bytes_.size();
    }
    std::vector<std::byte> bytes_;
    std::vector<std::size_t> offsets_;
};

struct Launch {
    Dim3 grid;
    Dim3 block;
    Bytes dynamic_shared{0};
    Arguments arguments;
    /// Requests the smallest shared-memory carve-out that holds one block, so that the L1 keeps the rest of a storage
    /// that both share. By default the driver sizes the carve-out for as many blocks as fit, which shrinks the L1.
    bool prefer_l1 = false;
    /// Blocks of a cluster, which run on neighbouring SMs; nullopt: the blocks are not in clusters.
    std::optional<Dim3> cluster{};
    /// All blocks are on the GPU at once, so that they may wait for each other.
    bool cooperative = false;
    /// If the kernel has not ended by then, the host gives up with a TimeLimitError.
    std::chrono::milliseconds time_limit{30'000};
};

struct LaunchResult {
    /// Device time from start to end of the kernel, by events (simulated: cycles over the clock).
    Nanoseconds elapsed{0};
    /// Instructions of warps that were executed; nullopt where the device does not count them, as GPUs do not.
    std::optional<std::uint64_t> warp_instructions{};
};

class Kernel;

/// A launch of a sequence that runs without waiting for the host in between.
struct QueuedLaunch {
    Kernel* kernel = nullptr;
    const Launch* launch = nullptr;
    bool timed = false;  ///< by events before and after it
};

/// Where memory at a given address lies.
enum class MemorySpace { device, host };

/// Properties of a loaded kernel, as the driver or the simulator reports them.
struct KernelProperties {
    int registers_per_thread = 0;
    Bytes static_shared{0};
    Bytes local_per_thread{0};
    int max_threads_per_block = 0;
};

/// One kernel of a loaded module.
class Kernel {
public:
    virtual ~Kernel() = default;
    [[nodiscard]] virtual const std::string& name() const = 0;
    [[nodiscard]] virtual KernelProperties properties() const = 0;
    /// Runs the kernel and waits. Throws DeviceError (call, kernel, driver's text) or TimeLimitError.
    virtual LaunchResult launch(const Launch& launch) = 0;
};

/// Machine code of a module. A simulated GPU that executes PTX has none.
struct MachineCode {
    /// The cubin, an ELF file.
    std::vector<std::byte> cubin;
};

/// A loaded PTX module. Kernels live as long as the module.
class Module {
public:
    virtual ~Module() = default;
    /// Throws InputError if the module has no such entry.
    virtual Kernel& kernel(std::string_view name) = 0;
    [[nodiscard]] virtual const std::optional<MachineCode>& machine_code() const = 0;
    /// Address and size of a module-scope .global or .const variable.
    struct Symbol {
        Address address = 0;
        Bytes size{0};
    };
    virtual Symbol symbol(std::string_view name) = 0;
};

/// A texture object over linear memory. It is freed with the device.
using Texture = std::uint64_t;

/// The type of one-channel texture elements.
enum class TexelFormat { u32, s32, f32 };

/// The state of a GPU at one time, as far as the device (NVML) knows it: clocks and what may disturb a measurement.
struct ClockState {
    std::optional<double> sm_mhz;
    std::optional<double> memory_mhz;
    /// Other compute processes on this GPU; nullopt when unknown.
    std::optional<int> other_processes;
    std::optional<double> temperature_celsius;
    std::optional<double> power_watt;
    /// What keeps the clocks from rising now, such as "power cap"; empty where nothing does.
    std::optional<std::vector<std::string>> throttle_reasons;
    /// Whether memory is protected by an error-correcting code (ECC), which costs bandwidth on some GPUs.
    std::optional<bool> ecc;
    /// Errors that ECC could not correct since the driver was loaded.
    std::optional<std::int64_t> ecc_uncorrected;
};

/// Which GPU this is and what runs it. Empty texts are unknown.
struct Identification {
    std::string driver;       ///< version of the kernel driver: "570.86.15"
    std::string cuda;         ///< version of CUDA that the driver supports: "12.8"
    std::string pci_bus_id;   ///< "0000:3b:00.0"
    std::string description;  ///< SHA-256 of the description that a simulated GPU is made from
};

/// Compute capability that introduced mma.sync.m16n8k16 of half precision, 80 for 8.0 (PTX ISA 9.7.14.4).
inline constexpr int kMmaFromSm = 80;

class Device {
public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    /// Marketing name, e.g. "NVIDIA H200".
    [[nodiscard]] virtual std::string name() const = 0;
    /// "cuda:0" or "sim:gtx280".
    [[nodiscard]] virtual std::string id() const = 0;
    /// Whether this is a simulation: what a GPU does in a second may take minutes.
    [[nodiscard]] virtual bool simulated() const { return false; }
    /// Unique identifier of this GPU ("GPU-12345678-..."); empty if it has none.
    [[nodiscard]] virtual std::string uuid() const { return {}; }
    [[nodiscard]] virtual Identification identification() const { return {}; }
    /// PTX ISA version and target that load() accepts and that kernels should be written for.
    struct PtxTarget {
        int version_major = 0;
        int version_minor = 0;
        int sm = 0;  ///< 90 for sm_90
    };
    [[nodiscard]] virtual PtxTarget ptx_target() const = 0;
    /// Whether it executes matrix multiply-accumulate: mma.sync.m16n8k16 of half precision.
    [[nodiscard]] virtual bool executes_mma() const { return ptx_target().sm >= kMmaFromSm; }
    /// nullopt if this device does not know the attribute.
    [[nodiscard]] virtual std::optional<std::int64_t> attribute(Attribute attribute) const = 0;

    [[nodiscard]] virtual Address allocate(Bytes size) = 0;
    virtual void free(Address address) noexcept = 0;
    /// Makes memory at a given address, as a recorded launch needs it; `host` is memory of the host that kernels reach.
    /// Where the address cannot be had, the memory is elsewhere, at the same place within a page. Returns where it is;
    /// free() gives it back.
    [[nodiscard]] virtual Address allocate_at(Address address, Bytes size, MemorySpace space) = 0;
    virtual void copy_to_device(Address to, std::span<const std::byte> from) = 0;
    virtual void copy_to_host(std::span<std::byte> to, Address from) = 0;
    virtual void fill_u32(Address to, std::uint32_t value, std::size_t count) = 0;

    /// Smallest physical allocation and mapping granularity of map_aliased(); 0 if it is not supported.
    [[nodiscard]] virtual Bytes mapping_granularity() const = 0;
    /// Reserves `window` bytes of virtual addresses and maps one physical allocation of `physical` bytes into it every
    /// `stride` bytes (stride >= physical; both are multiples of the granularity). Data then stay in a cache while
    /// translations vary. Returns the first address; free() releases all of it.
    [[nodiscard]] virtual Address map_aliased(Bytes physical, Bytes stride, Bytes window) = 0;

    /// Creates a texture object that reads `size` bytes at `address` as a 1D array of 32-bit texels (tex.1d with
    /// integer coordinates).
    [[nodiscard]] virtual Texture linear_texture(Address address, Bytes size, TexelFormat format) = 0;

    /// Compiles and loads PTX, or loads a cubin. Throws DeviceError with the compiler's log and the quoted line.
    [[nodiscard]] virtual std::unique_ptr<Module> load(std::string_view ptx) = 0;

    /// Whether compile_ahead() has an effect, so that it is worth generating kernels before they are needed.
    [[nodiscard]] virtual bool compiles_ahead() const { return false; }
    /// May start to compile PTX on other threads that load() will need. Errors are reported by load() only.
    virtual void compile_ahead(std::string_view) {}

    /// Runs launches of kernels of this device one after the other, and waits for the last one at most for `limit`.
    /// Returns the times of those that are `timed`. A GPU has all of them in its queue before it reaches the last.
    virtual std::vector<Nanoseconds> run(std::span<const QueuedLaunch> sequence, std::chrono::milliseconds limit) = 0;

    [[nodiscard]] virtual ClockState clock_state() const = 0;
};

/// Device memory that frees itself. Movable.
class Buffer {
public:
    Buffer() = default;
    Buffer(Device& device, Bytes size) : device_(&device), address_(device.allocate(size)), size_(size) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() {
        if (device_ != nullptr) device_->free(address_);
    }
    [[nodiscard]] Address address() const { return address_; }
    [[nodiscard]] Bytes size() const { return size_; }

    template <class T>
    void write(std::span<const T> values) {
        device_->copy_to_device(address_, std::as_bytes(values));
    }
    template <class T>
    void write(const std::vector<T>& values) {
        write(std::span<const T>(values));
    }
    template <class T>
    [[nodiscard]] std::vector<T> read(std::size_t count) const {
        std::vector<T> values(count);
        device_->copy_to_host(std::as_writable_bytes(std::span<T>(values)), address_);
        return values;
    }

private:
    void swap(Buffer& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(address_, other.address_);
        std::swap(size_, other.size_);
    }
    Device* device_ = nullptr;
    Address address_ = 0;
    Bytes size_{0};
};

}  // namespace gputomo::device
