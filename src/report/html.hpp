// The report of one GPU as one self-contained HTML page: a picture, the findings by subsystem, and the method and
// evidence behind each finding.
#pragma once

#include "machine/machine.hpp"
#include "report/modelled.hpp"
#include "report/parts/text.hpp"
#include "results/trace.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::report {

/// How an experiment measures, in words.
struct Method {
    std::string id;  ///< id of the experiment: "caches"
    std::string title;
    std::string source;       ///< "Wong 2010, IV-G"
    std::string explanation;  ///< a few plain sentences
};

/// The result of comparing the machine code of a kernel with what was written in PTX.
struct CodeCheck {
    std::string experiment;  ///< id
    std::string kernel;
    std::string result;  ///< "passed", "failed", "unavailable"
    std::string expected;
    std::string found;
    std::string listing;  ///< machine code of a kernel whose check failed
};

/// A GPU of the generation before, which the page compares with.
struct Earlier {
    std::string name;
    machine::Machine machine;
};

/// What a page shows beside the machine description.
struct Page {
    std::string device;  ///< "NVIDIA H200 (cuda:0)"
    std::vector<std::string> warnings;
    std::vector<results::Trace> traces;  ///< evidence; those with a plot are drawn
    std::vector<Method> methods;         ///< the methods of the experiments that ran, in their order
    std::vector<CodeCheck> code_checks;
    std::map<std::string, std::string> experiment_of;  ///< id of the experiment that found a leaf, by path
    std::optional<Earlier> earlier;
    Modelled modelled;  ///< throughputs with models over them; empty without a surface
};

[[nodiscard]] std::string html(const machine::Machine& machine, const Page& page);

}  // namespace gputomo::report
