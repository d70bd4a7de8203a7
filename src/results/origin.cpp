#include "results/origin.hpp"

#include <string_view>

namespace gputomo::results {
namespace {

/// A text by which GPUs are compared.
struct Mark {
    std::string_view what;
    std::string MeasuredGpu::*text;
};
// GPUs of one kind have different UUIDs. Without NVML and on old drivers there is none, and the place on the bus tells
// GPUs of one host apart. The driver is compared because it decides which machine code is measured.
constexpr Mark kMarks[] = {{"name", &MeasuredGpu::name},
                           {"UUID", &MeasuredGpu::uuid},
                           {"driver", &MeasuredGpu::driver},
                           {"CUDA version", &MeasuredGpu::cuda},
                           {"description with SHA-256", &MeasuredGpu::description}};
constexpr Mark kBus{"PCI bus id", &MeasuredGpu::pci_bus_id};

/// The text, of which the first 12 digits are enough where it is a hash.
std::string shown(const std::string& text) {
    constexpr std::size_t kHashDigits = 64, kEnough = 12;
    if (text.size() == kHashDigits) return text.substr(0, kEnough) + "...";
    return text.empty() ? "unknown" : text;
}

void append_part(std::string& text, std::string_view before, const std::string& part) {
    if (!part.empty()) text += std::string(before) + part;
}

}  // namespace

std::string difference(const MeasuredGpu& a, const MeasuredGpu& expected) {
    std::string found;
    const auto compare = [&](const Mark& mark) {
        if (a.*mark.text == expected.*mark.text) return;
        found += std::string(found.empty() ? "" : ", ") + std::string(mark.what) + " " + shown(a.*mark.text) +
                 " instead of " + shown(expected.*mark.text);
    };
    for (const auto& mark : kMarks) compare(mark);
    if (a.uuid.empty() && expected.uuid.empty()) compare(kBus);
    return found;
}

bool is_same_gpu(const MeasuredGpu& a, const MeasuredGpu& b) {
    MeasuredGpu under_other_driver = a;
    under_other_driver.driver = b.driver;
    under_other_driver.cuda = b.cuda;
    return difference(under_other_driver, b).empty();
}

std::string summary(const Origin& origin) {
    std::string text = origin.date + " by gputomo " + origin.version + " (" + origin.commit + ")";
    if (!origin.gpu) return text;
    append_part(text, " on ", origin.gpu->name);
    append_part(text, ", ", origin.gpu->uuid);
    append_part(text, ", driver ", origin.gpu->driver);
    append_part(text, ", description ", origin.gpu->description.substr(0, 12));
    return text;
}

}  // namespace gputomo::results
