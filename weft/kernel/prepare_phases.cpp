// Transposed convolutions without the zeros between elements.
#include <algorithm>
#include <numeric>

#include "weft/kernel/convolution.h"
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// Of windows over an array with holes every so many elements, the places that see the same elements of the kernel:
// those are first, first + step, …, from this element of the array on, `apart` elements from one to the next.
struct Phase {
  int64_t first = 0, step = 1, count = 0, from = 0, apart = 1;
};

std::vector<Phase> phases_of(const WindowDim& window) {
  int64_t holes = window.base_dilation, by = window.window_dilation, size = window.size.value(),
          low = window.low.value();
  std::vector<Phase> phases;
  for (int64_t place = 0; place < holes; ++place) {
    Phase phase{.step = holes / std::gcd(holes, by), .apart = by / std::gcd(holes, by)};
    while (phase.first < size && (place + phase.first * by - low) % holes != 0) ++phase.first;
    phase.count = (size - phase.first + phase.step - 1) / phase.step;
    phase.from = (place + phase.first * by - low) / holes;
    phases.push_back(phase);
  }
  return phases;
}

// A transposed convolution: each phase of its places is a convolution without holes by a part of the kernel. Where all
// phases see the same elements of the image they are outputs of one.
class Spread {
 public:
  Spread(Builder& build, const Node& node, Value lhs, Value rhs)
      : build_(build), node_(node), c_(build, node, lhs, rhs, false) {}

  Value run() {
    if (!fits()) return {};
    lay_out();
    Value all;
    if (is_one_) {
      c_.kernel = kernels();
      c_.outputs = c_.outputs * Dim(count_);
      all = product();
    } else {
      std::vector<Value> parts;
      Value kernel = c_.kernel;
      for (int64_t i = 0; i < count_; ++i) {
        c_.kernel = part_of(kernel, i);
        take(i);
        parts.push_back(product());
        if (!parts.back()) return {};
      }
      all = build_(Op::concatenate, parts, {{Attr::dimension, int64_t{2}}});
    }
    return all ? interleaved(all) : all;
  }

 private:
  // The phase along dimension `d` of phase number `i` of all.
  const Phase& phase(int64_t i, size_t d) const {
    for (size_t k = phases_.size(); --k > d;) i /= static_cast<int64_t>(phases_[k].size());
    return phases_[d][static_cast<size_t>(i) % phases_[d].size()];
  }

  bool fits() {
    constexpr int64_t most_phases = 16;
    ViewShape whole(c_.kernel.type().dims.size());
    whole.add(c_.out_axis, c_.outputs * Dim(c_.groups), 1);
    c_.add_kernel_window(whole);
    if (!whole.is_whole(c_.kernel.type().dims) || c_.batches > 1 || c_.windows.size() > 3 || node_.type().count().is(0))
      return false;
    for (const WindowDim& window : c_.windows) {
      if (!window.extent.is_static() || !window.size.is_static() || !window.low.is_static() || !window.high.is_static())
        return false;
      if (window.base_dilation > 1 && window.stride > 1) return false;
      phases_.push_back(window.base_dilation > 1 ? phases_of(window)
                                                 : std::vector<Phase>{{.count = window.size.value(),
                                                                       .from = -window.low.value(),
                                                                       .apart = window.window_dilation}});
      count_ *= static_cast<int64_t>(phases_.back().size());
      for (const Phase& phase : phases_.back()) {
        if (phase.count <= 0) return false;
        const Phase& first = phases_.back()[0];
        is_one_ &= phase.count == first.count && phase.from == first.from;
      }
    }
    return count_ <= most_phases && c_.outputs.is_static();
  }

  // Places of each phase, and the image with as much around it as all of them see.
  void lay_out() {
    std::vector<WindowDim> around = c_.windows;
    for (size_t d = 0; d < c_.windows.size(); ++d) {
      WindowDim& window = c_.windows[d];
      auto holes = static_cast<int64_t>(phases_[d].size());
      places_.push_back((window.places().value() + holes - 1) / holes);
      int64_t before = 0, after = 0;
      for (const Phase& phase : phases_[d]) {
        before = std::max(before, -phase.from);
        after = std::max(after, phase.from + (places_[d] - 1) * window.stride + (phase.count - 1) * phase.apart + 1 -
                                    window.extent.value());
      }
      around[d].low = before;
      around[d].high = after;
      around[d].base_dilation = 1;
      before_.push_back(before);
    }
    c_.x = padded(build_, c_.x, build_.scalar(c_.x.type().dtype, 0), around, c_.input_spatial);
    take(0);
  }

