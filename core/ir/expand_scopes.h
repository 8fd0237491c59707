// The names with a % in front: buffers, views, tokens, and where they can be
// seen (rules 4 and 6). One table by StringId, with what each scope changed.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ir/expanded.h"

namespace stave {

// Why a view may not be written.
enum class Access : std::uint8_t { Writable, In, Constant };

struct NamedView {
  View view;
  Access access = Access::Writable;
};

class Scopes {
 public:
  // Token scopes own `%t[e]`; iterations are a repeat's or a `when` body.
  enum class Kind : std::uint8_t { Function, Body, Iteration };

  struct Binding {
    enum class Kind : std::uint8_t { None, View, Token, Tokens };
    Kind kind = Kind::None;
    std::uint32_t function = 0;  // how many functions deep; others do not see it
    std::uint32_t id = 0;
    Loc loc = no_loc;
  };

  explicit Scopes(std::size_t names) : bindings_(names) {}

  void enter(Kind kind) {
    if (depth_ == scopes_.size()) scopes_.emplace_back();
    Scope& scope = scopes_[depth_++];
    scope.kind = kind;
    scope.views = views_.size();
    scope.changes.clear();
    if (kind == Kind::Function) ++function_;
  }

  void leave() {
    Scope& scope = scopes_[--depth_];
    for (std::size_t i = scope.changes.size(); i-- > 0;) {
      auto& [name, before] = scope.changes[i];
      Binding& now = bindings_[name.value];
      if (now.kind == Binding::Kind::Tokens) {
        families_[now.id].clear();
        free_families_.push_back(now.id);
      }
      now = before;
    }
    views_.resize(scope.views);
    if (scope.kind == Kind::Function) --function_;
  }

  // What the name is here; none if it cannot be seen.
  const Binding* find(StringId name) const {
    const Binding& b = bindings_[name.value];
    return b.kind != Binding::Kind::None && b.function == function_ ? &b : nullptr;
  }
  const NamedView& view(const Binding& b) const { return views_[b.id]; }
  TokenId token(const Binding& b, std::int64_t index) const {
    const auto& family = families_[b.id];
    const auto found = family.find(index);
    return found == family.end() ? TokenId{} : found->second;
  }

  // The name must be free here: find() was none.
  void define_view(StringId name, const NamedView& view, Loc loc) {
    bind(depth_ - 1, name, {Binding::Kind::View, function_, static_cast<std::uint32_t>(views_.size()), loc});
    views_.push_back(view);
  }
  void define_token(StringId name, TokenId token, Loc loc) {
    bind(depth_ - 1, name, {Binding::Kind::Token, function_, token.value, loc});
  }
  // Belongs to the enclosing function or body; the name is free or a family already.
  void define_indexed_token(StringId name, std::int64_t index, TokenId token, Loc loc) {
    const Binding* b = find(name);
    if (!b) {
      std::size_t scope = depth_ - 1;
      while (scopes_[scope].kind == Kind::Iteration) --scope;
      if (free_families_.empty()) {
        free_families_.push_back(static_cast<std::uint32_t>(families_.size()));
        families_.emplace_back();
      }
      bind(scope, name, {Binding::Kind::Tokens, function_, free_families_.back(), loc});
      free_families_.pop_back();
      b = find(name);
    }
    families_[b->id].emplace(index, token);
  }

 private:
  struct Scope {
    Kind kind = Kind::Function;
    std::size_t views = 0;
    std::vector<std::pair<StringId, Binding>> changes;
  };

  void bind(std::size_t scope, StringId name, const Binding& binding) {
    scopes_[scope].changes.emplace_back(name, bindings_[name.value]);
    bindings_[name.value] = binding;
  }

  std::vector<Binding> bindings_;  // by StringId
  std::vector<Scope> scopes_;      // the first depth_ are open; the others keep their memory
  std::size_t depth_ = 0;
  std::uint32_t function_ = 0;
  std::vector<NamedView> views_;
  std::vector<std::unordered_map<std::int64_t, TokenId>> families_;
  std::vector<std::uint32_t> free_families_;
};

}  // namespace stave
