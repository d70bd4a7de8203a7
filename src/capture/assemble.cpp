#include "capture/assemble.hpp"

#include "capture/decompress.hpp"
#include "capture/fatbin.hpp"
#include "capture/folder.hpp"
#include "capture/journal_reader.hpp"
#include "capture/protocol.hpp"
#include "sass/cubin.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <span>
#include <utility>

namespace gputomo::capture {
namespace {

namespace fs = std::filesystem;

/// Bytes of memory in one file, before compression. Larger files are slower to read where few bytes are wanted.
constexpr std::uint64_t kMemoryFile = std::uint64_t{4} << 20;
/// The largest journal that is read: a million launches with their parameters.
constexpr std::size_t kLargestJournal = std::size_t{2} << 30;

std::string readable(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    return status == 0 ? text.get() : name;
}

/// Whether code has this kernel.
bool has_kernel(const std::string& code, const std::string& kernel, bool is_ptx) {
    if (is_ptx) return code.find(kernel) != std::string::npos;
    const auto kernels = sass::Cubin(std::as_bytes(std::span(code))).kernels();
    return std::ranges::find(kernels, kernel) != kernels.end();
}

/// Code that a kernel may be in.
struct Code {
    std::string bytes;
    bool is_ptx = false;
};

/// Writes the modules that kernels are in, each once.
class Modules {
public:
    Modules(const fs::path& journals, const fs::path& folder, std::vector<Module>& modules)
        : journals_(journals), folder_(folder), modules_(modules) {}

    /// Sets the kernel's module, or why it has none.
    void find(const JournalKernel& from, Kernel& kernel) {
        if (from.image.empty()) {
            kernel.missing = "the program loaded it in a way that is not recorded";
            return;
        }
        try {
            for (const auto& code : codes(from))
                if (has_kernel(code.bytes, from.name, code.is_ptx)) {
                    kernel.module = write(code);
                    return;
                }
            kernel.missing = fmt::format("its module has no code for sm_{}", from.sm);
        } catch (const InputError& e) {
            kernel.missing = e.what();
        }
    }

private:
    const std::vector<Code>& codes(const JournalKernel& from) {
        auto [at, is_new] = codes_.try_emplace({from.image, from.sm});
        if (is_new) at->second = read(from);
        return at->second;
    }

    std::vector<Code> read(const JournalKernel& from) const {
        const std::string image = read_file(journals_ / from.image, "a module");
        const auto bytes = std::as_bytes(std::span(image));
        switch (image_kind(bytes)) {
            case ImageKind::cubin: return {{image, false}};
            case ImageKind::ptx: return {{image, true}};
            case ImageKind::fatbin: break;
            default: throw InputError("the program loaded code of an unknown kind");
        }
        std::vector<Code> all;
        for (const auto& member : candidates(members(bytes), from.sm))
            all.push_back({payload(member), member.kind == FatbinMember::Kind::ptx});
        for (auto& code : all)
            if (code.is_ptx) code.bytes.resize(std::min(code.bytes.size(), code.bytes.find('\0')));
        return all;
    }

    int write(const Code& code) { return add_module(folder_, modules_, code.bytes, code.is_ptx ? "ptx" : "cubin"); }

    fs::path journals_, folder_;
    std::vector<Module>& modules_;
    std::map<std::pair<std::string, int>, std::vector<Code>> codes_;
};

/// Writes the contents of memory of one process in files of kMemoryFile bytes, and makes contents refer to them.
class Memory {
public:
    Memory(const fs::path& data, const fs::path& folder, std::vector<MemoryFile>& files) {
        std::ifstream in(data, std::ios::binary);
        std::string piece(kMemoryFile, '\0');
        while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0) {
            const auto content = std::string_view(piece).substr(0, static_cast<std::size_t>(in.gcount()));
            pieces_.push_back(add_memory(folder, files, content, Compression::fast));
        }
    }

