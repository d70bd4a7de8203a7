#include "machines.hpp"

#include "answer/described_gpu.hpp"
#include "machine/diff.hpp"
#include "machine/json.hpp"
#include "machine/names.hpp"
#include "machine/paths.hpp"
#include "rows.hpp"
#include "scan/files.hpp"
#include "scan/runner.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

namespace gputomo::python {
namespace {

namespace nb = nanobind;
using machine::Machine;

std::string_view name_of(results::Knowledge knowledge) {
    switch (knowledge) {
        case results::Knowledge::unknown: return "unknown";
        case results::Knowledge::known: return "known";
        case results::Knowledge::absent: return "absent";
        case results::Knowledge::undecided: return "undecided";
    }
    return "unknown";
}

nb::object object_of_value(const results::Value& value) {
    return std::visit([](const auto& held) { return object_of(held); }, value);
}

nb::object objects_of(const std::vector<results::Value>& values) {
    nb::list list;
    for (const auto& value : values) list.append(object_of_value(value));
    return list;
}

/// A leaf as a dict: the rows are the fields of gputomo.Leaf.
nb::dict rows_of(const std::string& path, const machine::FieldInfo& info, const machine::Leaf& leaf) {
    const auto& from = leaf.provenance;
    const bool known = leaf.knowledge == results::Knowledge::known;
    return Rows()
        .row("path", path)
        .row("unit", machine::unit_name(info.unit))
        .row("value", known ? object_of_value(leaf.value) : nb::none())
        .row("knowledge", name_of(leaf.knowledge))
        .row("candidates", objects_of(leaf.candidates))
        .row("interval", from.interval)
        .row("confidence", from.confidence)
        .row("method", from.method)
        .row("source", from.source)
        .row("note", from.note)
        .row("description", info.doc)
        .row("internal", info.internal)
        .dict();
}

/// All leaves that the format has, also those that the description does not know.
nb::list leaves_of(const Machine& machine) {
    nb::list leaves;
    machine::visit_leaves(machine, [&](const std::string& path, const machine::FieldInfo& info, const auto& field) {
        leaves.append(rows_of(path, info,
                              {.knowledge = field.knowledge,
                               .value = field.value,
                               .candidates = {field.candidates.begin(), field.candidates.end()},
                               .provenance = field.provenance}));
    });
    return leaves;
}

nb::dict diff_of(const Machine& a, const Machine& b, double tolerance) {
    const auto found = machine::diff(a, b, {.tolerance = tolerance});
    nb::list differing;
    for (const auto& one : found.differing) {
        const machine::FieldInfo info{.name = {}, .unit = one.unit};
        const auto texts = machine::value_texts(one);
        differing.append(Rows()
                             .row("path", one.path)
                             .row("unit", machine::unit_name(one.unit))
                             .row("a", rows_of(one.path, info, one.a))
                             .row("b", rows_of(one.path, info, one.b))
                             .row("a_text", texts[0])
                             .row("b_text", texts[1])
                             .dict());
    }
    return Rows()
        .row("differing", differing)
        .row("undecided", found.undecided)
        .row("only_a", found.only_a)
        .row("only_b", found.only_b)
        .row("equal", found.equal)
        .dict();
}

}  // namespace

void bind_machines(nb::module_& module) {
    nb::class_<Machine>(module, "Machine")
        .def_static(
            "from_json",
            [](nb::bytes text, const std::string& origin) {
                return machine::from_json(std::string_view(text.c_str(), text.size()), origin);
            },
            nb::arg("text"), nb::arg("origin"))
        .def_static(
            "from_scan",
            [](nb::bytes text, const std::string& origin) {
                return scan::describe(scan::scan_from_json(std::string_view(text.c_str(), text.size()), origin));
            },
            nb::arg("text"), nb::arg("origin"))
        .def("leaves", leaves_of)
        .def("to_json", [](const Machine& machine) { return machine::to_json(machine); });
    nb::class_<answer::DescribedGpu>(module, "Gpu")
        .def(nb::init<const Machine&, std::string>(), nb::arg("machine"), nb::arg("origin"))
        .def("assumed", [](const answer::DescribedGpu& gpu) { return object_of(gpu.assumed()); })
        .def("sm", &answer::DescribedGpu::sm);
    module.def("diff", diff_of, nb::arg("a"), nb::arg("b"), nb::arg("tolerance"));
    module.def(
        "description_named",
        [](const std::string& given, const std::vector<std::pair<std::string, std::string>>& known) {
            std::vector<machine::DescriptionName> names;
            for (const auto& [name, gpu] : known) names.push_back({name, gpu});
            return machine::description_named(given, names);
        },
        nb::arg("given"), nb::arg("known"));
    module.attr("scan_schema") = nb::str(scan::kScanSchema.data(), scan::kScanSchema.size());
}

}  // namespace gputomo::python
