// How a published value is got from a scan: a small language over measured leaves and traces (docs/papers.md).
//   caches.texture_l1.capacity / caches.texture_l1.ways
//   clock.scope == 'tpc' and not (shared.latency > 40)
//   caches.l2.latency / of('GTX 780', caches.l2.latency)
//   max(mix_estimate('sim', 'global', 32) / mix_rate('global', 32))
//   predict('vector_add', 'latency') - launch.block_replacement
//   first_above(column('tlb', 'tlb/global', 'size'), column('tlb', 'tlb/global', 'latency'), 460)
// An expression sees only what experiments found, never a machine description.
#pragma once

#include "reproduce/expression/predict_functions.hpp"
#include "reproduce/expression/value.hpp"
#include "reproduce/measured/mixes.hpp"
#include "scan/runner.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::reproduce {

struct MixFunction;

/// By name of the GPU, as the paper has it.
using Scans = std::map<std::string, scan::Scan>;

class Expression {
public:
    struct Node;

    /// Throws InputError that quotes the text, says at which character it goes wrong and what was expected; also for a
    /// leaf that no machine description has and a function that does not exist. `listings` are those that predict() may
    /// name.
    explicit Expression(std::string_view text, const Listings& listings = {});

    [[nodiscard]] const std::string& text() const { return text_; }
    struct Reads {
        std::set<std::string> leaves;       ///< paths
        std::set<std::string> experiments;  ///< ids of those whose traces are read
        std::set<Mix> mixes;
        std::set<std::string> kernels;  ///< ids of real kernels
    };
    /// By name of the GPU; "" for the one that the expression is evaluated for.
    [[nodiscard]] const std::map<std::string, Reads>& reads() const { return reads_; }
    /// What is read of `of`, evaluated for `gpu`.
    [[nodiscard]] Reads reads_of(const std::string& of, const std::string& gpu) const;

    /// Ids of the performance models that it asks. Such an expression holds the built-in model against the paper, with
    /// measured or printed parameters.
    [[nodiscard]] const std::set<std::string>& models() const { return models_; }
    /// Whether it asks them, or what `gputomo predict` goes by. It may need nothing of a scan.
    [[nodiscard]] bool asks_models() const { return !models_.empty() || asks_prediction_; }

    /// Throws NotMeasured, or InputError for values that an operator or a function does not take.
    [[nodiscard]] Value evaluate(const Scans& scans, const std::string& gpu) const;

    struct Node {
        enum class Kind { number, text, leaf, call };
        Kind kind = Kind::number;
        double number = 0;
        std::string name;  ///< text, path or function; operators are functions such as "+" and "not"
        std::vector<Node> arguments;
    };

private:
    void collect(const Node& node, const std::string& gpu);
    void collect_call(const Node& node, const std::string& gpu);
    static void collect_mixes(const MixFunction& function, const Node& node, Reads& reads);

    std::string text_;
    Node root_;
    std::map<std::string, Reads> reads_;
    std::set<std::string> models_;
    bool asks_prediction_ = false;
};

}  // namespace gputomo::reproduce
