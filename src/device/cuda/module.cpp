#include "device/cuda/module.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gputomo::device::cuda {
namespace {

std::string describe(const std::string& kernel, const Launch& launch) {
    return fmt::format("kernel {}, grid {}x{}x{}, block {}x{}x{}, {} B dynamic shared memory", kernel, launch.grid.x,
                       launch.grid.y, launch.grid.z, launch.block.x, launch.block.y, launch.block.z,
                       launch.dynamic_shared.count());
}

/// Events at the start and the end of one launch.
class EventPair {
public:
    explicit EventPair(Session& session) : session_(session) {
        session_.check(session_.call().event_create(&start_, abi::kEventDefault), "cuEventCreate");
        session_.check(session_.call().event_create(&end_, abi::kEventDefault), "cuEventCreate");
    }
    EventPair(const EventPair&) = delete;
    EventPair& operator=(const EventPair&) = delete;
    ~EventPair() {
        if (!session_.try_enter()) return;
        if (start_ != nullptr) session_.call().event_destroy(start_);
        if (end_ != nullptr) session_.call().event_destroy(end_);
    }
    [[nodiscard]] abi::Event start() const { return start_; }
    [[nodiscard]] abi::Event end() const { return end_; }

private:
    Session& session_;
    abi::Event start_ = nullptr;
    abi::Event end_ = nullptr;
};

}  // namespace

CudaKernel::CudaKernel(std::shared_ptr<Session> session, abi::Function function, std::string name)
    : session_(std::move(session)), function_(function), name_(std::move(name)) {
    properties_.registers_per_thread = attribute(abi::kFunctionRegisters, "registers");
    properties_.static_shared = Bytes(attribute(abi::kFunctionSharedSize, "shared memory"));
    properties_.local_per_thread = Bytes(attribute(abi::kFunctionLocalSize, "local memory"));
    properties_.max_threads_per_block = attribute(abi::kFunctionMaxThreadsPerBlock, "most threads per block");
    dynamic_shared_allowed_ = attribute(abi::kFunctionMaxDynamicShared, "most dynamic shared memory");
    read_parameters();
}

int CudaKernel::attribute(int which, const char* label) {
    int value = 0;
    session_->check(session_->call().function_get_attribute(&value, which, function_), "cuFuncGetAttribute",
                    fmt::format("kernel {}, {}", name_, label));
    return value;
}

void CudaKernel::read_parameters() {
    const auto info = session_->call().function_get_param_info;
    if (info == nullptr) return;
    for (;;) {
        std::size_t offset = 0;
        std::size_t size = 0;
        const abi::Result result = info(function_, parameters_.size(), &offset, &size);
        if (result == abi::kInvalidValue) break;  // past the last parameter
        if (result != abi::kSuccess) return;      // this driver does not support the call
        parameters_.emplace_back(offset, size);
    }
    parameters_known_ = true;
}

void CudaKernel::check_arguments(const Arguments& arguments) const {
    if (!parameters_known_) return;
    const auto offsets = arguments.offsets();
    const std::size_t given = offsets.size();
    const std::size_t wanted = parameters_.size();
    if (given != wanted)
        throw DeviceError(fmt::format("{}: kernel {} takes {} parameters; {} arguments were given", session_->id(),
                                      name_, wanted, given));
    for (std::size_t i = 0; i < wanted; ++i) {
        const auto [offset, size] = parameters_[i];
        const std::size_t end = i + 1 < given ? offsets[i + 1] : arguments.bytes().size();
        if (offsets[i] != offset || end < offset + size)
            throw DeviceError(fmt::format(
                "{}: kernel {}, parameter {}: expected {} bytes at offset {}, the argument has {} bytes at offset {}",
                session_->id(), name_, i, size, offset, end - offsets[i], offsets[i]));
    }
}

