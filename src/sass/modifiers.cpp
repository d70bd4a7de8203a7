#include "sass/modifiers.hpp"

#include "sass/operations.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

namespace gputomo::sass {
namespace {

struct Vocabulary {
    std::string_view name;
    std::string_view texts;
};

constexpr Vocabulary kVocabularies[] = {
#define X(name, texts) {#name, texts},
    GPUTOMO_SASS_MODIFIERS(X)
#undef X
};

constexpr std::string_view kOperations[] = {
#define X(name) #name,
    GPUTOMO_SASS_OPERATIONS(X)
#undef X
};

/// The texts of all modifiers, by value.
class Texts {
public:
    Texts() {
        for (std::size_t i = 0; i < std::size(kVocabularies); ++i) {
            auto rest = kVocabularies[i].texts;
            for (auto end = rest.find('|'); end != std::string_view::npos; end = rest.find('|')) {
                texts_[i].push_back(rest.substr(0, end));
                rest.remove_prefix(end + 1);
            }
            texts_[i].push_back(rest);
        }
    }
    [[nodiscard]] const std::vector<std::string_view>& of(Modifier modifier) const {
        return texts_[static_cast<std::size_t>(modifier)];
    }

private:
    std::array<std::vector<std::string_view>, std::size(kVocabularies)> texts_;
};

const std::vector<std::string_view>& texts_of(Modifier modifier) {
    static const Texts texts;
    return texts.of(modifier);
}

}  // namespace

std::string_view name_of(Modifier modifier) { return kVocabularies[static_cast<std::size_t>(modifier)].name; }

std::string_view text_of(Modifier modifier, std::uint64_t value) {
    const auto& texts = texts_of(modifier);
    return value < texts.size() ? texts[value] : "!";
}

int width_of(Modifier modifier) { return static_cast<int>(std::bit_width(texts_of(modifier).size() - 1)); }

std::string_view name_of(Operation operation) { return kOperations[static_cast<std::size_t>(operation)]; }

}  // namespace gputomo::sass
