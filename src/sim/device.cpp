// SimulatedDevice: the Device interface over memory, decoder and engine.
#include "sass/cubin.hpp"
#include "sass/kernel_info.hpp"
#include "sim/attributes.hpp"
#include "sim/memory/device_memory.hpp"
#include "sim/simulator.hpp"
#include "sim/sm/engine/description_check.hpp"
#include "sim/sm/engine/launch.hpp"
#include "sim/sm/engine/residency.hpp"
#include "sim/sm/load_store/shared_banks.hpp"
#include "sim/sm/units/fetch.hpp"

#include "machine/json.hpp"
#include "ptx/instructions.hpp"
#include "ptx/names.hpp"
#include "ptx/parser.hpp"
#include "units/error.hpp"
#include "units/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <unordered_map>

namespace gputomo::sim {
namespace {

/// The time between two launches varies by this many cycles at most, as no two launches of a real GPU follow each other
/// after exactly the same time.
constexpr std::uint64_t kMostPause = 64;
/// Bytes; the driver's granularity of cuMemMap.
constexpr std::int64_t kMappingGranularity = std::int64_t{2} << 20;

class Gpu;

class SimulatedKernel final : public device::Kernel {
public:
    SimulatedKernel(Gpu& gpu, LoadedKernel loaded) : gpu_(gpu), loaded_(std::move(loaded)) {}
    [[nodiscard]] const std::string& name() const override { return loaded_.program.name; }
    [[nodiscard]] device::KernelProperties properties() const override;
    device::LaunchResult launch(const device::Launch& launch) override;

private:
    Gpu& gpu_;
    LoadedKernel loaded_;
};

/// A kernel whose machine code is executed.
class MachineCodeKernel final : public device::Kernel {
public:
    MachineCodeKernel(Gpu& gpu, LoadedMachineCode loaded) : gpu_(gpu), loaded_(std::move(loaded)) {}
    [[nodiscard]] const std::string& name() const override { return loaded_.program.kernel; }
    [[nodiscard]] device::KernelProperties properties() const override;
    device::LaunchResult launch(const device::Launch& launch) override;

private:
    Gpu& gpu_;
    LoadedMachineCode loaded_;
};

class SimulatedModule final : public device::Module {
public:
    SimulatedModule(Gpu& gpu, const ptx::Module& module);
    /// From a cubin.
    SimulatedModule(Gpu& gpu, std::span<const std::byte> bytes);
    ~SimulatedModule() override;
    SimulatedModule(const SimulatedModule&) = delete;
    SimulatedModule& operator=(const SimulatedModule&) = delete;

    device::Kernel& kernel(std::string_view name) override {
        if (const auto refused = refusals_.find(std::string(name)); refused != refusals_.end())
            throw InputError(refused->second);
        const auto found = kernels_.find(std::string(name));
        if (found == kernels_.end()) throw InputError(fmt::format("module has no kernel '{}'", name));
        return *found->second;
    }
    [[nodiscard]] const std::optional<device::MachineCode>& machine_code() const override { return code_; }
    Symbol symbol(std::string_view name) override {
        const auto found = symbols_.find(std::string(name));
        if (found == symbols_.end()) throw InputError(fmt::format("module has no variable '{}'", name));
        return found->second;
    }

private:
    /// Device memory of the module that begins with `content`.
    std::uint64_t place(std::span<const std::byte> content, std::uint64_t bytes);

    Gpu& gpu_;
    std::optional<device::MachineCode> code_;
    std::unordered_map<std::string, Symbol> symbols_;
    std::unordered_map<std::string, std::unique_ptr<device::Kernel>> kernels_;
    std::unordered_map<std::string, std::string> refusals_;  ///< why kernels cannot be executed, by name
    std::vector<std::uint64_t> allocations_;
};

/// The machine, once its description has been checked: members of Gpu are computed from it.
const machine::Machine& checked(const machine::Machine& machine) {
    check_description(machine);
    (void)SharedBanks(machine.shared);
    return machine;
}

const machine::Machine& checked(const machine::Machine&&) = delete;

class Gpu final : public SimulatedDevice {
public:
    Gpu(const machine::Machine& machine, Options options)
        : machine_(checked(machine)),
          options_(std::move(options)),
          costs_(machine_),
          memory_(memory_bytes(machine_)),
          memory_system_(make_memory_system(machine_, memory_, {options_.seed, options_.noise})),
          random_(options_.seed) {
        set_clock_offsets();
    }

