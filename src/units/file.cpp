#include "units/file.hpp"

#include "units/error.hpp"

#include <algorithm>
#include <array>
#include <fstream>

namespace gputomo {

std::string read_file(const std::filesystem::path& file, std::string_view expected, std::size_t largest) {
    constexpr std::size_t kPiece = std::size_t{64} << 10;
    const auto refuse = [&](const std::string& why) {
        throw InputError(file.string() + ": " + why + "; expected " + std::string(expected));
    };
    std::error_code error;
    std::ifstream in(file, std::ios::binary);
    if (std::filesystem::is_directory(file, error)) refuse("is a folder");
    if (!in) refuse("cannot be opened");
    std::string text;
    std::array<char, kPiece> piece;
    while (in.read(piece.data(), kPiece) || in.gcount() > 0) {
        text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > largest) refuse("is larger than " + std::to_string(largest >> 20) + " MiB");
    }
    return text;
}

}  // namespace gputomo
