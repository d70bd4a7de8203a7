// Exit codes and their meanings. Programs that call gputomo rely on them, so they never change.
#pragma once

#include <string_view>

namespace gputomo::cli {

enum Exit : int { kDone = 0, kFailed = 1, kBadInput = 2, kDeviceFailed = 3, kTimeLimit = 4, kInterrupted = 130 };

struct ExitMeaning {
    Exit code;
    std::string_view meaning;
};
inline constexpr ExitMeaning kExitMeanings[] = {
    {kDone, "done"},
    {kFailed, "something differs, or the command failed"},
    {kBadInput, "the command line or a file is wrong; the message says what is wrong, where, and what was expected"},
    {kDeviceFailed, "the device failed"},
    {kTimeLimit, "a time limit was reached"},
    {kInterrupted, "interrupted (Ctrl-C or SIGTERM); everything measured so far is written beside earlier results"},
};

}  // namespace gputomo::cli