    [[nodiscard]] std::string name() const override { return machine_.identity.name.value_or("simulated GPU"); }
    [[nodiscard]] std::string id() const override { return options_.id; }
    [[nodiscard]] bool simulated() const override { return true; }
    [[nodiscard]] device::Identification identification() const override {
        auto described = machine_;
        described.origin.reset();  // two scans with equal values describe the same GPU
        return {.driver = {}, .cuda = {}, .pci_bus_id = {}, .description = sha256(machine::to_json(described))};
    }
    [[nodiscard]] PtxTarget ptx_target() const override {
        const auto major = machine_.identity.compute_capability_major.value_or(7),
                   minor = machine_.identity.compute_capability_minor.value_or(0);
        return {8, 0, static_cast<int>(major * 10 + minor)};
    }
    /// The simulator has no tensor cores and refuses mma.sync.
    [[nodiscard]] bool executes_mma() const override { return false; }
    [[nodiscard]] std::optional<std::int64_t> attribute(device::Attribute attribute) const override {
        return attribute_of(machine_, attribute);
    }

    device::Address allocate(Bytes size) override { return memory_.allocate(static_cast<std::uint64_t>(size.count())); }
    /// Memory of the host takes the same way as the GPU's.
    device::Address allocate_at(device::Address address, Bytes size, device::MemorySpace) override {
        memory_.allocate_at(address, static_cast<std::uint64_t>(size.count()));
        return address;
    }
    void free(device::Address address) noexcept override { memory_.free(address); }
    void copy_to_device(device::Address to, std::span<const std::byte> from) override {
        if (!from.empty()) std::memcpy(at(to, from.size(), "copy to device"), from.data(), from.size());
    }
    void copy_to_host(std::span<std::byte> to, device::Address from) override {
        if (memory_is_incomplete_)
            throw DeviceError(
                "copy to host: only a sample of a launch's blocks was simulated, or products of matrices were not "
                "computed, so memory is incomplete; simulate the whole launch with its products");
        if (!to.empty()) std::memcpy(to.data(), at(from, to.size(), "copy to host"), to.size());
    }
    void fill_u32(device::Address to, std::uint32_t value, std::size_t count) override {
        std::byte* begin = at(to, count * sizeof value, "fill");
        for (std::size_t i = 0; i < count; ++i) std::memcpy(begin + i * sizeof value, &value, sizeof value);
    }
    [[nodiscard]] Bytes mapping_granularity() const override {
        return Bytes(has_virtual_mapping(machine_) ? kMappingGranularity : 0);
    }
    device::Address map_aliased(Bytes physical, Bytes stride, Bytes window) override {
        const auto multiple = [](Bytes b) { return b.count() > 0 && b.count() % kMappingGranularity == 0; };
        if (!has_virtual_mapping(machine_))
            throw DeviceError("map_aliased: this device has no virtual memory management");
        if (!multiple(physical) || !multiple(stride) || !multiple(window) || stride < physical)
            throw DeviceError(fmt::format(
                "map_aliased: sizes must be multiples of {} bytes, stride no less than physical", kMappingGranularity));
        return memory_.map_aliased(static_cast<std::uint64_t>(physical.count()),
                                   static_cast<std::uint64_t>(stride.count()),
                                   static_cast<std::uint64_t>(window.count()));
    }
    device::Texture linear_texture(device::Address address, Bytes size, device::TexelFormat) override {
        const device::Texture handle = textures_.size() + 1;
        textures_[handle] = {.address = address, .width = static_cast<std::uint64_t>(size.count()) / 4};
        return handle;
    }
    void texture_at(device::Texture handle, const TextureObject& texture) override {
        constexpr device::Texture kUsedBits = 0xFFFFFFFF;
        if (const std::string refusal = refusal_of(texture); !refusal.empty())
            throw InputError(fmt::format("texture object {:#x} cannot be simulated: {}", handle, refusal));
        textures_[handle & kUsedBits] = texture;
    }
    std::unique_ptr<device::Module> load(std::string_view code) override {
        if (sass::is_cubin(code)) return std::make_unique<SimulatedModule>(*this, std::as_bytes(std::span(code)));
        return std::make_unique<SimulatedModule>(*this, ptx::parse(code, "ptx", ptx::Unknown::is_kept));
    }
    std::vector<Nanoseconds> run(std::span<const device::QueuedLaunch> sequence,
                                 std::chrono::milliseconds limit) override {
        std::vector<Nanoseconds> times;
        for (const auto& [kernel, launch, timed] : sequence) {
            forget_sm_data();
            auto limited = *launch;
            limited.time_limit = limit;
            const auto result = kernel->launch(limited);
            if (timed) times.push_back(result.elapsed);
        }
        return times;
    }
    void forget_sm_data() override { memory_system_->forget_sm_data(); }
    void know_pages() override {
        for (const auto& [address, bytes] : memory_.allocations()) memory_system_->know_pages(address, bytes);
    }
    [[nodiscard]] device::ClockState clock_state() const override {
        device::ClockState state;
        state.sm_mhz = *machine_.clock.sm_mhz;
        state.other_processes = 0;
        return state;
    }
    void sample(std::optional<SamplingPlan> plan) override { sampling_ = plan; }
    void limit_instructions(std::optional<std::uint64_t> most) override { most_instructions_ = most; }
    void compute_products(bool computes) override { computes_products_ = computes; }
    [[nodiscard]] const SampledBlocks& sampled_blocks() const override { return sampled_; }
    [[nodiscard]] const Counters& counters() const override { return counters_; }
    [[nodiscard]] const ExecutedCode& executed_code() const override { return executed_; }

