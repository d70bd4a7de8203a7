// Parts of an answer's page. Each is empty where the answer does not have what it shows.
#pragma once

#include "answer/answer.hpp"
#include "pages/answer_page.hpp"

#include <string>
#include <string_view>

namespace gputomo::pages {

/// Widths of pictures in SVG units, which are about pixels: on a wide page and on a phone.
inline constexpr double kWidePicture = 760, kNarrowPicture = 340;

/// "12.3 GB" and the like, with prefixes of the SI.
[[nodiscard]] std::string quantity(double value, std::string_view unit);

/// "4.2%", with a digit more below a percent, so that a small share is not zero.
[[nodiscard]] std::string percent(double share);

/// A class of the style sheet that has the colour of a reason.
[[nodiscard]] std::string_view stall_class(costs::Stall stall);

// ---- numbers.cpp
[[nodiscard]] std::string cards(const answer::Answer& answer);
[[nodiscard]] std::string time_finding(const answer::Answer& answer);
[[nodiscard]] std::string time_bar(const answer::Answer& answer);
[[nodiscard]] std::string bounds(const answer::Answer& answer);
[[nodiscard]] std::string advice(const answer::Answer& answer, std::size_t most);
[[nodiscard]] std::string rates(const answer::Answer& answer);
[[nodiscard]] std::string occupancy(const answer::Answer& answer);
[[nodiscard]] std::string sensitivity(const answer::Answer& answer);
[[nodiscard]] std::string differences(const answer::Answer& answer);
[[nodiscard]] std::string warnings(const answer::Answer& answer);
[[nodiscard]] std::string assumptions(const answer::Answer& answer, const PageContext& context);

// ---- code.cpp
[[nodiscard]] std::string stall_finding(const answer::Answer& answer);
[[nodiscard]] std::string instruction_finding(const answer::Answer& answer);
[[nodiscard]] std::string stalls(const answer::Answer& answer, bool explained);
[[nodiscard]] std::string lines(const answer::Answer& answer);
[[nodiscard]] std::string instructions(const answer::Answer& answer);

// ---- roofline.cpp, memory_chart.cpp, timeline.cpp: pictures in SVG
[[nodiscard]] std::string roofline(const answer::Answer& answer, const machine::Machine* machine);
[[nodiscard]] std::string memory_chart(const answer::Answer& answer);
[[nodiscard]] std::string timeline(const answer::Answer& answer);

}  // namespace gputomo::pages
