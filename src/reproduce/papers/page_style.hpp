// What the pages of reproductions have beside the style of all pages.
#pragma once

#include <string_view>

namespace gputomo::reproduce {

inline constexpr std::string_view kPageStyle =
    "<style>.yes{color:#1d7f3f}.no{color:#c0392b}table.all "
    "td.where{white-space:nowrap}table.rows{table-layout:fixed;min-width:44rem}table.rows "
    "th:first-child{width:25%}table.rows th:nth-child(2),table.rows th:nth-child(3){width:17%}table.rows "
    "th:nth-child(4){width:8.5rem}td{overflow-wrap:anywhere}body:has(#differences:checked) "
    ".agreeing{display:none}label.only{display:block;margin:.6rem "
    "0;font-weight:600}.overview "
    "td.c{width:9rem}.share{display:block;height:.7rem;border-radius:2px;background:#1d7f3f;print-color-adjust:exact}."
    "rest{background:#c0392b;border-radius:"
    "2px;min-width:8rem}@media(prefers-color-scheme:dark){.yes{color:#63c787}.no{color:#ff8a75}}</style>";

}  // namespace gputomo::reproduce
