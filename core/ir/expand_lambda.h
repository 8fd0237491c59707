// The elementwise functions of `map`, from expressions to typed nodes (rule 21).
#pragma once

#include <span>

#include "core/ir/expand_values.h"

namespace stave {

// `body` is a lambda of one name an operand; without operands, an expression.
// Each argument has its operand's dtype; literals, params and indices take the
// dtype of what they meet, or `otherwise` when they meet nothing. Comparisons
// give bool. There is no promotion: mixing dtypes is an error.
Result<Lambda> compile_lambda(Evaluation& names, ExprId body, std::span<const Dtype> operands, Dtype otherwise);

}  // namespace stave
