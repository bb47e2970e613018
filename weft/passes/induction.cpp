// Numbers that loops carry, by induction over their turns.
//
// A guess is what a number is before the first turn, what the condition that a turn begins with leaves of any number,
// or what it is before the first turn and as much more in each turn as it is after one. One that holds after a turn
// where all hold before it holds in all turns; a guess that does not is given up for the next. The last, that a number
// may be whatever its dtype holds, is always true.
#include <algorithm>
#include <array>

#include "weft/passes/intervals.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

using Found = Intervals::Found;

enum class Guess : uint8_t { before, condition, counted, any };

// The symbol of a name that a graph mentions.
std::optional<Symbol> symbol_of(const Graph& graph, const std::string& name) {
  const auto in = [&](const Dims& dims) -> std::optional<Symbol> {
    for (const Dim& dim : dims)
      for (const Symbol& symbol : dim.symbols())
        if (symbol.name == name) return symbol;
    return {};
  };
  for (const Node& node : graph.nodes()) {
    for (const Type& type : node.types)
      if (auto found = in(type.dims)) return found;
    for (const auto& [attr, value] : node.attrs)
      if (const Dims* dims = std::get_if<Dims>(&value))
        if (auto found = in(*dims)) return found;
    for (const GraphPtr& region : node.regions)
      if (auto found = symbol_of(*region, name)) return found;
  }
  return {};
}

class Induction {
 public:
  Induction(const Node& loop, const std::vector<Found>& given, int64_t& budget)
      : loop_(loop), budget_(budget), before_(given), guess_(given), steps_(given.size()) {}

  std::unique_ptr<Intervals> run() {
    auto turn = std::make_unique<Intervals>(body(), guess_, budget_);
    if (is_way(loop_)) return turn;
    after_ = next(*turn);
    Sides wrong = wrong_among(after_);
    if (wrong.empty()) return turn;
    if (budget_ > 0) look_at_conditions(wrong);
    for (int round = 0; round < most_rounds && budget_ > 0 && !wrong.empty(); ++round) {
      for (const auto& [i, is_greatest] : wrong) guess_again(i, is_greatest);
      turn = std::make_unique<Intervals>(body(), guess_, budget_);
      wrong = wrong_among(next(*turn));
    }
    if (wrong.empty()) return turn;
    for (size_t i = 0; i < carried(); ++i)
      if (guess_[i] && !is_stop(i)) guess_[i] = bounds_of_dtype(loop_.type(i).dtype);
    return std::make_unique<Intervals>(body(), guess_, budget_);
  }

 private:
  using Sides = std::vector<std::pair<size_t, bool>>;  // what is carried, and whether its greatest
  static constexpr int most_rounds = 6;

  const Graph& body() const { return *loop_.regions[0]; }
  size_t carried() const { return loop_.types.size(); }
  // A turn begins only where it does not hold.
  bool is_stop(size_t i) const { return i == 0 && loop_.attrs.flag(Attr::until); }
  static const Dim& side(const Bounds& bounds, bool is_greatest) {
    return is_greatest ? bounds.greatest : bounds.least;
  }
  static Dim& side(Bounds& bounds, bool is_greatest) { return is_greatest ? bounds.greatest : bounds.least; }

  // What the next turn begins with, if that lies there.
  std::vector<Found> next(const Intervals& turn, const std::vector<Found>& inside = {}) const {
    Facts facts;
    for (size_t i = 0; i < inside.size() && i < carried(); ++i)
      if (inside[i]) facts.emplace_back(outputs_[i].value, *inside[i]);
    if (loop_.attrs.flag(Attr::until)) turn.assume(outputs_[0].value, false, facts);
    std::vector<Found> found;
    for (size_t i = 0; i < carried(); ++i) found.push_back(turn.under(outputs_[i].value, facts));
    return found;
  }

  // What a turn leaves that is not as guessed.
  Sides wrong_among(const std::vector<Found>& after) const {
    Sides wrong;
    for (size_t i = 0; i < carried(); ++i) {
      if (!guess_[i] || !after[i] || is_stop(i)) continue;
      const Dim least = in_next_turn(guess_[i]->least), greatest = in_next_turn(guess_[i]->greatest);
      if (!known_at_most(least, after[i]->least)) wrong.emplace_back(i, false);
      if (!known_at_most(after[i]->greatest, greatest)) wrong.emplace_back(i, true);
    }
    return wrong;
  }

