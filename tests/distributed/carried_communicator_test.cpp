// Collectives over a carrier that is a mailbox of this process: the same bits as those of ranks that are threads.
#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "weft/core/error.h"
#include "weft/distributed/carrier.h"

using namespace weft;

namespace {

class Mailbox {
 public:
  using Place = std::tuple<int, int, bool>;  // from, to, whether it is a message
  void put(const Place& place, const Parcel& parcel) {
    std::lock_guard lock(mutex_);
    letters_[place].emplace_back(parcel.data, parcel.data + parcel.bytes);
    arrived_.notify_all();
  }
  bool take(const Place& place, const Parcel& parcel, double timeout) {
    std::unique_lock lock(mutex_);
    std::deque<std::vector<std::byte>>& waiting = letters_[place];
    if (!arrived_.wait_for(lock, std::chrono::duration<double>(timeout), [&] { return !waiting.empty(); }))
      return false;
    bool fits = waiting.front().size() == static_cast<size_t>(parcel.bytes);
    if (fits) std::memcpy(parcel.data, waiting.front().data(), waiting.front().size());
    waiting.pop_front();
    return fits;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<Place, std::deque<std::vector<std::byte>>> letters_;
};

class MailCarrier final : public Carrier {
 public:
  MailCarrier(std::shared_ptr<Mailbox> mailbox, int rank, double timeout)
      : mailbox_(std::move(mailbox)), rank_(rank), timeout_(timeout) {}
  Outcome exchange(bool is_message, std::span<const Parcel> sent, std::span<const Parcel> received) override {
    for (const Parcel& parcel : sent) mailbox_->put({rank_, parcel.rank, is_message}, parcel);
    for (const Parcel& parcel : received)
      if (!mailbox_->take({parcel.rank, rank_, is_message}, parcel, timeout_))
        return {Outcome::Kind::late, parcel.rank};
    return {};
  }
  void close() override {}

 private:
  std::shared_ptr<Mailbox> mailbox_;
  int rank_;
  double timeout_;
};

std::vector<std::unique_ptr<Communicator>> by_mail(int size, double timeout) {
  auto mailbox = std::make_shared<Mailbox>();
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int rank = 0; rank < size; ++rank)
    communicators.push_back(
        carried_communicator(std::make_unique<MailCarrier>(mailbox, rank, timeout), rank, size, timeout));
  return communicators;
}

using Results = std::vector<std::vector<float>>;

// What every rank has after each collective of so many elements, and the first error of each.
Results results_of(const std::vector<std::unique_ptr<Communicator>>& communicators, int64_t count) {
  auto size = static_cast<int64_t>(communicators.size());
  Results all(communicators.size());
  std::vector<std::jthread> threads;
  for (size_t place = 0; place < communicators.size(); ++place)
    threads.emplace_back([&, place] {
      Communicator& communicator = *communicators[place];
      int rank = communicator.rank(), last = static_cast<int>(size) - 1;
      std::vector<float> own(static_cast<size_t>(count * size)), result;
      for (size_t i = 0; i < own.size(); ++i) own[i] = static_cast<float>(rank + 1) * 0.1f + static_cast<float>(i % 97);
      auto run = [&](Collective kind, int64_t parts, CollectiveCall call = {}) {
        call.kind = kind;
        call.operand = {own.data(), DType::f32, {count * size}};
        result.assign(static_cast<size_t>(count * size * size), -1);
        call.result = result.data();
        communicator.run(call);
        result.resize(static_cast<size_t>(count * parts));
        all[place].insert(all[place].end(), result.begin(), result.end());
      };
      run(Collective::all_reduce, size);
      std::vector<std::vector<int>> groups = {{last, 0}};
      for (int other = 1; other < last; ++other) groups.push_back({other});
      run(Collective::all_reduce, size, {.op = ReduceOp::mean, .groups = groups});
      run(Collective::all_gather, size * size);
      run(Collective::reduce_scatter, 1, {.op = ReduceOp::prod});
      run(Collective::all_to_all, size);
      run(Collective::broadcast, size, {.root = last});
      run(Collective::permute, size, {.pairs = {{0, last}, {last, 0}}});
      run(Collective::permute, size, {.pairs = {{0, 0}}});
      if (rank == 0) run(Collective::send, 0, {.root = last});
      if (rank == last) run(Collective::receive, size, {.root = 0});
      run(Collective::barrier, 0);
    });
  threads.clear();
  return all;
}

// The label of each rank's error, of a barrier after `before`.
template <class Before>
std::vector<std::string> labels_of(std::vector<std::unique_ptr<Communicator>> communicators, const Before& before) {
  std::vector<std::string> labels(communicators.size());
  std::vector<std::jthread> threads;
  for (size_t place = 0; place < communicators.size(); ++place)
    threads.emplace_back([&, place] {
      try {
        before(*communicators[place]);
        communicators[place]->run({.kind = Collective::barrier});
      } catch (const Error& error) {
        labels[place] = cat(error.label(), ": ", error.message());
      }
    });
  threads.clear();
  return labels;
}

}  // namespace

TEST_CASE("collectives over a carrier have the bits of those in memory") {
  for (int size : {2, 3, 5})
    for (int64_t count : {0, 1, 7, 3001})
      CHECK(results_of(by_mail(size, 60), count) == results_of(local_communicators(size, 60), count));
}

TEST_CASE("calls over a carrier that do not agree are named by all") {
  auto labels = labels_of(by_mail(3, 60), [](Communicator& communicator) {
    if (communicator.rank() != 1) return;
    float own = 1, result = 0;
    communicator.run({.kind = Collective::all_reduce, .operand = {&own, DType::f32, {}}, .result = &result});
  });
  for (const std::string& label : labels) {
    CHECK(label.starts_with("collective_mismatch: "));
    CHECK(label.find("all_reduce sum of float32[]") != std::string::npos);
  }
}

TEST_CASE("a rank that does not come is named over a carrier, and it stays so") {
  auto communicators = by_mail(2, 0.05);
  for (int turn = 0; turn < 2; ++turn)
    CHECK_THROWS_WITH_AS(communicators[0]->run({.kind = Collective::barrier}),
                         doctest::Contains("rank 1 did not come within 0.05 s, and rank 0 waits for it"), Error);
  communicators[1]->close();
  CHECK_THROWS_WITH_AS(communicators[1]->run({.kind = Collective::barrier}),
                       doctest::Contains("the communicator is closed"), Error);
}
