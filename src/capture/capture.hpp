// A capture: the kernels that a program launched, with their code, parameters and memory. docs/capture.md describes
// the folder that holds one.
#pragma once

#include "capture/texture_names.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::capture {

/// The value of the field `schema`, which names the version of the format.
inline constexpr std::string_view kSchema = "gputomo-capture-1";
inline constexpr const char* kIndexFile = "capture.json";

struct Gpu {
    std::string name, uuid;
    int sm = 0;  ///< compute capability, 90 for 9.0
    int multiprocessors = 0;
    int clock_khz = 0, memory_clock_khz = 0;  ///< the highest ones, as the driver states them
    std::uint64_t memory_bytes = 0;
    int driver = 0;  ///< version of CUDA that the driver supports, 13000 for 13.0
};

struct Process {
    std::uint64_t pid = 0;
    std::vector<std::string> command;
};

/// Machine code or PTX.
struct Module {
    std::string sha256;
    std::string file;    ///< below the folder
    std::string format;  ///< "cubin" or "ptx"
    std::uint64_t bytes = 0;
};

struct Kernel {
    std::string name;           ///< as in the module
    std::string readable;       ///< demangled
    std::optional<int> module;  ///< index of Capture::modules
    std::string missing;        ///< why there is no module
};

struct Parameter {
    std::uint64_t offset = 0;  ///< in the kernel's parameter space
    std::string bytes;         ///< the value
};

/// What one launch of a kernel asks for.
struct Shape {
    int kernel = 0;  ///< index of Capture::kernels
    std::array<std::uint32_t, 3> grid{}, block{};
    std::optional<std::array<std::uint32_t, 3>> cluster;
    std::uint32_t shared_bytes = 0;  ///< dynamic
    bool cooperative = false;
    /// nullopt where the driver is too old to say how large parameters are.
    std::optional<std::vector<Parameter>> parameters;
};

/// A part of a buffer's content.
struct Content {
    std::uint64_t offset = 0, bytes = 0;
    /// Eight bytes that repeat, the first at `offset`; else the content is in a file, unless it is generated.
    std::optional<std::uint64_t> fill;
    std::string file;      ///< below the folder, compressed with zlib
    std::uint64_t at = 0;  ///< position in the decompressed file
    /// Bytes in the file that repeat, the first at `offset`; 0 where the file has all of the content.
    std::uint64_t period = 0;
    bool generated = false;  ///< generated_word() stands for what a reduction left out
};

/// What stands for data that a reduction left out: normal numbers whether it is read as single, half or bfloat16, or as
/// double precision. `address` is that of the word, a multiple of four.
[[nodiscard]] constexpr std::uint32_t generated_word(std::uint64_t address) {
    // The finalizer of MurmurHash3 spreads the number of the word over the fractions of two half-precision numbers.
    std::uint64_t mixed = address / 4;
    mixed = (mixed ^ mixed >> 33) * 0xff51afd7ed558ccd;
    mixed = (mixed ^ mixed >> 33) * 0xc4ceb9fe1a85ec53;
    constexpr std::uint32_t kOnes = 0x3f803c00, kFractions = 0x007f03ff;
    return kOnes | (static_cast<std::uint32_t>(mixed >> 32) & kFractions);
}

/// Memory that a launch's parameters point into, directly or through other buffers, as it was before the launch.
struct Buffer {
    /// "device", "host" (pinned), "variable" (of a module) or "array", which has an address in the capture alone.
    std::string space;
    std::string name;  ///< of a variable
    std::uint64_t address = 0, bytes = 0;
    std::vector<Content> content;
    std::string omitted;  ///< why there is no content
};

/// A texture object that exists when a kernel is launched. Its memory is in a buffer of the launch.
struct Texture {
    std::uint64_t handle = 0;
    TextureMemory memory = TextureMemory::linear;
    std::uint64_t address = 0;  ///< of the first texel
    std::uint32_t format = 0;   ///< CUarray_format
    std::uint32_t channels = 0;
    std::uint64_t width = 0, height = 0, depth = 0;  ///< texels, rows and slices or layers; 0 where there are none
    std::uint64_t pitch = 0;                         ///< bytes from one row to the next
    bool layered = false;
    std::array<TextureOutside, 3> outside{};  ///< by dimension
    bool linear_filter = false;
    bool normalized = false;                ///< coordinates from 0 to 1
    bool as_integer = false;                ///< integers are not made floats
    std::array<std::uint32_t, 4> border{};  ///< bits of the color's floats
};

