#include "capture/journal_reader.hpp"

#include "capture/json_values.hpp"
#include "capture/texture_json.hpp"
#include "units/error.hpp"
#include "units/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

namespace gputomo::capture {
namespace {

using files::Json;
using files::JsonNode;

/// A list of `count` numbers.
std::vector<std::uint64_t> numbers(const JsonNode& node, std::size_t count) {
    std::vector<std::uint64_t> values;
    for (const auto& element : node.elements()) values.push_back(element.natural());
    if (values.size() != count) node.fail(fmt::format("a list of {} numbers", count));
    return values;
}

class Reader {
public:
    explicit Reader(ProcessJournal& journal) : journal_(journal) {}

    void read(const JsonNode& line) {
        if (const auto node = line.find("process")) return read_process(*node);
        if (const auto node = line.find("gpu")) return read_gpu(*node);
        if (const auto node = line.find("kernel")) return read_kernel(*node);
        if (const auto node = line.find("graph")) return read_graph(*node);
        if (const auto node = line.find("launch")) return read_launch(*node);
        if (const auto node = line.find("time")) return read_time(*node);
        if (const auto node = line.find("results")) return read_results(*node);
        line.fail("process, gpu, kernel, graph, launch, time or results");
    }

    /// Puts the launches in order. Threads write theirs side by side, so lines may be in another one.
    void finish() {
        std::map<std::uint64_t, std::uint64_t> positions;
        for (auto& [id, launch] : launches_) positions.emplace(id, positions.size());
        for (auto& [id, launch] : launches_) {
            if (const auto time = times_.find(id); time != times_.end()) {
                launch.start_us = time->second.start_us;
                launch.us = time->second.us;
                launch.host_wait_us = time->second.host_wait_us;
            }
            const auto asked = std::move(launch.after);
            launch.after.clear();
            for (const auto other : asked)
                if (const auto at = positions.find(other); at != positions.end() && other < id)
                    launch.after.push_back(at->second);
            journal_.launches.push_back(std::move(launch));
        }
    }

private:
    void read_process(const JsonNode& node) {
        journal_.process = {node.at("pid").natural(), node.at("command").texts()};
        journal_.data = node.at("data").text();
        if (journal_.data.find('/') != std::string::npos) node.at("data").fail("a file beside the journal");
        journal_.host_us = node.at("host_us").number();
    }

    void read_gpu(const JsonNode& node) {
        expect_next(node, journal_.gpus.size());
        journal_.gpus.push_back({node.at("name").text(), node.at("uuid").text(), small<int>(node.at("sm")),
                                 small<int>(node.at("multiprocessors")), small<int>(node.at("clock_khz")),
                                 small<int>(node.at("memory_clock_khz")), node.at("memory_bytes").natural(),
                                 small<int>(node.at("driver"))});
    }

    void read_kernel(const JsonNode& node) {
        expect_next(node, journal_.kernels.size());
        JournalKernel kernel{node.at("name").text(), {}, small<int>(node.at("sm"))};
        if (const auto image = node.find("image")) kernel.image = image->text();
        if (kernel.image.find('/') != std::string::npos) node.at("image").fail("a file beside the journal");
        journal_.kernels.push_back(std::move(kernel));
    }

    void read_graph(const JsonNode& node) {
        Graph graph;
        for (const auto& element : node.at("nodes").elements()) {
            Graph::Node made{shape_of(element), {}};
            for (const auto& after : element.at("after").elements()) {
                if (after.natural() >= graph.nodes.size()) after.fail("an earlier node");
                made.after.push_back(static_cast<int>(after.natural()));
            }
            graph.nodes.push_back(std::move(made));
        }
        for (const auto& other : node.at("others").elements()) {
            const auto pair = numbers(other, 2);
            graph.others[static_cast<int>(pair[0])] = static_cast<int>(pair[1]);
        }
        graph_numbers_[node.at("id").natural()] = static_cast<int>(journal_.graphs.size());
        journal_.graphs.push_back(std::move(graph));
    }

