// Products: matmul, tensordot, Einstein's summation, convolutions.
#include <algorithm>
#include <map>

#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"

namespace weft {
namespace {

// The dims of a product of sums over `axes`: those that lead, then what is left of each operand.
Dims product_dims(const Tensor& lhs, const Tensor& rhs, const Ints& lhs_axes, const Ints& rhs_axes,
                  const Ints& lhs_batch, const Ints& rhs_batch) {
  Dims dims;
  for (int64_t axis : lhs_batch) dims.push_back(lhs.dims()[static_cast<size_t>(axis)]);
  const auto add_free = [&](const Tensor& x, const Ints& axes, const Ints& batch) {
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      if (std::find(axes.begin(), axes.end(), axis) == axes.end() &&
          std::find(batch.begin(), batch.end(), axis) == batch.end())
        dims.push_back(x.dims()[static_cast<size_t>(axis)]);
  };
  add_free(lhs, lhs_axes, lhs_batch);
  add_free(rhs, rhs_axes, rhs_batch);
  return dims;
}

// dot_general: batch dims, then the free dims of lhs, then those of rhs. Booleans multiply and add as truth values.
Tensor contract(const Tensor& lhs, const Tensor& rhs, const Ints& lhs_axes, const Ints& rhs_axes,
                const Ints& lhs_batch = {}, const Ints& rhs_batch = {}) {
  if (is_bool(lhs.dtype()))
    return cast_to(
        contract(cast_to(lhs, DType::i32), cast_to(rhs, DType::i32), lhs_axes, rhs_axes, lhs_batch, rhs_batch),
        DType::boolean);
  for (size_t i = 0; i < lhs_axes.size(); ++i) {
    const Dim &left = lhs.dims()[static_cast<size_t>(lhs_axes[i])],
              &right = rhs.dims()[static_cast<size_t>(rhs_axes[i])];
    if (!(left == right))
      fail(ErrorKind::value, "contract_shapes", "shapes ", tuple_text(lhs.dims()), " and ", tuple_text(rhs.dims()),
           " not aligned: ", left, " (dim ", lhs_axes[i], ") != ", right, " (dim ", rhs_axes[i], ")");
  }
  if (lhs.type().count().is(0) || rhs.type().count().is(0))
    return zeros(product_dims(lhs, rhs, lhs_axes, rhs_axes, lhs_batch, rhs_batch), lhs.dtype());
  return apply(Op::dot_general, {lhs, rhs},
               {{Attr::lhs_batching_dimensions, lhs_batch},
                {Attr::rhs_batching_dimensions, rhs_batch},
                {Attr::lhs_contracting_dimensions, lhs_axes},
                {Attr::rhs_contracting_dimensions, rhs_axes}});
}

// The place-th axis of rhs, counted from the last, is summed over with the last of lhs: extents of 1 do not stretch.
void require_core_dims(const Tensor& lhs, const Tensor& rhs, int64_t place) {
  if (lhs.rank() == 0 || rhs.rank() < place)
    fail(ErrorKind::value, "core_dims", "operands lack dimensions that are summed over: shapes ",
         tuple_text(lhs.dims()), " and ", tuple_text(rhs.dims()));
  const Dim &left = lhs.dims().back(), &right = rhs.dims()[static_cast<size_t>(rhs.rank() - place)];
  if (!(left == right))
    fail(ErrorKind::value, "core_dims", "Input operand 1 has a mismatch in its core dimension 0: shapes ",
         tuple_text(lhs.dims()), " and ", tuple_text(rhs.dims()), " (size ", right, " is different from ", left, ")");
}

// Both of the dtype in which NumPy multiplies them.
std::pair<Tensor, Tensor> factors(const Tensor& lhs, const Tensor& rhs) {
  const DType dtype = result_type(std::vector<Tensor>{lhs, rhs});
  return {cast_to(lhs, dtype), cast_to(rhs, dtype)};
}

// Axes are labelled by letters; those of ellipses by numbers that count from the last.
using Labels = std::vector<int>;
struct Term {
  Labels labels;
  Tensor tensor;
  const Dim& extent(int label) const {
    return tensor.dims()[static_cast<size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin())];
  }
  bool has(int label) const { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
};

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

Labels labels_of(std::string_view text, int64_t ellipsis, std::string_view subscripts) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    bool letter = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
    if (letter) {
      labels.push_back(text[i]);
    } else if (text.find("...") == i) {
      for (int64_t k = ellipsis; k > 0; --k) labels.push_back(static_cast<int>(-k));
      i += 2;
    } else {
      fail(ErrorKind::value, "einsum_text", "'", subscripts, "' has a ", std::string_view(&text[i], 1),
           " where a label must be");
    }
  }
  return labels;
}

