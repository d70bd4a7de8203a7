#include "launches.hpp"

#include "launch/captured/captured_launch.hpp"
#include "launch/kernel_code.hpp"
#include "rows.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace gputomo::launch {

static nanobind::dict rows_of(const KernelParameter& parameter) {
    return python::Rows()
        .row("offset", parameter.offset)
        .row("size", parameter.bytes)
        .row("name", parameter.name)
        .row("type", parameter.type)
        .dict();
}

static nanobind::dict rows_of(const KernelCode& code) {
    return python::Rows()
        .row("name", code.name)
        .row("machine_code", code.machine_code)
        .row("sm", code.sm)
        .row("parameters", code.parameters)
        .row("registers", code.registers)
        .row("static_shared_bytes", code.static_shared_bytes)
        .row("stack_bytes", code.stack_bytes)
        .row("max_threads", code.max_threads)
        .row("block", code.block)
        .dict();
}

}  // namespace gputomo::launch

namespace gputomo::python {
namespace {

namespace nb = nanobind;
using Three = std::array<std::uint32_t, 3>;

/// Memory of a Python object, such as an array. It is read when the launch is placed.
class Content {
public:
    explicit Content(const nb::object& from) {
        if (PyObject_GetBuffer(from.ptr(), &view_, PyBUF_ANY_CONTIGUOUS) != 0) throw nb::python_error();
    }
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;
    ~Content() {
        const nb::gil_scoped_acquire lock;
        PyBuffer_Release(&view_);
    }
    [[nodiscard]] std::span<const std::byte> bytes() const {
        return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
    }

private:
    Py_buffer view_{};
};

/// Writes a part of a content.
using FillPart = std::function<void(std::uint64_t, std::span<std::byte>)>;

FillPart filler_of(const nb::object& content, std::uint64_t address) {
    if (content.is_none()) return {};
    if (nb::isinstance<nb::str>(content)) {
        const auto word = nb::cast<std::string>(content);
        if (word != "generated") throw InputError(fmt::format("content '{}': expected bytes or 'generated'", word));
        return [address](std::uint64_t offset, std::span<std::byte> to) { capture::generate(address + offset, to); };
    }
    return [held = std::make_shared<const Content>(content)](std::uint64_t offset, std::span<std::byte> to) {
        const auto from = held->bytes();
        if (offset >= from.size()) return;
        std::memcpy(to.data(), from.data() + offset, std::min<std::size_t>(from.size() - offset, to.size()));
    };
}

/// name, bytes, address, content
using BufferRow = std::tuple<std::string, std::uint64_t, std::optional<std::uint64_t>, nb::object>;
/// offset, value, buffer
using ArgumentRow = std::tuple<std::uint64_t, nb::bytes, std::optional<std::size_t>>;

device::Dim3 dimensions(const Three& three) { return {three[0], three[1], three[2]}; }

HeldLaunch launch_of(nb::bytes code, const std::string& kernel, const std::string& origin, const Three& grid,
                     const Three& block, std::uint64_t dynamic_shared, const std::optional<Three>& cluster,
                     bool cooperative, const std::vector<ArgumentRow>& arguments,
                     const std::vector<BufferRow>& buffers) {
    launch::Launch launch{.code = std::string(code.c_str(), code.size()),
                          .kernel = kernel,
                          .origin = origin,
                          .grid = dimensions(grid),
                          .block = dimensions(block),
                          .dynamic_shared = dynamic_shared,
                          .cooperative = cooperative,
                          .results = {}};
    if (cluster) launch.cluster = dimensions(*cluster);
    for (const auto& [offset, value, buffer] : arguments) {
        const auto* const begin = reinterpret_cast<const std::byte*>(value.c_str());
        launch.arguments.push_back({.offset = offset, .bytes = {begin, begin + value.size()}, .buffer = buffer});
    }
    std::uint64_t generated = 0;  // different buffers have different contents
    for (const auto& [name, bytes, address, content] : buffers) {
        const FillPart part = filler_of(content, generated);
        std::function<void(std::span<std::byte>)> whole;
        if (part) whole = [part](std::span<std::byte> to) { part(0, to); };
        launch.buffers.push_back({.name = name,
                                  .bytes = bytes,
                                  .address = address,
                                  .variable = {},
                                  .fill = std::move(whole),
                                  .fill_part = part,
                                  .made_up = content.is_none() || nb::isinstance<nb::str>(content)});
        generated += bytes;
    }
    return {std::move(launch), nullptr};
}

using SharedCapture = std::shared_ptr<const capture::Capture>;

struct HeldCapture {
    SharedCapture capture;
};

nb::dict row_of(const capture::Capture& captured, const capture::Launch& launch) {
    const auto* const shape = launch.kernel ? &*launch.kernel : nullptr;
    std::optional<std::string> kernel;
    if (shape != nullptr) kernel = captured.kernels[static_cast<std::size_t>(shape->kernel)].name;
    return Rows()
        .row("kernel", kernel)
        .row("grid", shape != nullptr ? std::optional(shape->grid) : std::nullopt)
        .row("block", shape != nullptr ? std::optional(shape->block) : std::nullopt)
        .row("dynamic_shared_bytes", shape != nullptr ? std::optional(shape->shared_bytes) : std::nullopt)
        .row("stream", launch.stream)
        .row("start_microseconds", launch.start_us)
        // A time that may hold waiting for the host is not that of the kernel.
        .row("microseconds", launch.host_wait_us ? std::nullopt : launch.us)
        .row("has_memory", launch.buffers.has_value())
        .row("has_results", launch.results.has_value())
        .dict();
}

nb::list rows_of_launches(const HeldCapture& held) {
    nb::list rows;
    for (const auto& launch : held.capture->launches) rows.append(row_of(*held.capture, launch));
    return rows;
}

HeldLaunch captured(const HeldCapture& held, std::size_t number) {
    if (number >= held.capture->launches.size())
        throw InputError(fmt::format("launch {}: {} has {} launches, counted from 0", number,
                                     held.capture->folder.string(), held.capture->launches.size()));
    return {launch::captured_launch(*held.capture, held.capture->launches[number]), held.capture};
}

nb::dict shape_of(const HeldLaunch& held) {
    const auto& launch = held.launch;
    return Rows()
        .row("kernel", launch.kernel)
        .row("grid", std::array{launch.grid.x, launch.grid.y, launch.grid.z})
        .row("block", std::array{launch.block.x, launch.block.y, launch.block.z})
        .row("dynamic_shared_bytes", launch.dynamic_shared)
        .dict();
}

std::string_view text_of(const nb::bytes& code) { return {code.c_str(), code.size()}; }

}  // namespace

void bind_launches(nb::module_& module) {
    nb::class_<HeldLaunch>(module, "Launch")
        .def_static("of", launch_of, nb::arg("code"), nb::arg("kernel"), nb::arg("origin"), nb::arg("grid"),
                    nb::arg("block"), nb::arg("dynamic_shared"), nb::arg("cluster").none(), nb::arg("cooperative"),
                    nb::arg("arguments"), nb::arg("buffers"))
        .def("shape", shape_of);
    nb::class_<HeldCapture>(module, "Capture")
        .def_static(
            "load",
            [](const std::string& folder) {
                return HeldCapture{std::make_shared<const capture::Capture>(capture::load(folder))};
            },
            nb::arg("folder"))
        .def("launches", rows_of_launches)
        .def("launch", captured, nb::arg("number"));
    module.def(
        "kernels_in",
        [](const nb::bytes& code, const std::string& origin) {
            return object_of(launch::kernels_in(text_of(code), origin));
        },
        nb::arg("code"), nb::arg("origin"));
    module.def(
        "kernel_code",
        [](const nb::bytes& code, const std::string& name, const std::string& origin) {
            return object_of(launch::kernel_code(text_of(code), name, origin));
        },
        nb::arg("code"), nb::arg("name"), nb::arg("origin"));
}

}  // namespace gputomo::python