/// An executable graph. Its kernels are in an order in which it may run them.
struct Graph {
    struct Node {
        Shape shape;
        std::vector<int> after;  ///< indices of earlier nodes that it waits for
    };
    std::vector<Node> nodes;
    std::map<int, int> others;  ///< nodes that are not kernels: CUgraphNodeType and how many
};

/// The bytes from an address on that generated_word() stands for.
void generate(std::uint64_t address, std::span<std::byte> out);

/// What a reduction kept of a launch's memory.
struct Reduction {
    std::uint64_t instructions = 0;  ///< warp instructions that it executed, before and after
    std::uint64_t bytes = 0;         ///< of memory with content, before
    std::uint64_t kept = 0;          ///< bytes with their own content
    std::string whole;               ///< why all of it is kept; empty where it is reduced
    /// Why it is not certain that the launch executes the same as before; empty where it was tried.
    std::string unproven;
    /// How far what it executes differs from what it did; empty where it is the same.
    std::string approximate;
};

struct Launch {
    int process = 0;
    std::optional<int> gpu;
    int stream = 0;  ///< 0 is the legacy default stream
    int thread = 0;
    double host_us = 0;  ///< when the program asked for it
    /// Since the first launch of the process, and how long it took, both by events of the GPU.
    std::optional<double> start_us, us;
    /// `us` contains waiting for the host, at most this long: the GPU was ready before the launch reached it.
    std::optional<double> host_wait_us;
    std::vector<std::uint64_t> after;  ///< launches of other streams that it waits for
    std::optional<Shape> kernel;       ///< either a kernel
    std::optional<int> graph;          ///< or an index of Capture::graphs
    std::optional<std::vector<Buffer>> buffers;
    /// With `buffers`: the texture objects of the program.
    std::vector<Texture> textures;
    /// Memory after the launch, where it was asked for.
    std::optional<std::vector<Buffer>> results;
    std::string no_buffers;  ///< why a launch that was selected has none
    std::optional<Reduction> reduction;
};

/// A file with contents of memory.
struct MemoryFile {
    std::string file;
    std::uint64_t bytes = 0;  ///< after decompression
};

/// The gputomo that writes a capture, and when.
struct Writer {
    std::string version, commit;
    std::string date;  ///< UTC
};

/// What --max-memory left out.
struct MemoryLimit {
    std::uint64_t bytes = 0;           ///< that a process may store
    std::uint64_t launches = 0;        ///< with a buffer that has no content for this reason
    std::uint64_t first = 0;           ///< of these launches, where there are any
    std::uint64_t bytes_left_out = 0;  ///< of these buffers; some may be equal to others
};

/// What a capture says first.
struct Header {
    Writer writer;
    std::vector<std::string> command;  ///< the recorded program with its arguments
    int exit_code = 0;                 ///< of the program, or 128 and the number of the signal that ended it
    double wall_seconds = 0;
    std::optional<MemoryLimit> memory_limit;  ///< nullopt in older captures, and where no memory was to be stored
};

struct Capture {
    Header header;
    std::vector<Gpu> gpus;
    std::vector<Process> processes;
    std::vector<Module> modules;
    std::vector<Kernel> kernels;
    std::vector<Graph> graphs;
    std::vector<MemoryFile> memory;
    std::vector<Launch> launches;

    std::filesystem::path folder;  ///< that it was read from
};

/// Reads DIR/capture.json and checks that what it names exists. Throws InputError that names file, field, what was
/// expected and what was found.
[[nodiscard]] Capture load(const std::filesystem::path& folder);

/// Reads and checks the index alone. `origin` is the name of the file.
[[nodiscard]] Capture from_json(std::string_view text, std::string_view origin);
[[nodiscard]] std::string to_json(const Capture& capture);

/// Why a buffer has no content where the limit was reached.
inline constexpr std::string_view kOmittedByLimit = "memory limit";
/// Counts what the limit left out.
void count_left_out(const Capture& capture, MemoryLimit& limit);

/// The code of a module. Throws InputError when the file is missing or is not the one that was captured.
[[nodiscard]] std::string read_module(const Capture& capture, const Module& module);

/// Reads contents of memory; keeps the file that was read last, because neighbours often lie in one.
class MemoryReader {
public:
    explicit MemoryReader(const Capture& capture) : capture_(capture) {}

    /// The bytes of a buffer. Throws InputError when its content was omitted or a file is damaged.
    [[nodiscard]] std::string read(const Buffer& buffer);
    /// Writes the bytes of a buffer to `to`, which has Buffer::bytes bytes.
    void read(const Buffer& buffer, std::span<std::byte> to);

private:
    const std::string& file(const std::string& name);

    const Capture& capture_;
    std::string name_, content_;
};

}  // namespace gputomo::capture