struct Subscripts {
  std::vector<Labels> inputs;
  Labels result;
};

Subscripts parsed(std::string_view given, const std::vector<Tensor>& operands) {
  std::string text(given);
  std::erase(text, ' ');
  size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  Subscripts subscripts;
  int64_t widest = 0;
  for (size_t i = 0; i <= left.size(); ++i) {
    size_t end = std::min(left.find(',', i), left.size());
    std::string_view part = left.substr(i, end - i);
    bool dots = part.find("...") != part.npos;
    size_t at = subscripts.inputs.size();
    if (at == operands.size())
      fail(ErrorKind::value, "einsum_operands", "'", given, "' names more operands than ", operands.size());
    int64_t fill = operands[at].rank() - static_cast<int64_t>(part.size() - (dots ? 3 : 0));
    if (fill < 0 || (fill > 0 && !dots))
      fail(ErrorKind::value, "einsum_rank", "'", part, "' does not fit an operand ", operands[at].type());
    subscripts.inputs.push_back(labels_of(part, fill, given));
    widest = std::max(widest, fill);
    i = end;
  }
  if (subscripts.inputs.size() != operands.size())
    fail(ErrorKind::value, "einsum_operands", "'", given, "' names ", subscripts.inputs.size(), " operands, got ",
         operands.size());
  std::map<int, int> counts;
  for (const Labels& labels : subscripts.inputs)
    for (int label : labels) ++counts[label];
  if (arrow != text.npos) {
    subscripts.result = labels_of(std::string_view(text).substr(arrow + 2), widest, given);
    if (widest > 0 && !has(subscripts.result, -1))
      fail(ErrorKind::value, "einsum_output", "the output of '", given, "' lacks the axes of its ellipsis");
  } else {
    for (auto [label, count] : counts)
      if (label < 0 || count == 1) subscripts.result.push_back(label);
  }
  std::map<int, int> once;
  for (int label : subscripts.result)
    if (!counts.count(label) || once[label]++)
      fail(ErrorKind::value, "einsum_output", "output subscripts of '", given,
           "' must each be once in the output and occur in an input");
  return subscripts;
}

// The diagonal of every label that stands twice.
Term unrepeated(Term term) {
  for (size_t i = 0; i < term.labels.size();) {
    const int label = term.labels[i];
    const auto first = term.labels.begin() + static_cast<int64_t>(i),
               second = std::find(first + 1, term.labels.end(), label);
    const auto j = static_cast<size_t>(second - term.labels.begin());
    if (second == term.labels.end()) {
      ++i;
      continue;
    }
    const Dims& dims = term.tensor.dims();
    if (!(dims[i] == dims[j]))
      fail(ErrorKind::value, "einsum_extent", "dimensions of one label differ: ", dims[i], " and ", dims[j]);
    term.tensor = diagonal(term.tensor, 0, static_cast<int64_t>(i), static_cast<int64_t>(j));
    term.labels.erase(second);
    term.labels.erase(first);
    term.labels.push_back(label);
    i = 0;
  }
  return term;
}

