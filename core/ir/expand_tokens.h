// Tokens by name: `%t[s] = async_start` and `async_done %t[s]` find each other here.
#pragma once

#include <vector>

#include "core/ir/expand_scopes.h"
#include "core/ir/expand_values.h"

namespace stave {

class TokenNames {
 public:
  TokenNames(Evaluation& names, Scopes& scopes, Store<Token>& tokens)
      : names_(&names), scopes_(&scopes), tokens_(&tokens) {}

  // The new token of an async_start, under its name.
  Result<TokenId> start(const Op& op);
  // The token that an async_done waits for: started before, not yet done.
  Result<TokenId> done(const Op& op);

 private:
  Evaluation* names_;
  Scopes* scopes_;
  Store<Token>* tokens_;
  std::vector<Loc> starts_, dones_;  // by TokenId
};

}  // namespace stave
