// A form of `gputomo export` by the recipe.
#include "exports/exports.hpp"

namespace gputomo::exports {

std::string recipe(const machine::Machine& machine) { return machine.identity.name.value_or("") + "\n"; }

}  // namespace gputomo::exports