    void read_launch(const JsonNode& node) {
        Launch launch;
        const std::uint64_t id = node.at("id").natural();
        const auto gpu = node.at("gpu").number();  // -1 where the driver did not say
        if (gpu >= 0 && gpu < static_cast<double>(journal_.gpus.size())) launch.gpu = static_cast<int>(gpu);
        launch.stream = small<int>(node.at("stream"));
        launch.thread = small<int>(node.at("thread"));
        launch.host_us = node.at("host_us").number();
        if (const auto after = node.find("after"))
            for (const auto& other : after->elements()) launch.after.push_back(other.natural());
        if (const auto graph = node.find("graph")) {
            const auto known = graph_numbers_.find(graph->natural());
            if (known == graph_numbers_.end()) graph->fail("a graph of an earlier line");
            launch.graph = known->second;
        } else {
            launch.kernel = shape_of(node);
        }
        if (const auto buffers = node.find("buffers")) launch.buffers = buffers_of(*buffers);
        if (const auto textures = node.find("textures"))
            for (const auto& texture : textures->elements())
                launch.textures.push_back(texture_of(texture, [](const JsonNode& number) { return number.natural(); }));
        if (const auto reason = node.find("no_buffers")) launch.no_buffers = reason->text();
        if (!launches_.emplace(id, std::move(launch)).second) node.at("id").fail("a number that no other launch has");
    }

    void read_time(const JsonNode& node) {
        auto& time = times_[node.at("launch").natural()];
        time = {node.at("start_us").number(), node.at("us").number(), {}};
        if (const auto waited = node.find("host_wait_us")) time.host_wait_us = waited->number();
    }

    void read_results(const JsonNode& node) {
        const auto launch = launches_.find(node.at("launch").natural());
        if (launch == launches_.end()) node.at("launch").fail("a launch of an earlier line");
        launch->second.results = buffers_of(node.at("buffers"));
    }

    Shape shape_of(const JsonNode& node) const {
        Shape shape;
        if (node.at("kernel").natural() >= journal_.kernels.size())
            node.at("kernel").fail("the number of a kernel of an earlier line");
        shape.kernel = static_cast<int>(node.at("kernel").natural());
        shape.grid = three(node.at("grid"));
        shape.block = three(node.at("block"));
        if (const auto cluster = node.find("cluster")) shape.cluster = three(*cluster);
        shape.shared_bytes = small<std::uint32_t>(node.at("shared"));
        if (const auto cooperative = node.find("cooperative")) shape.cooperative = cooperative->flag();
        if (const auto parameters = node.find("parameters")) {
            shape.parameters.emplace();
            for (const auto& parameter : parameters->elements()) {
                const auto pair = parameter.elements();
                if (pair.size() != 2) parameter.fail("an offset and a value");
                shape.parameters->push_back({pair[0].natural(), bytes_of(pair[1])});
            }
        }
        return shape;
    }

    static std::vector<Buffer> buffers_of(const JsonNode& node) {
        std::vector<Buffer> buffers;
        for (const auto& buffer : node.elements()) buffers.push_back(buffer_of(buffer));
        return buffers;
    }

    static Buffer buffer_of(const JsonNode& node) {
        Buffer buffer;
        buffer.space = node.at("space").text();
        buffer.address = node.at("address").natural();
        buffer.bytes = node.at("bytes").natural();
        if (const auto name = node.find("name")) buffer.name = name->text();
        if (const auto omitted = node.find("omitted")) {
            buffer.omitted = omitted->text();
            return buffer;
        }
        for (const auto& element : node.at("content").elements()) {
            const auto values = numbers(element, 4);
            Content part{values[0], values[1], {}, {}, 0};
            if (values[2] != 0)
                part.fill = values[3];
            else
                part.at = values[3];
            buffer.content.push_back(std::move(part));
        }
        return buffer;
    }

    static void expect_next(const JsonNode& node, std::size_t number) {
        if (node.at("id").natural() != number) node.at("id").fail(fmt::format("{}, the next number", number));
    }

    ProcessJournal& journal_;
    std::map<std::uint64_t, int> graph_numbers_;
    std::map<std::uint64_t, Launch> launches_;
    struct LaunchTime {
        double start_us = 0, us = 0;
        std::optional<double> host_wait_us;
    };
    std::map<std::uint64_t, LaunchTime> times_;
};

}  // namespace

ProcessJournal read_journal(std::string_view text, std::string_view origin) {
    ProcessJournal journal;
    Reader reader(journal);
    std::size_t number = 0;
    text = text.substr(0, text.find('\0'));  // space that the process had reserved and not used
    for (std::size_t start = 0; start < text.size();) {
        const auto end = text.find('\n', start);
        if (end == std::string_view::npos) break;  // the process was killed while it wrote
        const auto where = fmt::format("{}, line {}", origin, ++number);
        const auto json = parse_json<Json>(text.substr(start, end - start), where, "one event");
        reader.read(JsonNode(json, where));
        start = end + 1;
    }
    reader.finish();
    return journal;
}

}  // namespace gputomo::capture
