#include "core/ir/expand_tokens.h"

namespace stave {

Result<TokenId> TokenNames::start(const Op& op) {
  const Module& m = names_->module();
  const Scopes::Binding* b = scopes_->find(op.result);
  const TokenId token = tokens_->add({{}, {}, op.result});
  starts_.push_back(op.loc);
  dones_.push_back(no_loc);
  if (b && (b->kind != Scopes::Binding::Kind::Tokens || !op.result_index)) {
    Failure out = names_->fail(op.loc, "STV0226", "%{} is already defined here", m.text(op.result));
    out.problems[0].notes.push_back({"by this", m.place(b->loc)});
    return out;
  }
  if (!op.result_index) {
    scopes_->define_token(op.result, token, op.loc);
    return token;
  }
  TRY(const std::int64_t index, names_->integer(op.result_index));
  if (b)
    if (const TokenId before = scopes_->token(*b, index)) {
      Failure out = names_->fail(op.loc, "STV0230", "%{}[{}] is started twice", m.text(op.result), index);
      out.problems[0].notes.push_back({"first here", m.place(starts_[before.value])});
      return out;
    }
  scopes_->define_indexed_token(op.result, index, token, op.loc);
  return token;
}

Result<TokenId> TokenNames::done(const Op& op) {
  const Module& m = names_->module();
  const ViewRef& ref = m.views[op.operands[0]];
  const std::string_view name = m.text(ref.value);
  const Scopes::Binding* b = scopes_->find(ref.value);
  if (b && b->kind == Scopes::Binding::Kind::View)
    return names_->fail(ref.loc, "STV0228", "%{} is a buffer or view, expected a token", name);
  if (ref.indices.size() > 1 || ref.as || (!ref.indices.empty() && m.indices[ref.indices[0]].kind != Index::Kind::At))
    return names_->fail(ref.loc, "STV0228", "a token has at most one index, such as %{}[s]", name);
  TokenId token;
  std::int64_t index = 0;
  const bool indexed = !ref.indices.empty();
  if (indexed) {
    TRY(index, names_->integer(m.indices[ref.indices[0]].begin));
    if (b && b->kind == Scopes::Binding::Kind::Token)
      return names_->fail(ref.loc, "STV0228", "the token %{} has no index", name);
    if (b) token = scopes_->token(*b, index);
  } else {
    if (b && b->kind == Scopes::Binding::Kind::Tokens)
      return names_->fail(ref.loc, "STV0228", "the tokens %{} have an index, such as %{}[s]", name, name);
    if (b) token = TokenId{b->id};
  }
  if (token && dones_[token.value] == no_loc) {
    dones_[token.value] = op.loc;
    return token;
  }
  const std::string text = indexed ? fmt::format("%{}[{}]", name, index) : fmt::format("%{}", name);
  if (!token)
    return names_->fail(ref.loc, "STV0229", "async_done waits for {}, which is not started before it here", text);
  Failure out = names_->fail(ref.loc, "STV0231", "{} is done twice", text);
  out.problems[0].notes.push_back({"first here", m.place(dones_[token.value])});
  return out;
}

}  // namespace stave