    device::LaunchResult run(const LoadedKernel& kernel, const device::Launch& launch);
    device::LaunchResult run(const LoadedMachineCode& kernel, const device::Launch& launch);
    /// How many threads of a block the registers allow.
    [[nodiscard]] int most_threads(int registers_per_thread, int asked) const;
    [[nodiscard]] DeviceMemory& memory() { return memory_; }
    [[nodiscard]] const CostModel& costs() const { return costs_; }
    [[nodiscard]] const machine::Machine& machine() const override { return machine_; }
    std::byte* at(device::Address address, std::size_t bytes, std::string_view call) {
        std::byte* found = memory_.resolve(address, bytes);
        if (found == nullptr)
            throw DeviceError(fmt::format("{}: {} bytes at 0x{:x} are not allocated", call, bytes, address));
        return found;
    }

private:
    void set_clock_offsets();
    [[nodiscard]] LaunchSetup setup_of(const device::Launch& launch, std::uint64_t frame_bytes);
    device::LaunchResult finish(const LaunchTime& time);
    /// Address of the barrier of a cooperative launch, on which no block has arrived.
    std::uint64_t grid_barrier();
    /// Address of the memory behind local memory, which is kept from launch to launch.
    std::uint64_t local_memory(std::uint64_t frame_bytes);

