// How a published value is got from a scan: a small language over measured leaves and traces (docs/papers.md).
//   caches.texture_l1.capacity / caches.texture_l1.ways
//   clock.scope == 'tpc' and not (shared.latency > 40)
//   first_above(column('tlb', 'tlb/global', 'size'), column('tlb', 'tlb/global', 'latency'), 460)
// An expression sees only what experiments found, never a machine description.
#pragma once

#include "reproduce/value.hpp"
#include "scan/runner.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::reproduce {

class Expression {
public:
    struct Node;

    /// Throws InputError that quotes the text, says at which character it goes wrong and what was expected; also for a leaf
    /// that no machine description has and a function that does not exist.
    explicit Expression(std::string_view text);

    [[nodiscard]] const std::string& text() const { return text_; }
    /// Paths of all leaves and ids of all experiments whose traces are read.
    [[nodiscard]] const std::set<std::string>& leaves() const { return leaves_; }
    [[nodiscard]] const std::set<std::string>& experiments() const { return experiments_; }

    /// Throws NotMeasured, or InputError for values that an operator or a function does not take.
    [[nodiscard]] Value evaluate(const scan::Scan& scan) const;

    struct Node {
        enum class Kind { number, text, leaf, call };
        Kind kind = Kind::number;
        double number = 0;
        std::string name;  ///< text, path or function; operators are functions such as "+" and "not"
        std::vector<Node> arguments;
    };

private:
    void collect(const Node& node);

    std::string text_;
    Node root_;
    std::set<std::string> leaves_;
    std::set<std::string> experiments_;
};

}  // namespace gputomo::reproduce
