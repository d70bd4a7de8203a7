#include "device/cuda/compiler.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <set>

namespace gputomo::device::cuda {
namespace {

constexpr std::size_t kLogBytes = 16 * 1024;
constexpr std::size_t kMostQuotedLines = 5;
constexpr std::size_t kMostQuotedCharacters = 160;

/// The driver's link state, with the log buffers that it writes to until it is destroyed.
class Link {
public:
    explicit Link(Session& session) : session_(session) {
        std::array options{abi::kJitInfoLogBuffer, abi::kJitInfoLogBufferSize, abi::kJitErrorLogBuffer,
                           abi::kJitErrorLogBufferSize, abi::kJitLogVerbose};
        // Numeric option values are passed in the pointers themselves. The driver may write sizes back into the array.
        values_ = {info_.data(), as_pointer(info_.size()), error_.data(), as_pointer(error_.size()), as_pointer(1)};
        session_.check(
            session_.call().link_create(static_cast<unsigned>(options.size()), options.data(), values_.data(), &state_),
            "cuLinkCreate_v2");
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link() {
        if (session_.try_enter()) session_.call().link_destroy(state_);
    }

    void add_ptx(std::string_view ptx) {
        std::string text(ptx);  // the driver expects a terminating zero and counts it
        const abi::Result result = session_.call().link_add_data(state_, abi::kJitInputPtx, text.data(),
                                                                 text.size() + 1, "kernel.ptx", 0, nullptr, nullptr);
        check(result, "cuLinkAddData_v2", ptx);
    }

    std::vector<std::byte> complete(std::string_view ptx) {
        void* cubin = nullptr;
        std::size_t size = 0;
        check(session_.call().link_complete(state_, &cubin, &size), "cuLinkComplete", ptx);
        std::vector<std::byte> bytes(size);
        if (size > 0) std::memcpy(bytes.data(), cubin, size);
        return bytes;
    }

private:
    static void* as_pointer(std::size_t number) { return reinterpret_cast<void*>(number); }

    void check(abi::Result result, const char* call, std::string_view ptx) {
        if (result == abi::kSuccess) return;
        const std::string log = text_of(error_) + text_of(info_);
        const std::string said = log.empty() ? "the compiler gives no log" : "the compiler says:\n" + log;
        try {
            session_.check(result, call);
        } catch (const DeviceError& error) {
            throw DeviceError(fmt::format("{}; {}\n{}", error.what(), said, quote_lines(log, ptx)));
        }
    }

    static std::string text_of(const std::vector<char>& buffer) {
        return {buffer.begin(), std::find(buffer.begin(), buffer.end(), '\0')};
    }

    Session& session_;
    std::vector<char> info_ = std::vector<char>(kLogBytes);
    std::vector<char> error_ = std::vector<char>(kLogBytes);
    std::array<void*, 5> values_{};
    abi::LinkState state_ = nullptr;
};

std::set<std::size_t> line_numbers(std::string_view log) {
    constexpr std::string_view kMark = "line ";
    std::set<std::size_t> numbers;
    for (std::size_t at = log.find(kMark); at != std::string_view::npos; at = log.find(kMark, at + 1)) {
        std::size_t number = 0;
        const char* const begin = log.data() + at + kMark.size();
        if (std::from_chars(begin, log.data() + log.size(), number).ec == std::errc{}) numbers.insert(number);
    }
    return numbers;
}

std::string_view line_of(std::string_view text, std::size_t number) {
    for (std::size_t line = 1; line < number; ++line) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    return text.substr(0, text.find('\n'));
}

}  // namespace

std::string quote_lines(std::string_view log, std::string_view ptx) {
    std::string quoted;
    std::size_t count = 0;
    for (const std::size_t number : line_numbers(log)) {
        const std::string_view line = number == 0 ? std::string_view{} : line_of(ptx, number);
        if (line.empty()) continue;
        if (count++ == kMostQuotedLines) break;
        quoted += fmt::format("  line {}: {}\n", number, line.substr(0, kMostQuotedCharacters));
    }
    return quoted;
}

std::vector<std::byte> compile(Session& session, std::string_view ptx) {
    session.enter("compiling PTX");
    Link link(session);
    link.add_ptx(ptx);
    return link.complete(ptx);
}

}  // namespace gputomo::device::cuda
