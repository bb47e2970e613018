// Values of lazy tensors.
#include <doctest/doctest.h>

#include <limits>
#include <thread>

#include "tests/label_of.h"
#include "weft/frontend/functions.h"
#include "weft/frontend/record.h"

using namespace weft;

namespace {

template <class T>
std::vector<T> elements(const Tensor& x) {
  std::span<const T> data = x.data<T>();
  return {data.begin(), data.end()};
}

}  // namespace

TEST_CASE("a tensor is computed when its elements are asked for, and then is what they are") {
  Tensor x = tensor({1.f, 2.f, 3.f}), y = x * 2 + 1;
  CHECK(x.is_computed());
  CHECK(!y.is_computed());
  CHECK(elements<float>(y) == std::vector<float>{3, 5, 7});
  CHECK(y.is_computed());
  CHECK(y.record().operands.empty());
  CHECK(sum(y).item<double>() == 15);
  CHECK(sum(y).item<int>() == 15);
  CHECK(bool(y[0] == 3.f));
  CHECK(elements<float>(y[Slice{{}, {}, -1}]) == std::vector<float>{7, 5, 3});
}

TEST_CASE("several tensors are computed at once, with all results of their calls") {
  Tensor x = tensor({3.0, 1.0, 2.0});
  auto [values, places] = top_k(x, 2);
  Tensor total = sum(values);
  eval({values, total, total, x});
  CHECK(places.is_computed());
  CHECK(elements<int32_t>(places) == std::vector<int32_t>{0, 2});
  CHECK(total.item<double>() == 5);
}

TEST_CASE("host memory is taken in by copy, or used where it lies") {
  std::vector<float> host{1, 2, 3, 4, 5, 6};
  Tensor copied = Tensor::copy_of(std::span<const float>(host), {2, 3});
  Tensor adopted = Tensor::adopt(host.data(), {2, 3});
  CHECK(adopted.data<float>().data() == host.data());
  CHECK(copied.data<float>().data() != host.data());
  Tensor lazy = adopted + 0;
  host[0] = 9;
  CHECK(copied.data<float>()[0] == 1);
  CHECK(lazy.data<float>()[0] == 9);
  auto owner = std::make_shared<int>(0);
  std::weak_ptr<int> watch = owner;
  Tensor owned = Tensor::adopt(host.data(), {6}, std::move(owner)) * 2;
  CHECK(!watch.expired());
  eval({owned});
  CHECK(watch.expired());
}

TEST_CASE("values that are asked for as what they are not are errors") {
  Tensor x = tensor({1.f, 2.f}), traced = parameter({DType::f32, {2}}, "x");
  CHECK(label_of([&] { x.data<double>(); }) == "element_type");
  CHECK(label_of([&] { x.item<float>(); }) == "item_count");
  CHECK(label_of([&] { return x == x ? 1 : 0; }) == "item_count");
  CHECK(label_of([&] { Tensor().eval(); }) == "no_tensor");
  CHECK(label_of([&] { (traced + x).eval(); }) == "data_dependent");
  CHECK(label_of([&] { tensor({1.f, 2.f}, {3}); }) == "element_count");
}

TEST_CASE("a structure is compiled once, whatever its buffers hold") {
  for (int i = 0; i < 3; ++i) {
    Tensor x = tensor({float(i), 2.f});
    CHECK(elements<float>(exp(x * 0) + x) == std::vector<float>{float(i) + 1, 3});
  }
}

TEST_CASE("numbers that change from step to step give the same results as inputs of one program") {
  Tensor x = tensor({1.f, 2.f});
  for (int i = 0; i < 8; ++i)
    CHECK(elements<float>(x * (i + 0.5) + i) == std::vector<float>{float(2 * i) + .5f, float(3 * i) + 1});
  for (int i = 0; i < 8; ++i) CHECK(elements<float>(pad(x, {{1, 0}}, i)) == std::vector<float>{float(i), 1, 2});
}

TEST_CASE("chains of many calls are computed and let go of without recursion") {
  Tensor x = tensor({1.0});
  for (int i = 0; i < 20'000; ++i) x = x.type().rank() ? reshape(x, i % 2 ? Dims{1} : Dims{1, 1}) : x;
  Tensor dropped = x;
  for (int i = 0; i < 200'000; ++i) dropped = -dropped;
  dropped = {};
  CHECK(x.item<double>() == 1);
}

TEST_CASE("threads compute the same tensors at once") {
  Tensor x = tensor({1.0, 2.0, 3.0});
  for (int round = 0; round < 20; ++round) {
    Tensor shared = x * 2 + round, top = sum(shared);
    std::vector<double> results(4);
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < 4; ++i)
      threads.emplace_back([&, i] { results[i] = i % 2 ? top.item<double>() : sum(shared + 0).item<double>(); });
    threads.clear();
    for (double result : results) CHECK(result == 12 + 3 * round);
  }
}

TEST_CASE("elements print as rows") {
  CHECK(tensor({1.f, 2.5f, -3.f, 40.f}, {2, 2}).text() == "[[ 1. 2.5]\n [-3. 40.]]");
  CHECK(tensor({true, false}).text() == "[ true false]");
  CHECK((tensor<int64_t>({7})[0]).text() == "7");
  CHECK(zeros({0, 3}).text() == "[]");
  CHECK((zeros({2}) / 0).text() == "[nan nan]");
  CHECK(tensor<std::complex<double>>({{1, -0.0}, {0, -std::numeric_limits<double>::quiet_NaN()}}).text() ==
        "[ 1.-0.j 0.+nanj]");
  CHECK(arange(2000).text() == "[   0    1    2 ... 1997 1998 1999]");
}
