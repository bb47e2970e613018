// trip_counts: how many turns a loop has at most, or exactly, where the condition that ends it compares its counter.
//
// `while i < n` becomes the loop over a range that it is (Bachmann, Wang, Zima, Chains of recurrences, ISSAC 1994, for
// the counters that are polynomials), so that its turns may be vectors, run on threads or be added up; of others less
// is to be supposed about numbers that grow with the turns.
#include <algorithm>

#include "weft/passes/extent_indices.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

// left < right, or left <= right, or left != right; nothing is known of a side that is no extent.
struct Comparison {
  std::optional<Dim> left, right;
  bool may_equal = false, is_unequal = false;
};

std::optional<Comparison> comparison_of(const Node& node, bool holds) {
  if (node.operand(0).type() != Type{DType::i64, {}}) return {};
  const std::string_view direction = node.attrs.text(Attr::comparison_direction);
  const bool is_less = direction == "LT" || direction == "LE", may_equal = direction == "LE" || direction == "GE";
  std::optional<Dim> left = extent_of(node.operand(0)), right = extent_of(node.operand(1));
  if (direction == "EQ" || direction == "NE") {
    if ((direction == "NE") != holds) return {};
    return Comparison{.left = left, .right = right, .is_unequal = true};
  }
  if (is_less != holds) std::swap(left, right);
  return Comparison{.left = left, .right = right, .may_equal = may_equal == holds};
}

// The comparisons that all hold if a condition holds, or does not; false where something else decides, too.
bool collect(const Value& condition, bool holds, std::vector<Comparison>& found, int depth = 8) {
  const Node& node = condition.node();
  if (depth == 0) return false;
  if (node.op == Op::constant && !node.attrs.literal(Attr::value).is_live())
    return (node.attrs.literal(Attr::value).as_int(0) != 0) == holds;
  if (node.op == Op::not_) return collect(node.operand(0), !holds, found, depth - 1);
  if (node.op == (holds ? Op::and_ : Op::or_)) {
    const bool first = collect(node.operand(0), holds, found, depth - 1);
    return collect(node.operand(1), holds, found, depth - 1) && first;
  }
  if (node.op != Op::compare) return false;
  const std::optional<Comparison> comparison = comparison_of(node, holds);
  if (comparison) found.push_back(*comparison);
  return comparison.has_value();
}

// Whether a polynomial of the counter, which is not negative, is never less in the next turn.
bool is_growing(const Dim& dim, const std::string& counter) {
  return std::ranges::all_of(dim.terms(), [&](const Dim::Term& term) {
    const auto mentions = [&](const auto& atom) { return names(dim_of_atom(*atom), counter); };
    const auto is_plain = [&](const auto& atom) { return atom->op == DimOp::symbol && dim_of_atom(*atom).min() >= 0; };
    return std::ranges::none_of(term.atoms, mentions) ||
           (term.coefficient > 0 && std::ranges::all_of(term.atoms, is_plain));
  });
}

// A loop goes on while what grows with its turns is below a limit; `limit`: nothing where that is not known before.
struct Test {
  Dim grows;
  std::optional<Dim> limit;
  bool may_equal = false;
  bool operator==(const Test&) const = default;
};

Test negated(const Test& test) {
  return {test.grows * -1, test.limit ? std::optional(*test.limit * -1) : test.limit, test.may_equal};
}

std::optional<Test> test_of(const Comparison& comparison, const std::string& counter) {
  const auto mentions = [&](const std::optional<Dim>& side) { return side && names(*side, counter); };
  const bool is_left = mentions(comparison.left);
  if (is_left == mentions(comparison.right)) return {};
  Test test{.grows = is_left ? *comparison.left : *comparison.right,
            .limit = is_left ? comparison.right : comparison.left,
            .may_equal = comparison.may_equal};
  if (!comparison.is_unequal) {
    if (!is_left) test = negated(test);
    return is_growing(test.grows, counter) ? std::optional(test) : std::nullopt;
  }
  // One that takes every number meets a limit that is not behind it.
  if (slope_of(test.grows, counter) == -1) test = negated(test);
  const bool meets = slope_of(test.grows, counter) == 1 && test.limit &&
                     known_at_most(test.grows.substitute({{counter, 0}}), *test.limit);
  return meets ? std::optional(test) : std::nullopt;
}

// Whether a loop ends behind a turn; numbers past 64 bits are above all limits.
bool ends_behind(const Test& test, const std::string& counter, int64_t turn) try {
  const int64_t number = test.grows.evaluate({{counter, turn}});
  if (!test.limit) return false;
  return test.may_equal ? number > test.limit->value() : number >= test.limit->value();
} catch (const Error&) {
  return true;
}