  // Bounds with the counter are small: see counted().
  Dim in_next_turn(const Dim& bound) const {
    const std::string& name = loop_.attrs.text(Attr::counter);
    return names(bound, name) ? bound.substitute({{name, counter() + Dim(loop_.attrs.integer(Attr::step))}}) : bound;
  }

  Dim counter() const {
    const std::string& name = loop_.attrs.text(Attr::counter);
    if (const std::optional<Symbol> symbol = symbol_of(body(), name)) return Dim(*symbol);
    const Dim &first = loop_.attrs.dims(Attr::first)[0], &trips = loop_.attrs.dims(Attr::trips)[0];
    const Dim last = first + (trips - 1) * Dim(loop_.attrs.integer(Attr::step));
    const auto [low, high] = std::minmax({first.min(), first.max(), last.min(), last.max()});
    return Dim(Symbol{name, low, low, high});
  }

  // Lets what is wrong be anything for one turn, and the rest what it was guessed to be.
  void look_at_conditions(const Sides& wrong) {
    std::vector<Found> wide = guess_;
    for (const auto& [i, is_greatest] : wrong)
      side(*wide[i], is_greatest) = side(*bounds_of_dtype(loop_.type(i).dtype), is_greatest);
    left_ = next(Intervals(body(), wide, budget_), wide);
  }

  void guess_again(size_t i, bool is_greatest) {
    Guess& step = steps_[i][is_greatest ? 1 : 0];
    std::optional<Dim> bound;
    while (!bound) {
      step = static_cast<Guess>(static_cast<int>(step) + 1);
      bound = bound_of(i, is_greatest, step);
    }
    side(*guess_[i], is_greatest) = *bound;
  }

  std::optional<Dim> bound_of(size_t i, bool is_greatest, Guess guess) const try {
    const Dim before = side(*before_[i], is_greatest), any = side(*bounds_of_dtype(loop_.type(i).dtype), is_greatest);
    if (guess >= Guess::any) return any;
    if (guess == Guess::counted) return counted(before, side(*after_[i], is_greatest));
    const Dim left = left_[i] ? side(*left_[i], is_greatest) : any;
    if (left == any || names(left, loop_.attrs.text(Attr::counter))) return {};
    return is_greatest ? max(before, left) : min(before, left);
  } catch (const Error&) {
    return {};  // past 64 bits
  }

  // As much more in each turn as after the first.
  std::optional<Dim> counted(const Dim& before, const Dim& after) const {
    const Dim more = after - before, &first = loop_.attrs.dims(Attr::first)[0];
    const int64_t step = loop_.attrs.integer(Attr::step);
    if (!more.is_static() || (step != 1 && step != -1)) return {};
    if (names(before, loop_.attrs.text(Attr::counter))) return {};
    const Dim all = before + more * loop_.attrs.dims(Attr::trips)[0];
    constexpr int64_t most = int64_t{1} << 61;
    if (all.min() < -most || all.max() > most) return {};
    return before + more * (counter() - first) * Dim(step);
  }

  const Node& loop_;
  int64_t& budget_;
  const std::vector<Found> before_;
  std::vector<Found> guess_, after_, left_;
  std::vector<std::array<Guess, 2>> steps_;
  const std::span<const Output> outputs_ = body().outputs();
};

}  // namespace

std::unique_ptr<Intervals> in_turns(const Node& loop, const std::vector<Found>& given, int64_t& budget) {
  return Induction(loop, given, budget).run();
}

Bounds over_turns(const Node& loop, const Bounds& bounds, DType dtype) {
  const std::string& counter = loop.attrs.text(Attr::counter);
  const Dim &first = loop.attrs.dims(Attr::first)[0], step = loop.attrs.integer(Attr::step);
  const auto extreme = [&](const Dim& bound, bool is_greatest) -> Dim {
    if (!names(bound, counter)) return bound;
    try {
      const std::optional<int64_t> slope = slope_of(bound, counter);
      const Dim last = first + (loop.attrs.dims(Attr::trips)[0] - 1) * step;
      const bool grows = slope && (*slope > 0) == (step.value() > 0);
      if (slope) return bound.substitute({{counter, grows == is_greatest ? last : first}});
    } catch (const Error&) {  // past 64 bits
    }
    return is_greatest ? bounds_of_dtype(dtype)->greatest : bounds_of_dtype(dtype)->least;
  };
  return {extreme(bounds.least, false), extreme(bounds.greatest, true)};
}

}  // namespace weft
