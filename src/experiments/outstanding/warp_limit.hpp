// How many loads one warp can have in flight (its scoreboard), whatever the SM's table holds.
#pragma once

#include "experiments/outstanding/setup.hpp"

namespace gputomo::experiments::outstanding {

/// Reports issue.scoreboard_loads and, where no limit shows, issue.scoreboard_at_least. Sets `setup.warp_loads`.
void find_warp_limit(Setup& setup);

}  // namespace gputomo::experiments::outstanding
