#include "capture/interposer/journal.hpp"

#include "capture/interposer/text.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>

namespace gputomo::capture {
namespace {

const char* variable(const char* name) { return std::getenv(name); }

/// The arguments that the process was started with, as a JSON list.
std::string command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    std::string list;
    for (std::size_t at = 0; at < all.size();) {
        const std::string argument = all.c_str() + at;
        list += (list.empty() ? "" : ",") + JsonLine::quoted(argument);
        at += argument.size() + 1;
    }
    return "[" + list + "]";
}

/// A new file that this process alone writes; -1 where there can be none.
int create(const std::string& name) { return ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644); }

/// Whether all was written.
bool write_all(int file, const char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t written = ::write(file, data, size);
        if (written <= 0) return false;
        data += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

/// Bytes of the journal that are mapped at a time: a few thousand launches.
constexpr std::size_t kWindow = std::size_t{1} << 20;

/// Processes of one machine have different IDs, but one process may become several programs.
constexpr int kMostPrograms = 1000;

}  // namespace

Settings::Settings() {
    if (const char* text = variable(kFolderVariable)) folder = text;
    if (const char* text = variable(kKernelVariable))
        matches_all = regcomp(&kernels, text, REG_EXTENDED | REG_NOSUB) != 0;
    if (const char* text = variable(kMemoryVariable)) memory = std::strtoull(text, nullptr, 10);
    results = variable(kResultsVariable) != nullptr;
    if (const char* text = variable(kLaunchesVariable)) {
        char* end = nullptr;
        launches.first = std::strtoull(text, &end, 10);
        if (*end == ':') launches.count = std::strtoull(end + 1, nullptr, 10);
    }
}

bool Settings::records(const std::string& kernel) const {
    return matches_all || regexec(&kernels, kernel.c_str(), 0, nullptr, 0) == 0;
}

Journal::Journal(const Settings& settings) : folder_(settings.folder) {
    if (folder_.empty()) return;
    for (int i = 0; lines_ < 0 && i < kMostPrograms; ++i) {
        suffix_ = std::to_string(getpid()) + "-" + std::to_string(i);
        lines_ = create(folder_ + "/" + kJournalPrefix + suffix_);
    }
    if (lines_ < 0) return;
    data_ = create(folder_ + "/" + kDataPrefix + suffix_);
    write(JsonLine("process")
              .add("pid", static_cast<int>(getpid()))
              .raw("command", command_line())
              .add("data", kDataPrefix + suffix_)
              .add("host_us", now_us())
              .line());
}

bool Journal::next_window() {
    if (window_ != nullptr) {
        munmap(window_, kWindow);
        window_start_ += kWindow;
        window_ = nullptr;
    }
    used_ = 0;
    const auto start = static_cast<off_t>(window_start_);
    // The space is reserved first: writing to a mapped page that the disk has no space for would end the program.
    if (posix_fallocate(lines_, start, kWindow) != 0) return false;
    void* const mapped = mmap(nullptr, kWindow, PROT_READ | PROT_WRITE, MAP_SHARED, lines_, start);
    if (mapped == MAP_FAILED) return false;
    window_ = static_cast<char*>(mapped);
    return true;
}

void Journal::write(std::string_view line) {
    const std::scoped_lock guard(lock_);
    while (lines_ >= 0 && !line.empty() && !full_) {
        if ((window_ == nullptr || used_ == kWindow) && !next_window()) {
            full_ = true;
            return;
        }
        const auto part = line.substr(0, kWindow - used_);
        std::memcpy(window_ + used_, part.data(), part.size());
        used_ += part.size();
        line.remove_prefix(part.size());
    }
}

std::uint64_t Journal::append(std::span<const std::byte> content) {
    const std::uint64_t at = data_bytes_;
    write_all(data_, reinterpret_cast<const char*>(content.data()), content.size());
    data_bytes_ += content.size();
    return at;
}

std::string Journal::write_image(std::span<const std::byte> bytes) {
    const std::string name = kImagePrefix + suffix_ + "-" + std::to_string(images_++);
    const int file = create(folder_ + "/" + name);
    if (file < 0) return {};
    const bool whole = write_all(file, reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ::close(file);
    return whole ? name : std::string();
}

double now_us() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

}  // namespace gputomo::capture