// The turns of a loop that has one: with the first behind which it ends. `may_be_none`: the same test stands before it.
std::optional<Dim> turns_of(const Test& test, const std::string& counter, int64_t most, bool may_be_none) {
  const bool is_static = test.grows.symbols().size() == 1 && (!test.limit || test.limit->is_static());
  if (is_static && !may_be_none) {
    int64_t low = 0, high = most - 1;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (ends_behind(test, counter, middle))
        high = middle;
      else
        low = middle + 1;
    }
    return ends_behind(test, counter, low) ? std::optional(Dim(low) + 1) : std::nullopt;
  }
  const std::optional<int64_t> slope = slope_of(test.grows, counter);
  if (!test.limit || !slope || *slope < 1) return {};
  const Dim rest = test.grows.substitute({{counter, 0}});
  return max(ceildiv(*test.limit - rest + (test.may_equal ? 1 : 0), *slope) + 1, may_be_none ? 0 : 1);
}

// Whether the test of all turns stands before the first as well.
bool is_tested_before(const Comparison& before, const Test& test, const std::string& counter) {
  if (before.is_unequal || !before.left || !before.right) return false;
  const Test first{test.grows.substitute({{counter, -1}}), test.limit, test.may_equal};
  const Test given{*before.left, before.right, before.may_equal};
  const Test other = negated({*before.right, before.left, before.may_equal});
  return first == given || first == other;
}

struct Turns {
  Dim count;
  bool is_exact = false;
};

std::optional<Turns> turns_of(const Node& loop, const Graph& body) try {
  const std::string& counter = loop.attrs.text(Attr::counter);
  const Dim& trips = loop.attrs.dims(Attr::trips)[0];
  if (!loop.attrs.flag(Attr::until) || !trips.is_static() || trips.value() < 2) return {};
  if (!loop.attrs.dims(Attr::first)[0].is(0) || loop.attrs.integer(Attr::step) != 1) return {};
  std::vector<Comparison> comparisons, before;
  bool is_exact = collect(body.outputs()[0].value, false, comparisons);
  const bool is_known = collect(loop.operand(0), false, before), begins = is_known && before.empty();
  const bool may_be_tested = is_known && before.size() == 1 && comparisons.size() == 1;
  std::optional<Dim> count;
  for (const Comparison& comparison : comparisons) {
    const std::optional<Test> test = test_of(comparison, counter);
    const bool may_be_none = may_be_tested && test && is_tested_before(before[0], *test, counter);
    const std::optional<Dim> turns = test ? turns_of(*test, counter, trips.value(), may_be_none) : std::nullopt;
    is_exact &= turns && test->limit && (begins || may_be_none);
    if (turns) count = count ? min(*count, *turns) : *turns;
  }
  return count && count->max() > 0 ? std::optional(Turns{*count, is_exact}) : std::nullopt;
} catch (const Error&) {
  return {};  // numbers past 64 bits
}

GraphPtr with_trip_counts(const Graph& graph);

std::vector<Value> with_trip_count(Builder& build, const Node& loop, const std::vector<Value>& operands) {
  GraphPtr body = with_trip_counts(*loop.regions[0]);
  const std::optional<Turns> turns = turns_of(loop, *body);
  Attrs attrs = loop.attrs;
  const int64_t before = turns ? attrs.dims(Attr::trips)[0].value() : 0, most = turns ? turns->count.max() : 0;
  if (turns && most < before) {
    // Symbols of one name have one range.
    const std::string counter = attrs.text(Attr::counter), name = cat(counter, "_", most);
    body = substitute(*body, {{counter, Dim(Symbol{name, 0, std::clamp<int64_t>(64, 0, most - 1), most - 1})}});
    attrs.set(Attr::counter, name);
    attrs.set(Attr::trips, Dims{turns->count});
  }
  const bool is_counted = turns && turns->is_exact && most <= before;
  if (is_counted) attrs.erase(Attr::until);
  std::vector<Value> results = results_of(build.call(loop.op, operands, std::move(attrs), {body}));
  if (is_counted) results[0] = build.constant(Literal::scalar_int(DType::boolean, 1));
  return results;
}

GraphPtr with_trip_counts(const Graph& graph) {
  return rebuild(graph, Level::flat, [](Builder& build, const Node& node, const std::vector<Value>& operands) {
    if (node.op == Op::for_) return with_trip_count(build, node, operands);
    if (node.op != Op::if_ && node.op != Op::case_) return std::vector<Value>();
    return with_regions(build, node, operands, [](const Graph& region) { return with_trip_counts(region); });
  });
}

}  // namespace

const Pass trip_counts{
    .name = "trip_counts",
    .doc = "Counts the turns of loops that end by comparisons of their counters.",
    .from = Level::flat,
    .to = Level::flat,
    .run = with_trip_counts,
};

}  // namespace weft