  void take(int64_t i) {
    for (size_t d = 0; d < c_.windows.size(); ++d) {
      const Phase& now = phase(i, d);
      int64_t stride = c_.windows[d].stride, reach = (places_[d] - 1) * stride + (now.count - 1) * now.apart + 1;
      c_.windows[d] = {.extent = reach, .size = now.count, .stride = stride, .window_dilation = now.apart};
      c_.starts[d] = before_[d] + now.from;
    }
  }

  Value part_of(Value kernel, int64_t i) {
    Dims start(kernel.type().dims.size(), Dim(0)), limit = kernel.type().dims;
    Ints strides(start.size(), 1);
    for (size_t d = 0; d < phases_.size(); ++d) {
      auto axis = static_cast<size_t>(c_.kernel_spatial[d]);
      start[axis] = phase(i, d).first;
      strides[axis] = phase(i, d).step;
    }
    return build_(Op::slice, {kernel},
                  {{Attr::start_indices, start}, {Attr::limit_indices, limit}, {Attr::strides, strides}});
  }

  // Those of all phases: (group * phase * outputs, …).
  Value kernels() {
    std::vector<Value> parts;
    Dims dims;
    for (int64_t i = 0; i < count_; ++i) {
      Value part = part_of(c_.kernel, i);
      dims = part.type().dims;
      dims[0] = c_.outputs;
      dims.insert(dims.begin(), {Dim(c_.groups), Dim(1)});
      parts.push_back(build_.reshape(part, dims));
    }
    Value all = count_ > 1 ? build_(Op::concatenate, parts, {{Attr::dimension, int64_t{1}}}) : parts[0];
    dims.erase(dims.begin(), dims.begin() + 2);
    dims[0] = Dim(c_.groups * count_) * c_.outputs;
    return build_.reshape(all, dims);
  }

  // (batch, group, phases, outputs, places…).
  Value product() {
    Value product = product_by_windows(build_, c_);
    if (!product) return product;
    Dims dims{c_.batch, Dim(c_.groups), Dim(is_one_ ? count_ : 1),
              is_one_ ? floordiv(c_.outputs, Dim(count_)) : c_.outputs};
    for (int64_t places : places_) dims.push_back(places);
    return build_.reshape(product, dims);
  }

  Value interleaved(Value all) {
    Dims apart{c_.batch, Dim(c_.groups)}, joined{c_.batch, Dim(c_.groups) * all.type().dims[3]}, limit;
    Ints order{0, 1};
    auto spatial = static_cast<int64_t>(phases_.size());
    order.push_back(2 + spatial);
    for (int64_t d = 0; d < spatial; ++d) order.push_back(3 + spatial + d), order.push_back(2 + d);
    for (const std::vector<Phase>& phases : phases_) apart.push_back(static_cast<int64_t>(phases.size()));
    apart.push_back(all.type().dims[3]);
    for (size_t d = 0; d < phases_.size(); ++d) {
      apart.push_back(places_[d]);
      joined.push_back(places_[d] * static_cast<int64_t>(phases_[d].size()));
    }
    Value image = build_.reshape(build_.transpose(build_.reshape(all, apart), order), joined);
    limit = {joined[0], joined[1]};
    for (int64_t axis : c_.output_spatial) limit.push_back(node_.type().dims[static_cast<size_t>(axis)]);
    if (limit != joined)
      image = build_(Op::slice, {image},
                     {{Attr::start_indices, Dims(limit.size(), Dim(0))},
                      {Attr::limit_indices, limit},
                      {Attr::strides, Ints(limit.size(), 1)}});
    return in_order(build_, c_, node_, image);
  }

  Builder& build_;
  const Node& node_;
  NamedConvolution c_;
  std::vector<std::vector<Phase>> phases_;
  Ints places_, before_;
  int64_t count_ = 1;
  bool is_one_ = true;
};

}  // namespace

Value product_by_phases(Builder& build, const Node& node, Value lhs, Value rhs) {
  return Spread(build, node, lhs, rhs).run();
}

}  // namespace weft