int CudaKernel::carveout_for(Bytes shared) {
    if (shared == Bytes{0}) return 0;
    int reserved = 0;
    int capacity = 0;
    const auto& call = session_->call();
    // An older driver does not know this attribute, and the GPUs that it supports reserve nothing.
    if (call.device_get_attribute(&reserved, abi::kAttributeReservedSharedPerBlock, session_->device()) !=
        abi::kSuccess)
        reserved = 0;
    session_->check(call.device_get_attribute(&capacity, abi::kAttributeMultiprocessorSharedMemory, session_->device()),
                    "cuDeviceGetAttribute", "shared memory per multiprocessor");
    if (capacity <= 0) return abi::kCarveoutDefault;
    const std::int64_t needed = shared.count() + reserved;
    return static_cast<int>(std::min<std::int64_t>(100, (needed * 100 + capacity - 1) / capacity));
}

void CudaKernel::prepare_shared_memory(const Launch& launch) {
    const auto dynamic = launch.dynamic_shared.count();
    if (dynamic > dynamic_shared_allowed_) {
        session_->check(session_->call().function_set_attribute(function_, abi::kFunctionMaxDynamicShared,
                                                                static_cast<int>(dynamic)),
                        "cuFuncSetAttribute", fmt::format("kernel {}, {} B dynamic shared memory", name_, dynamic));
        dynamic_shared_allowed_ = static_cast<int>(dynamic);
    }
    const int carveout =
        launch.prefer_l1 ? carveout_for(properties_.static_shared + launch.dynamic_shared) : abi::kCarveoutDefault;
    if (carveout == carveout_) return;
    session_->check(session_->call().function_set_attribute(function_, abi::kFunctionPreferredCarveout, carveout),
                    "cuFuncSetAttribute", fmt::format("kernel {}, shared-memory carve-out {} %", name_, carveout));
    carveout_ = carveout;
}

void CudaKernel::enqueue(const Launch& launch) {
    const std::string context = describe(name_, launch);
    session_->enter(fmt::format("launch of {}", context));
    check_arguments(launch.arguments);
    prepare_shared_memory(launch);
    // With one packed buffer instead of a pointer per parameter, a missing argument is an error that the driver reports
    // and not a read beyond an array.
    const auto bytes = launch.arguments.bytes();
    std::size_t size = bytes.size();
    void* extra[] = {abi::kLaunchParamBufferPointer, const_cast<std::byte*>(bytes.data()), abi::kLaunchParamBufferSize,
                     &size, abi::kLaunchParamEnd};
    if (launch.cooperative || launch.cluster)
        return enqueue_with_attributes(launch, size == 0 ? nullptr : extra, context);
    session_->check(session_->call().launch_kernel(function_, launch.grid.x, launch.grid.y, launch.grid.z,
                                                   launch.block.x, launch.block.y, launch.block.z,
                                                   static_cast<unsigned>(launch.dynamic_shared.count()),
                                                   session_->stream(), nullptr, size == 0 ? nullptr : extra),
                    "cuLaunchKernel", context);
}

void CudaKernel::enqueue_with_attributes(const Launch& launch, void** extra, const std::string& context) {
    const auto call = session_->call().launch_kernel_ex;
    if (call == nullptr)
        throw DeviceError(fmt::format("{}: {}: this driver launches no {}; expected one for CUDA 12 or newer",
                                      session_->id(), context, launch.cluster ? "clusters" : "cooperative kernels"));
    std::array<abi::LaunchAttribute, 2> attributes{};
    unsigned count = 0;
    if (launch.cooperative) {
        attributes[count].id = abi::kLaunchCooperative;
        attributes[count++].value.cooperative = 1;
    }
    if (launch.cluster) {
        // Larger clusters do not fit on every GPU of this compute capability, so that the driver asks for consent.
        constexpr std::uint64_t kPortableBlocks = 8;
        if (launch.cluster->count() > kPortableBlocks)
            session_->check(session_->call().function_set_attribute(function_, abi::kFunctionLargeClusters, 1),
                            "cuFuncSetAttribute", context);
        attributes[count].id = abi::kLaunchCluster;
        auto& cluster = attributes[count++].value.cluster;
        cluster[0] = launch.cluster->x, cluster[1] = launch.cluster->y, cluster[2] = launch.cluster->z;
    }
    const abi::LaunchConfiguration configuration{.grid = {launch.grid.x, launch.grid.y, launch.grid.z},
                                                 .block = {launch.block.x, launch.block.y, launch.block.z},
                                                 .shared_bytes = static_cast<unsigned>(launch.dynamic_shared.count()),
                                                 .stream = session_->stream(),
                                                 .attributes = attributes.data(),
                                                 .attribute_count = count};
    session_->check(call(&configuration, function_, nullptr, extra), "cuLaunchKernelEx", context);
}