    void place(Buffer& buffer) const {
        std::vector<Content> placed;
        for (const auto& part : buffer.content) {
            if (part.fill) {
                placed.push_back(part);
                continue;
            }
            for (std::uint64_t done = 0; done < part.bytes;) {
                const std::uint64_t at = part.at + done, piece = at / kMemoryFile, within = at % kMemoryFile;
                if (piece >= pieces_.size() || within >= pieces_[piece].bytes) {
                    buffer.content.clear();
                    buffer.omitted = "its content was not written completely";
                    return;
                }
                const auto bytes = std::min(part.bytes - done, pieces_[piece].bytes - within);
                placed.push_back(
                    {.offset = part.offset + done, .bytes = bytes, .file = pieces_[piece].file, .at = within});
                done += bytes;
            }
        }
        buffer.content = std::move(placed);
    }

private:
    std::vector<MemoryFile> pieces_;
};

/// Adds what one process recorded to the capture.
class Adder {
public:
    Adder(Capture& capture, const fs::path& journals, const fs::path& folder)
        : capture_(capture), journals_(journals), folder_(folder), modules_(journals, folder, capture.modules) {}

    void add(ProcessJournal journal) {
        const auto first_launch = capture_.launches.size();
        const int first_graph = static_cast<int>(capture_.graphs.size());
        const int process = static_cast<int>(capture_.processes.size());
        capture_.processes.push_back(std::move(journal.process));
        std::vector<int> gpus;
        for (auto& gpu : journal.gpus) gpus.push_back(gpu_number(std::move(gpu)));
        kernels_.clear();
        for (const auto& kernel : journal.kernels) kernels_.push_back(kernel_number(kernel));
        for (auto& graph : journal.graphs) {
            for (auto& node : graph.nodes) node.shape.kernel = kernels_[static_cast<std::size_t>(node.shape.kernel)];
            capture_.graphs.push_back(std::move(graph));
        }
        const Memory memory(journals_ / journal.data, folder_, capture_.memory);
        for (auto& launch : journal.launches) {
            launch.process = process;
            if (launch.gpu) launch.gpu = gpus[static_cast<std::size_t>(*launch.gpu)];
            if (launch.graph) *launch.graph += first_graph;
            if (launch.kernel) launch.kernel->kernel = kernels_[static_cast<std::size_t>(launch.kernel->kernel)];
            for (auto& other : launch.after) other += first_launch;
            for (auto* buffers : {&launch.buffers, &launch.results})
                if (*buffers)
                    for (auto& buffer : **buffers) memory.place(buffer);
            capture_.launches.push_back(std::move(launch));
        }
    }

private:
    int gpu_number(Gpu gpu) {
        const auto known = std::ranges::find_if(
            capture_.gpus, [&](const Gpu& other) { return other.uuid == gpu.uuid && other.name == gpu.name; });
        if (known != capture_.gpus.end()) return static_cast<int>(known - capture_.gpus.begin());
        capture_.gpus.push_back(std::move(gpu));
        return static_cast<int>(capture_.gpus.size()) - 1;
    }

    int kernel_number(const JournalKernel& from) {
        Kernel kernel{from.name, readable(from.name), {}, {}};
        modules_.find(from, kernel);
        const auto known = std::ranges::find_if(capture_.kernels, [&](const Kernel& other) {
            return other.name == kernel.name && other.module == kernel.module;
        });
        if (known != capture_.kernels.end()) return static_cast<int>(known - capture_.kernels.begin());
        capture_.kernels.push_back(std::move(kernel));
        return static_cast<int>(capture_.kernels.size()) - 1;
    }

    Capture& capture_;
    fs::path journals_, folder_;
    Modules modules_;
    std::vector<int> kernels_;  ///< of the process that is being added
};

std::vector<ProcessJournal> read_journals(const fs::path& folder) {
    std::vector<ProcessJournal> all;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (!entry.path().filename().string().starts_with(kJournalPrefix)) continue;
        auto journal =
            read_journal(read_file(entry.path(), "a journal", kLargestJournal), entry.path().filename().string());
        if (!journal.launches.empty()) all.push_back(std::move(journal));
    }
    std::ranges::sort(all, {}, &ProcessJournal::host_us);
    return all;
}

}  // namespace

Capture assemble(const fs::path& journals, const fs::path& folder, Header header) {
    Capture capture;
    capture.header = std::move(header);
    capture.folder = folder;
    make_folders(folder);
    Adder adder(capture, journals, folder);
    for (auto& journal : read_journals(journals)) adder.add(std::move(journal));
    if (auto& limit = capture.header.memory_limit) count_left_out(capture, *limit);
    write_index(folder, capture);
    return capture;
}

}  // namespace gputomo::capture