// Sums over labels that nothing else needs, and drops extents of 1 that meet larger ones: NumPy broadcasts them.
Term reduced(const Term& term, const Labels& needed, const Term* other) {
  Ints summed;
  Dims dims;
  Term result;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    int label = term.labels[i];
    bool meets = other && other->has(label);
    if (!meets && !has(needed, label)) {
      summed.push_back(static_cast<int64_t>(i));
    } else if (!(meets && term.tensor.dims()[i].is(1) && !other->extent(label).is(1))) {
      result.labels.push_back(label);
      dims.push_back(term.tensor.dims()[i]);
    }
  }
  result.tensor = summed.empty() ? term.tensor : apply(Op::sum, {term.tensor}, {{Attr::axes, summed}});
  result.tensor = reshape(result.tensor, dims);
  return result;
}

Term product_of(const Term& left, const Term& right, const Labels& needed) {
  Term lhs = reduced(left, needed, &right), rhs = reduced(right, needed, &left);
  Ints sums[2], batches[2];
  Term result;
  Labels free;
  for (int label : lhs.labels) {
    if (!rhs.has(label)) {
      free.push_back(label);
      continue;
    }
    bool batch = has(needed, label);
    if (batch) result.labels.push_back(label);
    for (int side = 0; side < 2; ++side) {
      const Labels& labels = side ? rhs.labels : lhs.labels;
      (batch ? batches : sums)[side].push_back(std::find(labels.begin(), labels.end(), label) - labels.begin());
    }
  }
  for (int label : rhs.labels)
    if (!lhs.has(label)) free.push_back(label);
  result.labels.insert(result.labels.end(), free.begin(), free.end());
  result.tensor = contract(lhs.tensor, rhs.tensor, sums[0], sums[1], batches[0], batches[1]);
  return result;
}

Tensor summation(std::string_view subscripts, const std::vector<Tensor>& operands) {
  Subscripts names = parsed(subscripts, operands);
  DType dtype = result_type(operands);
  std::vector<Term> terms;
  for (size_t i = 0; i < operands.size(); ++i)
    terms.push_back(unrepeated({names.inputs[i], cast_to(operands[i], dtype)}));
  Term total = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    Labels needed = names.result;
    for (size_t j = i + 1; j < terms.size(); ++j)
      needed.insert(needed.end(), terms[j].labels.begin(), terms[j].labels.end());
    total = product_of(total, terms[i], needed);
  }
  total = reduced(total, names.result, nullptr);
  Ints order;
  for (int label : names.result)
    order.push_back(std::find(total.labels.begin(), total.labels.end(), label) - total.labels.begin());
  return transpose(total.tensor, order);
}

}  // namespace

Tensor matmul(const Tensor& lhs, const Tensor& rhs, Where where) {
  return recorded("matmul", where, [&] {
    require_core_dims(lhs, rhs, rhs.rank() > 1 ? 2 : 1);
    const auto [left, right] = factors(lhs, rhs);
    const DType inner = is_bool(left.dtype()) ? DType::i32 : left.dtype();
    return cast_to(apply(Op::matmul, {cast_to(left, inner), cast_to(right, inner)}), left.dtype());
  });
}

Tensor dot(const Tensor& lhs, const Tensor& rhs, Where where) {
  return recorded("dot", where, [&] {
    if (lhs.rank() == 0 || rhs.rank() == 0) return lhs * rhs;
    const auto [left, right] = factors(lhs, rhs);
    return contract(left, right, {lhs.rank() - 1}, {std::max<int64_t>(rhs.rank() - 2, 0)});
  });
}

Tensor inner(const Tensor& lhs, const Tensor& rhs, Where where) {
  return recorded("inner", where, [&] {
    if (lhs.rank() == 0 || rhs.rank() == 0) return lhs * rhs;
    const auto [left, right] = factors(lhs, rhs);
    return contract(left, right, {lhs.rank() - 1}, {rhs.rank() - 1});
  });
}

Tensor vdot(const Tensor& lhs, const Tensor& rhs, Where where) {
  return recorded("vdot", where, [&] { return dot(ravel(is_complex(lhs.dtype()) ? conj(lhs) : lhs), ravel(rhs)); });
}

