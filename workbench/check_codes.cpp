#include "workbench/check_codes.h"

#include <algorithm>
#include <cctype>

namespace stave {
namespace {

constexpr Severity error = Severity::Error, warning = Severity::Warning, remark = Severity::Note;

constexpr CheckCode all_codes[] = {
    {"STV1001", error, "a race",
     "Two commands on different streams touch the same bytes, at least one of them writes, and nothing makes one wait "
     "for the other. Which comes first is a matter of timing, so the result is, too."},
    {"STV1002", error, "a read of what nothing wrote",
     "A command reads bytes of scratch or of an `out` parameter that nothing has written. The memory holds whatever "
     "was "
     "there before."},
    {"STV1010", error, "ranks meet in different collectives",
     "The collectives that meet must agree in kind, size, dtype, reduction and root. Where they do not, the ranks "
     "hang, "
     "or the data is silently wrong."},
    {"STV1011", error, "a branch that ranks may leave in different ways",
     "A cond, switch or while decides whether a rank comes to a collective, and nothing proves that its predicate is "
     "equal on all ranks. One rank may wait for another that went the other way."},
    {"STV1013", error, "a send or recv without a partner",
     "A send needs a recv of its peer, and a recv a send. One that has none waits for ever."},
    {"STV1014", error, "a collective that a rank never comes to",
     "All ranks of a collective must issue it equally often. One rank issues fewer, and the others wait for it for "
     "ever."},
    {"STV1020", error, "a deadlock",
     "Ranks wait for each other in a circle: each waits for a command that the next one can only start when its own "
     "wait has ended."},
    {"STV1021", error, "collectives that hold the SMs that others need",
     "A collective holds its SMs while it waits for its peers. Here each rank can start the one that another rank has "
     "no room for, and then none of them ever ends."},
    {"STV1022", warning, "collectives of two communicators in flight together",
     "Two collectives of different communicators may run together, and each rank may start them in another order. If "
     "their kernels do not fit on the SMs beside each other, the ranks hang."},
    {"STV1041", warning, "a collective that holds up work",
     "A collective on the main stream holds up a command that does not need its result. On a stream of its own the two "
     "would run together."},
    {"STV1042", warning, "a wait directly after its start",
     "An async body is awaited before anything else is issued, so nothing runs beside it."},
    {"STV1043", warning, "a wait that is implied",
     "What the token stands for has ended already when the stream comes to the wait, as something before it waits for "
     "the same."},
    {"STV1044", warning, "async bodies in captured_serial",
     "In this mode a graph runs one node after the other, so async bodies do not overlap."},
    {"STV1045", warning, "a copy beside work that is bound by memory",
     "A large copy is to hide behind commands that are bound by memory bandwidth, as it is itself. They share it, so "
     "that little is hidden."},
    {"STV1046", warning, "a loop that blocks the host",
     "In eager mode the host reads the predicate of a `while` in each iteration and waits for all that the stream "
     "holds. "
     "Launches are then no longer ahead of the device."},
    {"STV1090", remark, "an allowance that silences nothing",
     "A comment `// allow STVnnnn: reason` stands at a statement that does not give this code in this mode."},
    {"STV1091", warning, "an allowance without a reason",
     "A comment `// allow STVnnnn` needs a reason behind a colon. Without one the finding still counts."},
    {"STV1099", remark, "not all ways were looked at",
     "The control flow of the schedule has more ways through it than are looked at. What was not found may still be "
     "there."},
};

}  // namespace

std::span<const CheckCode> check_codes() { return all_codes; }

const CheckCode* find_check_code(std::string_view code) {
  const auto at = std::find_if(std::begin(all_codes), std::end(all_codes),
                               [&](const CheckCode& entry) { return entry.code == code; });
  return at == std::end(all_codes) ? nullptr : at;
}

std::string anchor_of(const CheckCode& code) {
  std::string out = std::string(code.code) + "-" + std::string(code.title);
  for (char& c : out) c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::erase_if(out, [](char c) { return c != '-' && c != '_' && !std::isalnum(static_cast<unsigned char>(c)); });
  return out;
}

}  // namespace stave
