// An expression says how a value follows from what a scan measured, in a small language over leaves and traces. It sees
// only what experiments found, never a machine description. docs/papers.md explains the language. Examples:
//
//   caches.texture_l1.capacity / caches.texture_l1.ways
//   clock.scope == 'tpc' and not (shared.latency > 40)
//   caches.l2.latency / of('GTX 780', caches.l2.latency)
//   max(mix_estimate('sim', 'global', 32) / mix_rate('global', 32))
//   predict('vector_add', 'latency') - launch.block_replacement
//   first_above(column('tlb', 'tlb/global', 'size'), column('tlb', 'tlb/global', 'latency'), 460)
#pragma once

#include "reproduce/expression/node.hpp"
#include "reproduce/expression/predict_functions.hpp"
#include "reproduce/expression/value.hpp"
#include "reproduce/measured/mixes.hpp"
#include "scan/runner.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace gputomo::reproduce {

struct MixFunction;

/// What was measured of each GPU, by the name that expressions give it.
using Scans = std::map<std::string, scan::Scan>;

class Expression {
public:
    /// Throws InputError as parse() does. `listings` are those that predict() may name.
    explicit Expression(std::string_view text, const Listings& listings = {});

    [[nodiscard]] const std::string& text() const { return text_; }

    /// What has to be measured before the expression has a value.
    struct Reads {
        std::set<std::string> leaves;       ///< paths
        std::set<std::string> experiments;  ///< ids of those whose traces are read
        std::set<Mix> mixes;
        std::set<std::string> kernels;  ///< ids of kernels of kernels/
    };
    /// What is read, by name of the GPU; "" stands for the one that the expression is evaluated for.
    [[nodiscard]] const std::map<std::string, Reads>& reads() const { return reads_; }
    /// What is read of the GPU `of` when the expression is evaluated for `gpu`.
    [[nodiscard]] Reads reads_of(const std::string& of, const std::string& gpu) const;

    /// Ids of the performance models that the expression asks.
    [[nodiscard]] const std::set<std::string>& models() const { return models_; }
    /// Whether the expression asks performance models, or the rules of `gputomo predict`. It may then read nothing of a
    /// scan.
    [[nodiscard]] bool asks_models() const { return !models_.empty() || asks_prediction_; }

    /// Throws NotMeasured where `scans` lack what the expression reads, and InputError for values that an operator or a
    /// function does not take.
    [[nodiscard]] Value evaluate(const Scans& scans, const std::string& gpu) const;

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
