// report.html: one self-contained file: the GPU as a picture, what was found by subsystem, and the evidence and method
// behind each finding.
#pragma once

#include "machine/machine.hpp"
#include "report/modelled.hpp"
#include "report/parts/text.hpp"
#include "results/estimate.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::report {

/// How an experiment measures, for people.
struct Method {
    std::string id;  ///< of the experiment: "caches"
    std::string title;
    std::string source;       ///< "Wong 2010, IV-G"
    std::string explanation;  ///< a few plain sentences
};

/// Whether the driver compiled a kernel to what was written.
struct CodeCheck {
    std::string experiment;  ///< id
    std::string kernel;
    std::string result;  ///< "passed", "failed", "unavailable"
    std::string expected;
    std::string found;
    std::string listing;  ///< of one that failed
};

/// A GPU of the generation before, to see what changed.
struct Earlier {
    std::string name;
    machine::Machine machine;
};

struct Page {
    std::string device;  ///< "NVIDIA H200 (cuda:0)"
    std::vector<std::string> warnings;
    std::vector<results::Trace> traces;  ///< those with a plot are drawn
    std::vector<Method> methods;         ///< of the experiments that ran
    std::vector<CodeCheck> code_checks;
    std::map<std::string, std::string> experiment_of;  ///< id of the experiment that found a leaf, by path
    std::optional<Earlier> earlier;
    Modelled modelled;  ///< throughputs with models over them; empty where none were measured
};

[[nodiscard]] std::string html(const machine::Machine& machine, const Page& page);

}  // namespace gputomo::report
