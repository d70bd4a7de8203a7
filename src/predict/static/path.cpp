#include "predict/static/path.hpp"

#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace gputomo::predict {
namespace {

/// The largest trip count that is accepted; a larger one is taken for a typing error.
constexpr double kMostExpectedTrips = 1e12;
/// Deepest nest of loops. No real kernel nests deeper; the limit protects the stack from recursion on damaged input.
constexpr int kMostDepth = 64;

class Walker {
public:
    Walker(const Code& code, const PathChoices& choices) : code_(code), choices_(choices) {
        for (std::size_t i = 0; i < code.instructions.size(); ++i)
            if (code.instructions[i].kind == Kind::branch && code.instructions[i].target <= i)
                back_edges_[code.instructions[i].target].insert(i);
    }

    Path walk() {
        check_labels();
        Path path;
        path.steps = steps(0, code_.instructions.size(), 0);
        if (!unknown_.empty())
            throw InputError(fmt::format("{}: kernel '{}': no trip count for {}; expected {}", code_.origin,
                                         code_.kernel, fmt::join(unknown_, ", "), fmt::join(wanted_, " ")));
        path.assumptions = std::move(assumptions_);
        return path;
    }

private:
    void check_labels() const {
        std::vector<std::string> known;
        for (const auto& [index, label] : code_.labels) known.push_back(label);
        const auto check = [&](const std::string& label, std::string_view option) {
            if (std::find(known.begin(), known.end(), label) == known.end())
                throw InputError(fmt::format("{} {}: kernel '{}' has no such label; expected {}", option, label,
                                             code_.kernel,
                                             known.empty() ? "no such option, the kernel has no labels"
                                                           : fmt::format("one of {}", fmt::join(known, ", "))));
        };
        for (const auto& [label, trips] : choices_.trip_counts) {
            check(label, "--trip-count");
            if (!(trips >= 1 && trips <= kMostExpectedTrips))
                throw InputError(fmt::format("--trip-count {}={}: expected a number from 1 to 1e12", label, trips));
        }
        for (const auto& label : choices_.taken) check(label, "--taken");
        for (const auto& label : choices_.untaken) {
            check(label, "--untaken");
            if (choices_.taken.contains(label))
                throw InputError(fmt::format("--untaken {}: also found with --taken; expected one of them", label));
        }
    }

    [[nodiscard]] std::string label_of(std::size_t index) const {
        const auto label = code_.labels.find(index);
        return label != code_.labels.end() ? label->second : fmt::format("line {}", code_.instructions[index].line);
    }

    /// The last branch before `end` that goes back to `head`.
    [[nodiscard]] std::optional<std::size_t> back_edge_to(std::size_t head, std::size_t end) const {
        const auto edges = back_edges_.find(head);
        if (edges == back_edges_.end()) return std::nullopt;
        const auto behind = edges->second.lower_bound(end);
        if (behind == edges->second.begin()) return std::nullopt;
        return *std::prev(behind);
    }

    double trips_of(std::size_t head) {
        const std::string label = label_of(head);
        if (const auto given = choices_.trip_counts.find(label); given != choices_.trip_counts.end())
            return given->second;
        if (const auto found = code_.trip_counts.find(head); found != code_.trip_counts.end()) return found->second;
        if (std::find(wanted_.begin(), wanted_.end(), fmt::format("--trip-count {}=N", label)) == wanted_.end()) {
            unknown_.push_back(fmt::format("the loop at {} (line {})", label, code_.instructions[head].line));
            wanted_.push_back(fmt::format("--trip-count {}=N", label));
        }
        return 1;
    }

    /// Throws InputError where a forward branch passes over a loop.
    void refuse_loop_under(const Instruction& branch, const std::string& label) const {
        const auto from = static_cast<std::size_t>(&branch - code_.instructions.data());
        const auto loop = back_edges_.upper_bound(from);
        if (loop == back_edges_.end() || loop->first >= branch.target) return;
        throw InputError(fmt::format(
            "{}: kernel '{}': the branch to {} in line {} passes over the loop at {}, so that it decides how long the "
            "kernel takes; expected --taken {} or --untaken {}, or a launch to execute (--grid, --block, --arg)",
            code_.origin, code_.kernel, label, branch.line, label_of(loop->first), label, label));
    }

    bool takes(const Instruction& branch) {
        if (!branch.guarded) return true;
        const std::string label = label_of(branch.target);
        if (choices_.taken.contains(label)) return true;
        if (choices_.untaken.contains(label)) return false;
        if (choices_.refuses_guesses) refuse_loop_under(branch, label);
        const auto text =
            fmt::format("the branch to {} in line {} is not taken (--taken {})", label, branch.line, label);
        if (std::find(assumptions_.begin(), assumptions_.end(), text) == assumptions_.end())
            assumptions_.push_back(text);
        return false;
    }

    /// The steps from `begin` up to `end`, to the end of the thread, or to a jump that leaves the range.
    std::vector<Step> steps(std::size_t begin, std::size_t end, int depth) {
        if (depth > kMostDepth)
            throw InputError(fmt::format("{}: kernel '{}': loops nest more than {} deep; expected fewer", code_.origin,
                                         code_.kernel, kMostDepth));
        std::vector<Step> found;
        for (std::size_t i = begin; i < end && !ended_;) {
            if (const auto back = back_edge_to(i, end)) {
                const double trips = trips_of(i);
                auto body = steps(i, *back, depth + 1);
                body.emplace_back(*back);
                found.emplace_back(std::make_shared<const Loop>(Loop{i, trips, std::move(body)}));
                i = *back + 1;
                continue;
            }
            const Instruction& instruction = code_.instructions[i];
            found.emplace_back(i);
            if (instruction.kind == Kind::exit && !instruction.guarded) {
                ended_ = true;
                break;
            }
            if (instruction.kind != Kind::branch || !takes(instruction)) {
                ++i;
                continue;
            }
            if (instruction.target <= i)
                throw InputError(
                    fmt::format("{}:{}: this branch goes back to code that no loop starts with; expected nested loops",
                                code_.origin, instruction.line));
            i = instruction.target;
        }
        return found;
    }

    const Code& code_;
    const PathChoices& choices_;
    std::map<std::size_t, std::set<std::size_t>> back_edges_;  ///< branches by the instruction that they go back to
    bool ended_ = false;
    std::vector<std::string> unknown_, wanted_, assumptions_;
};

void count(const std::vector<Step>& steps, double times, std::vector<double>& counts) {
    for (const auto& step : steps) {
        if (const auto* index = std::get_if<std::size_t>(&step))
            counts[*index] += times;
        else
            count(std::get<1>(step)->body, times * std::get<1>(step)->trips, counts);
    }
}

}  // namespace

Path path_of(const Code& code, const PathChoices& choices) { return Walker(code, choices).walk(); }

std::vector<double> executions(const Code& code, const Path& path) {
    std::vector<double> counts(code.instructions.size());
    count(path.steps, 1, counts);
    return counts;
}

}  // namespace gputomo::predict