std::vector<Nanoseconds> run_sequence(Session& session, std::span<const QueuedLaunch> sequence,
                                      std::chrono::milliseconds limit) {
    if (sequence.empty()) return {};
    session.enter("a sequence of launches");
    const EventPair whole(session);
    std::vector<std::unique_ptr<EventPair>> timed;
    const auto record = [&](abi::Event event) {
        session.check(session.call().event_record(event, session.stream()), "cuEventRecord");
    };
    for (const auto& [kernel, launch, is_timed] : sequence) {
        if (is_timed) record(timed.emplace_back(std::make_unique<EventPair>(session))->start());
        dynamic_cast<CudaKernel&>(*kernel).enqueue(*launch);
        if (is_timed) record(timed.back()->end());
    }
    record(whole.end());
    const auto& last = sequence.back();
    session.wait(
        whole.end(),
        {.call = "waiting for the kernel", .context = describe(last.kernel->name(), *last.launch), .limit = limit});
    std::vector<Nanoseconds> times;
    for (const auto& events : timed) {
        float milliseconds = 0;
        session.check(session.call().event_elapsed_time(&milliseconds, events->start(), events->end()),
                      "cuEventElapsedTime");
        times.emplace_back(static_cast<double>(milliseconds) * 1e6);
    }
    return times;
}

LaunchResult CudaKernel::launch(const Launch& launch) {
    const std::string context = describe(name_, launch);
    session_->enter(fmt::format("launch of {}", context));
    const EventPair events(*session_);
    session_->check(session_->call().event_record(events.start(), session_->stream()), "cuEventRecord", context);
    enqueue(launch);
    session_->check(session_->call().event_record(events.end(), session_->stream()), "cuEventRecord", context);
    session_->wait(events.end(), {.call = "waiting for the kernel", .context = context, .limit = launch.time_limit});
    float milliseconds = 0;
    session_->check(session_->call().event_elapsed_time(&milliseconds, events.start(), events.end()),
                    "cuEventElapsedTime", context);
    return {.elapsed = Nanoseconds(static_cast<double>(milliseconds) * 1e6)};
}

CudaModule::CudaModule(std::shared_ptr<Session> session, std::vector<std::byte> cubin) : session_(std::move(session)) {
    session_->enter("cuModuleLoadData");
    code_ = MachineCode{std::move(cubin)};
    session_->check(session_->call().module_load_data(&module_, code_->cubin.data()), "cuModuleLoadData");
}

CudaModule::~CudaModule() {
    if (session_->try_enter()) session_->call().module_unload(module_);
}

Kernel& CudaModule::kernel(std::string_view name) {
    if (const auto known = kernels_.find(name); known != kernels_.end()) return *known->second;
    session_->enter("cuModuleGetFunction");
    std::string text(name);
    abi::Function function = nullptr;
    const abi::Result result = session_->call().module_get_function(&function, module_, text.c_str());
    if (result == abi::kNotFound)
        throw InputError(fmt::format("{}: the module has no kernel '{}'", session_->id(), name));
    session_->check(result, "cuModuleGetFunction", fmt::format("kernel {}", name));
    auto kernel = std::make_unique<CudaKernel>(session_, function, text);
    return *kernels_.emplace(std::move(text), std::move(kernel)).first->second;
}

Module::Symbol CudaModule::symbol(std::string_view name) {
    session_->enter("cuModuleGetGlobal_v2");
    const std::string text(name);
    abi::DevicePointer address = 0;
    std::size_t size = 0;
    const abi::Result result = session_->call().module_get_global(&address, &size, module_, text.c_str());
    if (result == abi::kNotFound)
        throw InputError(fmt::format("{}: the module has no variable '{}'", session_->id(), name));
    session_->check(result, "cuModuleGetGlobal_v2", fmt::format("variable {}", name));
    return {.address = address, .size = Bytes(static_cast<std::int64_t>(size))};
}

}  // namespace gputomo::device::cuda
