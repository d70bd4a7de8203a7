#include "sim/machine_code/printing.hpp"

#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/unknown_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace gputomo::sim::machine_code {
namespace {

/// Longest text that is read of a thread's memory; a longer one has no end there.
constexpr std::size_t kLongestText = std::size_t{1} << 16;

template <class T>
T value_at(Warp& warp, std::uint64_t address, int lane) {
    T value;
    std::memcpy(&value, generic_bytes(warp, address, sizeof value, lane), sizeof value);
    return value;
}

std::string text_at(Warp& warp, std::uint64_t address, int lane) {
    std::string text;
    for (;; ++address) {
        const char next = value_at<char>(warp, address, lane);
        if (next == '\0') return text;
        if (text.size() == kLongestText)
            throw LaneFault(lane, fmt::format("printf of a text of more than {} bytes at {:#x}", kLongestText,
                                              address - kLongestText));
        text += next;
    }
}

/// A conversion of a format, such as "%-5.2f".
struct Conversion {
    std::string flags;        ///< with width and precision, of which stars are left in place
    std::string_view length;  ///< "h", "l", "ll" or ""
    char kind = 0;
    std::size_t bytes = 0;  ///< in the format
};

constexpr std::string_view kFlags = "-+ #0123456789.*";
constexpr std::string_view kIntegers = "diouxX", kFloats = "eEfFgGaA", kOthers = "cps";

/// The conversion at the beginning of `format`, which begins with '%'.
Conversion conversion_at(std::string_view format) {
    Conversion found;
    std::size_t at = 1;
    while (at < format.size() && kFlags.find(format[at]) != std::string_view::npos) found.flags += format[at++];
    for (const std::string_view length : {"h", "ll", "l"})
        if (format.substr(at).starts_with(length)) {
            found.length = length;
            at += length.size();
            break;
        }
    if (at < format.size()) found.kind = format[at++];
    found.bytes = at;
    return found;
}

/// Arguments lie one behind the other, each at a multiple of its size.
class Arguments {
public:
    Arguments(Warp& warp, std::uint64_t address, int lane) : warp_(warp), address_(address), lane_(lane) {}

    template <class T>
    T next() {
        address_ = (address_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        const T value = value_at<T>(warp_, address_, lane_);
        address_ += sizeof(T);
        return value;
    }

private:
    Warp& warp_;
    std::uint64_t address_;
    int lane_;
};

template <class... T>
std::string printed(const std::string& format, T... values) {
    const int size = std::snprintf(nullptr, 0, format.c_str(), values...);
    // A text that is longer than all that is kept is cut here, and not kept then.
    const std::size_t most = Printed::kMost + 1, length = static_cast<std::size_t>(std::max(size, 0));
    std::string text(std::min(length, most) + 1, '\0');
    std::snprintf(text.data(), text.size(), format.c_str(), values...);
    text.pop_back();
    return text;
}

std::string integer_text(const Conversion& conversion, const std::string& flags, Arguments& arguments) {
    const bool is_signed = conversion.kind == 'd' || conversion.kind == 'i';
    const std::string format = "%" + flags + "ll" + conversion.kind;
    if (conversion.length.starts_with('l')) return printed(format, arguments.next<long long>());
    const auto word = arguments.next<std::uint32_t>();
    if (conversion.length == "h")
        return printed(format, is_signed ? static_cast<long long>(static_cast<std::int16_t>(word))
                                         : static_cast<long long>(static_cast<std::uint16_t>(word)));
    return printed(format,
                   is_signed ? static_cast<long long>(static_cast<std::int32_t>(word)) : static_cast<long long>(word));
}

/// The text of one conversion whose arguments come next.
std::string converted(Warp& warp, const Conversion& conversion, Arguments& arguments, int lane) {
    std::string flags;
    for (const char flag : conversion.flags)
        flags += flag == '*' ? std::to_string(arguments.next<std::int32_t>()) : std::string(1, flag);
    if (kIntegers.find(conversion.kind) != std::string_view::npos) return integer_text(conversion, flags, arguments);
    if (kFloats.find(conversion.kind) != std::string_view::npos)
        return printed("%" + flags + conversion.kind, arguments.next<double>());
    switch (conversion.kind) {
        case 'c': return printed("%" + flags + "c", arguments.next<int>());
        case 'p': return printed("%" + flags + "p", std::bit_cast<const void*>(arguments.next<std::uint64_t>()));
        default: break;
    }
    const auto address = arguments.next<std::uint64_t>();
    const std::string text = address == 0 ? "(null)" : text_at(warp, address, lane);
    return printed("%" + flags + "s", text.c_str());
}

/// Whether a GPU's printf knows it. It prints other ones as they stand in the format, and takes no argument for them.
bool takes_argument(const Conversion& conversion) {
    if (conversion.kind == 0 || conversion.flags.find(".*") != std::string::npos) return false;
    return kIntegers.find(conversion.kind) != std::string_view::npos ||
           kFloats.find(conversion.kind) != std::string_view::npos ||
           kOthers.find(conversion.kind) != std::string_view::npos;
}

}  // namespace

void Printed::add(std::string_view text) {
    if (lost_ == 0 && text_.size() + text.size() <= kMost)
        text_ += text;
    else
        ++lost_;
}

std::int32_t print(Warp& warp, int lane, std::uint64_t format_at, std::uint64_t arguments_at) {
    if (format_at == 0) return -1;
    const bool keeps = warp.block->printed != nullptr;
    if (keeps && warp.unknown != nullptr)
        throw NeedsProducts("what a thread prints may depend on a product of matrices");
    const std::string format = text_at(warp, format_at, lane);
    Arguments arguments(warp, arguments_at, lane);
    std::string text;
    std::int32_t count = 0;
    for (std::string_view left = format; !left.empty();) {
        const std::size_t plain = std::min(left.find('%'), left.size());
        text += left.substr(0, plain);
        left.remove_prefix(plain);
        if (left.empty()) break;
        const Conversion conversion = conversion_at(left);
        if (takes_argument(conversion)) {
            count += 1 + static_cast<std::int32_t>(std::ranges::count(conversion.flags, '*'));
            if (keeps) text += converted(warp, conversion, arguments, lane);
        } else {
            text += conversion.kind == '%' ? std::string_view("%") : left.substr(0, conversion.bytes);
        }
        left.remove_prefix(conversion.bytes);
    }
    if (keeps) warp.block->printed->add(text);
    return count;
}

}  // namespace gputomo::sim::machine_code
