#include "capture/interposer/launch.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gputomo::capture {
namespace {

/// The parameters as one buffer, which a program may pass in place of a list of pointers.
struct Packed {
    const unsigned char* bytes = nullptr;
    std::size_t size = 0;
};

Packed packed(void** extra) {
    Packed found;
    for (; extra != nullptr && *extra != abi::kLaunchParamEnd; extra += 2) {
        if (extra[0] == abi::kLaunchParamBufferPointer) found.bytes = static_cast<const unsigned char*>(extra[1]);
        if (extra[0] == abi::kLaunchParamBufferSize) found.size = *static_cast<const std::size_t*>(extra[1]);
    }
    return found;
}

}  // namespace

void Launch::set_attributes(const abi::LaunchAttribute* attributes, unsigned count) {
    for (unsigned i = 0; attributes != nullptr && i < count; ++i) {
        if (attributes[i].id == abi::kLaunchCooperative) cooperative = attributes[i].value.cooperative != 0;
        if (attributes[i].id == abi::kLaunchCluster)
            std::ranges::copy(attributes[i].value.cluster, std::begin(cluster));
    }
}

LaunchRecord::LaunchRecord(const Launch& launch, std::shared_ptr<KernelEntry> entry)
    : kernel(std::move(entry)), shared_bytes(launch.shared_bytes), cooperative(launch.cooperative) {
    std::ranges::copy(launch.grid, std::begin(grid));
    std::ranges::copy(launch.block, std::begin(block));
    std::ranges::copy(launch.cluster, std::begin(cluster));
    const Packed whole = packed(launch.extra);
    parameters_known = kernel->parameters_known || whole.bytes != nullptr;
    if (!kernel->parameters_known && whole.bytes != nullptr) {
        parameters.push_back({0, {whole.bytes, whole.bytes + whole.size}});
        return;
    }
    for (std::size_t i = 0; i < kernel->parameters.size(); ++i) {
        const auto [offset, bytes] = kernel->parameters[i];
        const unsigned char* from = nullptr;
        if (launch.parameters != nullptr)
            from = static_cast<const unsigned char*>(launch.parameters[i]);
        else if (whole.bytes != nullptr && offset + bytes <= whole.size)
            from = whole.bytes + offset;
        if (from == nullptr) {
            parameters_known = false;
            break;
        }
        parameters.push_back({offset, {from, from + bytes}});
    }
}

void LaunchRecord::add_to(JsonLine& line) const {
    line.add("kernel", kernel->id).add("grid", grid).add("block", block);
    if (cluster[0] != 0) line.add("cluster", cluster);
    line.add("shared", std::uint64_t{shared_bytes});
    if (cooperative) line.raw("cooperative", "true");
    if (!parameters_known) return;
    std::string list;
    for (const auto& [offset, bytes] : parameters)
        list += (list.empty() ? "[" : ",[") + std::to_string(offset) + "," + JsonLine::hex(bytes) + "]";
    line.raw("parameters", "[" + list + "]");
}

void LaunchRecord::collect_values(std::vector<std::uint64_t>& values) const {
    for (const auto& [offset, bytes] : parameters)
        for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
            std::uint64_t value = 0;
            std::memcpy(&value, bytes.data() + at, sizeof(value));
            values.push_back(value);
        }
}

std::string LaunchRecord::shape() const {
    std::string key = std::to_string(kernel->id);
    for (const auto* sizes : {grid, block, cluster})
        for (int i = 0; i < 3; ++i) key += "," + std::to_string(sizes[i]);
    return key + "," + std::to_string(shared_bytes);
}

}  // namespace gputomo::capture
