// A small machine description with a leaf of each kind.
#pragma once

#include "machine/machine.hpp"
#include "machine/paths.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gputomo::report::testing {

inline machine::Machine described() {
    using machine::Knowledge;
    machine::Machine m;
    const auto put = [&](const char* path, Knowledge knowledge, machine::Value value, machine::Provenance from) {
        machine::set_leaf(m, path, {knowledge, std::move(value), {}, std::move(from)});
    };
    put("identity.name", Knowledge::known, std::string("R&D <GPU>"), {.source = "Doe 2010, Table <1>"});
    put("shared.latency", Knowledge::known, std::int64_t{38},
        {.method = "chain, one warp", .confidence = 0.95, .interval = {{37.5, 38.5}}, .note = "a & b"});
    put("shared.banks", Knowledge::known, std::int64_t{16},
        {.method = "strides", .confidence = 0.9, .interval = {{16, 16}}});
    put("caches.l2.capacity", Knowledge::absent, {}, {.method = "chase"});
    put("operations[add.f32].throughput", Knowledge::known, 7.25, {.method = "stream"});
    put("paths.global.caches", Knowledge::known, std::vector<std::string>{"l1", "l2"}, {.method = "chase"});
    machine::set_leaf(
        m, "caches.l1.ways",
        {Knowledge::undecided, {}, {std::int64_t{4}, std::int64_t{8}}, {.method = "chase", .confidence = 0.5}});
    return m;
}

}  // namespace gputomo::report::testing