namespace {

Tensor along_last(std::string_view function, std::string_view subscripts, const Tensor& lhs, const Tensor& rhs,
                  int64_t place, Where where) {
  return recorded(function, where, [&] {
    require_core_dims(lhs, rhs, place);
    const auto [left, right] = factors(lhs, rhs);
    return summation(subscripts, {is_complex(left.dtype()) && function != "matvec" ? conj(left) : left, right});
  });
}

}  // namespace

Tensor vecdot(const Tensor& lhs, const Tensor& rhs, Where where) {
  return along_last("vecdot", "...i,...i->...", lhs, rhs, 1, where);
}
Tensor matvec(const Tensor& lhs, const Tensor& rhs, Where where) {
  return along_last("matvec", "...ij,...j->...i", lhs, rhs, 1, where);
}
Tensor vecmat(const Tensor& lhs, const Tensor& rhs, Where where) {
  return along_last("vecmat", "...i,...ij->...j", lhs, rhs, 2, where);
}

Tensor outer(const Tensor& lhs, const Tensor& rhs, Where where) {
  return recorded("outer", where, [&] { return reshape(ravel(lhs), {-1, 1}) * ravel(rhs); });
}

Tensor tensordot(const Tensor& lhs, const Tensor& rhs, const Ints& lhs_axes, const Ints& rhs_axes, Where where) {
  return recorded("tensordot", where, [&] {
    if (lhs_axes.size() != rhs_axes.size())
      fail(ErrorKind::value, "tensordot_axes", "shape-mismatch for sum: axes ", tuple_text(lhs_axes), " and ",
           tuple_text(rhs_axes), " of shapes ", tuple_text(lhs.dims()), " and ", tuple_text(rhs.dims()));
    Ints axes[2];
    for (int64_t axis : lhs_axes) axes[0].push_back(one_axis(axis, lhs.rank()));
    for (int64_t axis : rhs_axes) axes[1].push_back(one_axis(axis, rhs.rank()));
    const auto [left, right] = factors(lhs, rhs);
    return contract(left, right, axes[0], axes[1]);
  });
}

Tensor einsum(std::string_view subscripts, const std::vector<Tensor>& operands, Where where) {
  return recorded("einsum", where, [&] { return summation(subscripts, operands); });
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Convolution& options, Where where) {
  return recorded("conv2d", where, [&] {
    if (x.rank() != 4 || weight.rank() != 4)
      fail(ErrorKind::value, "window_rank", "takes images and weights of 4 dimensions, got ", x.type(), " and ",
           weight.type());
    if (options.padding.size() != 2)
      fail(ErrorKind::value, "window_padding", "padding must be two numbers, got ", options.padding);
    DType dtype = result_type(std::vector<Tensor>{x, weight});
    int64_t high = options.padding[0], wide = options.padding[1];
    Ints spatial{2, 3};
    return apply(Op::convolution, {cast_to(x, dtype), cast_to(weight, dtype)},
                 {{Attr::input_batch_dimension, int64_t{0}},
                  {Attr::input_feature_dimension, int64_t{1}},
                  {Attr::input_spatial_dimensions, spatial},
                  {Attr::kernel_output_feature_dimension, int64_t{0}},
                  {Attr::kernel_input_feature_dimension, int64_t{1}},
                  {Attr::kernel_spatial_dimensions, spatial},
                  {Attr::output_batch_dimension, int64_t{0}},
                  {Attr::output_feature_dimension, int64_t{1}},
                  {Attr::output_spatial_dimensions, spatial},
                  {Attr::window_strides, options.stride},
                  {Attr::padding, Ints{high, high, wide, wide}},
                  {Attr::rhs_dilation, options.dilation},
                  {Attr::feature_group_count, options.groups},
                  {Attr::batch_group_count, int64_t{1}}});
  });
}

}  // namespace weft