    machine::Machine machine_;
    Options options_;
    CostModel costs_;
    DeviceMemory memory_;
    std::unique_ptr<MemorySystem> memory_system_;
    std::mt19937_64 random_;
    std::vector<std::int64_t> clock_offsets_;
    TextureTable textures_;
    double now_ns_ = 0;
    std::uint64_t local_address_ = 0;
    std::uint64_t local_bytes_ = 0;
    std::uint64_t grid_barrier_ = 0;
    Counters counters_;
    ExecutedCode executed_;
    std::optional<SamplingPlan> sampling_;
    std::optional<std::uint64_t> most_instructions_;
    bool computes_products_ = true;
    SampledBlocks sampled_;
    bool memory_is_incomplete_ = false;
};

/// Clock registers start at random values; SMs of one clock.scope share theirs.
void Gpu::set_clock_offsets() {
    const auto sms = static_cast<std::size_t>(*machine_.topology.sms);
    const auto per_tpc = static_cast<std::size_t>(std::max<std::int64_t>(1, machine_.topology.sms_per_tpc.value_or(1)));
    const std::string scope = machine_.clock.scope.value_or("sm");
    const auto per_gpc = static_cast<std::size_t>(std::max<std::int64_t>(0, machine_.topology.sms_per_gpc.value_or(0)));
    if (scope == "gpc" && per_gpc == 0)
        throw InputError("topology.sms_per_gpc: missing; the simulator needs it with clock.scope gpc");
    const std::size_t shared_by = scope == "gpu" ? sms : scope == "gpc" ? per_gpc : scope == "tpc" ? per_tpc : 1;
    for (std::size_t sm = 0; sm < sms; ++sm) {
        if (sm % shared_by == 0)
            clock_offsets_.push_back(static_cast<std::int64_t>(random_() % 1'000'000'000) + 1'000'000);
        else
            clock_offsets_.push_back(clock_offsets_.back());
    }
}

std::uint64_t Gpu::grid_barrier() {
    constexpr std::uint64_t kBytes = 64;
    if (grid_barrier_ == 0) grid_barrier_ = memory_.allocate(kBytes);
    std::memset(at(grid_barrier_, kBytes, "launch"), 0, kBytes);
    return grid_barrier_;
}

std::uint64_t Gpu::local_memory(std::uint64_t frame_bytes) {
    const std::uint64_t bytes = local_memory_of(machine_, frame_bytes);
    if (bytes <= local_bytes_) return local_address_;
    memory_.free(local_address_);
    local_bytes_ = 0;
    local_address_ = memory_.allocate(bytes);
    local_bytes_ = bytes;
    return local_address_;
}

LaunchSetup Gpu::setup_of(const device::Launch& launch, std::uint64_t frame_bytes) {
    counters_ = {};
    executed_ = {};
    return {.machine = machine_,
            .launch = launch,
            .memory = memory_,
            .memory_system = *memory_system_,
            .textures = textures_,
            .costs = costs_,
            .clock_offsets = clock_offsets_,
            .start_ns = now_ns_,
            .local_address = local_memory(frame_bytes),
            .sampling = sampling_,
            .most_instructions = most_instructions_,
            .computes_products = computes_products_};
}

device::LaunchResult Gpu::run(const LoadedKernel& kernel, const device::Launch& launch) {
    const LaunchSetup setup = setup_of(launch, kernel.program.local_bytes);
    return finish(run_launch(setup, kernel, counters_));
}

device::LaunchResult Gpu::run(const LoadedMachineCode& kernel, const device::Launch& launch) {
    LaunchSetup setup = setup_of(launch, kernel.program.local_bytes);
    setup.printed = &executed_.printed;
    if (kernel.program.uses_grid_barrier) setup.grid_barrier = grid_barrier();
    memory_is_incomplete_ |= !computes_products_ && machine_code::multiplies_matrices(kernel.program);
    const LaunchTime time = run_launch(setup, kernel, counters_, executed_.stalls);
    executed_.language = ExecutedCode::Language::sass;
    const auto& executed = executed_.stalls.instructions();
    for (std::size_t at = 0; at < executed.size(); ++at)
        executed_.texts.push_back(machine_code::text_of(kernel.program, at));
    std::uint64_t simulated = 0;
    std::vector<std::uint64_t> by_assumption(kernel.costs.assumptions.size());
    for (std::size_t at = 0; at < executed.size(); ++at)
        if (const auto row = kernel.costs.assumed_of[at]; row != SassCosts::kTimed)
            by_assumption[row] += executed[at].issued;
    for (const auto& instruction : executed) simulated += instruction.issued;
    const double of_launch =
        static_cast<double>(counters_.warp_instructions) / static_cast<double>(std::max<std::uint64_t>(1, simulated));
    for (std::size_t row = 0; row < by_assumption.size(); ++row)
        if (by_assumption[row] != 0)
            executed_.assumed.push_back(
                {kernel.costs.assumptions[row].operation, kernel.costs.assumptions[row].assumption,
                 static_cast<std::uint64_t>(std::llround(static_cast<double>(by_assumption[row]) * of_launch))});
    return finish(time);
}

device::LaunchResult Gpu::finish(const LaunchTime& time) {
    sampled_ = time.sampled;
    executed_.timeline = time.timeline;
    memory_is_incomplete_ |= !sampled_.complete();
    counters_.profiler_cycles =
        counters_.cycles + static_cast<std::uint64_t>(std::llround(machine_.launch.profiler_cycles.value_or(0)));
    double drift = 1;
    if (options_.noise.clock_drift > 0)
        drift += options_.noise.clock_drift * (2 * static_cast<double>(random_() >> 11) * 0x1p-53 - 1);
    const double elapsed =
        time.cycles * 1e3 / (*machine_.clock.sm_mhz * drift) + machine_.launch.empty_kernel.value_or(0);
    now_ns_ += elapsed;
    // The time between two launches varies.
    const auto pause = static_cast<std::int64_t>(random_() % kMostPause);
    for (auto& offset : clock_offsets_)
        offset += static_cast<std::int64_t>(elapsed * *machine_.clock.sm_mhz / 1e3) + pause;
    return {.elapsed = Nanoseconds(elapsed), .warp_instructions = counters_.warp_instructions};
}

int Gpu::most_threads(int registers_per_thread, int asked) const {
    const int most = static_cast<int>(machine_.topology.max_threads_per_block.value_or(1024));
    int threads = asked == 0 ? most : std::min(most, asked);
    const auto fits = [&] {
        return resident_blocks(machine_, {.threads = static_cast<std::uint64_t>(threads),
                                          .registers_per_thread = registers_per_thread})
                   .blocks != 0;
    };
    while (threads > kWarpSize && !fits()) threads -= kWarpSize;
    return threads;
}

device::KernelProperties SimulatedKernel::properties() const {
    const Program& program = loaded_.program;
    return {.registers_per_thread = program.registers_per_thread,
            .static_shared = Bytes(static_cast<std::int64_t>(program.static_shared)),
            .local_per_thread = Bytes(static_cast<std::int64_t>(program.local_bytes)),
            .max_threads_per_block = gpu_.most_threads(program.registers_per_thread, program.max_threads)};
}

device::LaunchResult SimulatedKernel::launch(const device::Launch& launch) { return gpu_.run(loaded_, launch); }

device::KernelProperties MachineCodeKernel::properties() const {
    const auto& program = loaded_.program;
    return {.registers_per_thread = program.registers,
            .static_shared = Bytes(static_cast<std::int64_t>(program.shared_bytes - program.system_shared_bytes)),
            .local_per_thread = Bytes(static_cast<std::int64_t>(program.local_bytes)),
            .max_threads_per_block = gpu_.most_threads(program.registers, program.max_threads)};
}

device::LaunchResult MachineCodeKernel::launch(const device::Launch& launch) { return gpu_.run(loaded_, launch); }

/// A compiler would spill registers to local memory. Which ones it chooses is not known, so such kernels are refused.
void check_registers(const Program& program, const machine::Topology& topology) {
    if (topology.max_registers_per_thread && program.registers_per_thread > *topology.max_registers_per_thread)
        throw InputError(fmt::format(
            "kernel {}: needs {} registers per thread; topology.max_registers_per_thread is {}, and spilling "
            "cannot be simulated",
            program.name, program.registers_per_thread, *topology.max_registers_per_thread));
}

std::uint64_t SimulatedModule::place(std::span<const std::byte> content, std::uint64_t bytes) {
    const std::uint64_t address = allocations_.emplace_back(gpu_.memory().allocate(std::max<std::uint64_t>(1, bytes)));
    if (!content.empty()) std::memcpy(gpu_.at(address, content.size(), "load"), content.data(), content.size());
    return address;
}

SimulatedModule::SimulatedModule(Gpu& gpu, const ptx::Module& module) : gpu_(gpu) {
    SymbolTable addresses;
    for (const auto& variable : module.variables) {
        if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
        const std::uint64_t address =
            place(std::as_bytes(std::span(variable.initial)), static_cast<std::uint64_t>(variable.size.count()));
        addresses[variable.name] = address;
        symbols_[variable.name] = {address, variable.size};
    }
    const std::uint64_t instruction_bytes = instruction_bytes_of(gpu.machine());
    for (const auto& kernel : module.kernels) {
        try {
            if (!kernel.refusal.empty()) throw InputError(kernel.refusal);
            LoadedKernel loaded{decode(module, kernel, addresses), {}, 0};
            check_registers(loaded.program, gpu.machine().topology);
            for (const auto& key : loaded.program.cost_keys) loaded.costs.push_back(gpu.costs().cost_of(key));
            loaded.code_address = place({}, loaded.program.operations.size() * instruction_bytes);
            kernels_[kernel.name] = std::make_unique<SimulatedKernel>(gpu, std::move(loaded));
        } catch (const InputError& error) {
            refusals_[kernel.name] = error.what();
        }
    }
}

/// Sections of a cubin that hold variables: .nv.global, .nv.global.init and .nv.constant3 are laid out in device
/// memory.
bool holds_variables(std::string_view section) {
    return section == ".nv.global" || section == ".nv.global.init" || section == ".nv.constant3";
}

SimulatedModule::SimulatedModule(Gpu& gpu, std::span<const std::byte> bytes)
    : gpu_(gpu), code_(device::MachineCode{{bytes.begin(), bytes.end()}}) {
    const sass::Cubin cubin(code_->cubin);
    std::unordered_map<std::string, std::uint64_t> addresses;
    for (const auto& section : cubin.sections())
        if (holds_variables(section.name)) addresses[section.name] = place(section.bytes, section.size);
    for (const auto& symbol : cubin.symbols())
        if (symbol.is_variable && addresses.contains(symbol.section))
            symbols_[symbol.name] = {addresses[symbol.section] + symbol.value,
                                     Bytes(static_cast<std::int64_t>(symbol.bytes))};
    const auto address_of = [&](std::string_view section) {
        const auto found = addresses.find(std::string(section));
        if (found == addresses.end())
            throw InputError(fmt::format("cubin: a relocation into section {}; expected one of variables", section));
        return found->second;
    };
    for (const auto& name : cubin.kernels()) {
        if (!sass::is_kernel(cubin, name)) continue;  // a function that kernels call
        try {
            LoadedMachineCode loaded{.program = machine_code::prepare(cubin, name, address_of)};
            loaded.costs = sass_costs_of(loaded.program, gpu.machine(), gpu.costs());
            loaded.code_address = place(cubin.text(name).bytes, cubin.text(name).bytes.size());
            for (std::size_t bank = 0; bank < loaded.program.constants.size(); ++bank)
                if (const auto& words = loaded.program.constants[bank]; !words.empty())
                    loaded.bank_address[bank] = place(std::as_bytes(std::span(words)), 4 * words.size());
            kernels_[name] = std::make_unique<MachineCodeKernel>(gpu, std::move(loaded));
        } catch (const InputError& error) {
            refusals_[name] = error.what();
        }
    }
}

SimulatedModule::~SimulatedModule() {
    for (const auto address : allocations_) gpu_.memory().free(address);
}

}  // namespace

std::unique_ptr<SimulatedDevice> make_device(const machine::Machine& machine, Options options) {
    return std::make_unique<Gpu>(machine, std::move(options));
}

}  // namespace gputomo::sim
