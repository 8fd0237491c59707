// Rule 4: every token is started once and done once, where its scope allows.
#include "core/ir/verify_state.h"

namespace stave {
namespace {

class Tokens {
 public:
  explicit Tokens(Verification& v) : v_(v), scope_of_(v.e.tokens.size(), none) {}

  void run() {
    scopes_.push_back({none, false, {}});
    scope(v_.e.body, 0);
    if (!v_.e.tokens.empty() && !v_.full())
      for (const Token& t : v_.e.tokens)
        if (t.start && !t.done) never_done(t);
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Scope {
    std::uint32_t outer = none;
    bool branches = false;  // a region of cond, switch or while
    std::string_view op;
  };

  std::string name(const Token& t) const { return fmt::format("%{}", t.name ? v_.e.module->text(t.name) : "?"); }

  void never_done(const Token& t) { v_.problem(v_.e[t.start], "STV0420", "the token {} is never done", name(t)); }

  void scope(CommandRegionId id, std::uint32_t here) {
    for (const CommandId at : v_.e.regions[id].commands) {
      const Command& c = v_.e[at];
      if (std::holds_alternative<AsyncDone>(c.payload)) done(c, here);
      for (const CommandRegionId region : c.regions) {
        const bool async = std::holds_alternative<AsyncStart>(c.payload);
        const bool branches = std::holds_alternative<Cond>(c.payload) || std::holds_alternative<Switch>(c.payload) ||
                              std::holds_alternative<While>(c.payload);
        if (!async && !branches) {
          scope(region, here);
          continue;
        }
        const auto inner = static_cast<std::uint32_t>(scopes_.size());
        scopes_.push_back({here, branches, info_of(kind_of_payload(c.payload)).name});
        scope(region, inner);
      }
      if (std::holds_alternative<AsyncStart>(c.payload) && c.token) scope_of_[c.token.value] = here;
    }
  }

  void done(const Command& c, std::uint32_t here) {
    const Token& t = v_.e.tokens[c.token];
    const std::uint32_t started = scope_of_[c.token.value];
    if (started == none) {
      v_.problem(c, "STV0422", "the token {} is done before it is started", name(t));
      return;
    }
    std::uint32_t at = here;
    while (at != started && at != none && !scopes_[at].branches) at = scopes_[at].outer;
    if (at == started) return;
    const Loc start = t.start ? v_.e.module->ops[v_.e[t.start].op].loc : no_loc;
    if (at == none) {
      v_.problem(c, "STV0423", "the token {} is started in a body that has ended, and must be done in it", name(t));
      v_.note("STV0423", "started here", start);
      return;
    }
    v_.problem(c, "STV0421", "the token {} must not be done in a region of {} below the scope it is started in",
               name(t), scopes_[at].op);
    v_.note("STV0421", "started here", start);
  }

  Verification& v_;
  std::vector<std::uint32_t> scope_of_;  // by TokenId; none: not started yet
  std::vector<Scope> scopes_;
};

}  // namespace

void check_tokens(Verification& v) { Tokens(v).run(); }

}  // namespace stave
