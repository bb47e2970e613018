// Ranks as threads, and as processes: results, failures and mismatches.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include "weft/core/error.h"
#include "weft/distributed/communicator.h"

using namespace weft;

namespace {

using Body = std::function<void(Communicator&)>;

// Each rank's error, or nothing.
std::vector<std::string> in_threads(int size, double timeout, const Body& body) {
  auto communicators = local_communicators(size, timeout);
  std::vector<std::string> errors(static_cast<size_t>(size));
  std::vector<std::jthread> threads;
  for (size_t rank = 0; rank < errors.size(); ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(*communicators[rank]);
      } catch (const Error& error) {
        errors[rank] = error.label() + ": " + error.message();
      }
      communicators[rank]->close();
    });
  threads.clear();
  return errors;
}

// The exit codes of processes that do so; 1 for an error with this label.
std::vector<int> in_processes(int size, double timeout, const std::string& label, const Body& body) {
  static int count = 0;
  std::string key = "communicator_test " + std::to_string(getpid()) + " " + std::to_string(++count);
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    pid_t child = fork();
    if (child == 0) {
      int code = 0;
      try {
        auto communicator = shared_memory_communicator(key, rank, size, timeout);
        body(*communicator);
      } catch (const Error& error) {
        code = error.label() == label ? 1 : 2;
      }
      _exit(code);
    }
    children.push_back(child);
  }
  std::vector<int> codes;
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  }
  return codes;
}

std::vector<float> numbers_of(int rank, int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(rank + 1) * 0.1f + static_cast<float>(i % 97);
  return numbers;
}

// Sums of many sizes are those that are added up from the first rank to the last.
void sum_up(Communicator& communicator) {
  for (int64_t count : {0, 1, 5, 1000, 2049, 300'001}) {
    std::vector<float> own = numbers_of(communicator.rank(), count), result(own.size(), -1),
                       wanted = numbers_of(0, count);
    for (int rank = 1; rank < communicator.size(); ++rank) {
      std::vector<float> other = numbers_of(rank, count);
      for (size_t i = 0; i < other.size(); ++i) wanted[i] += other[i];
    }
    communicator.run(
        {.kind = Collective::all_reduce, .operand = {own.data(), DType::f32, {count}}, .result = result.data()});
    if (result != wanted) fail(ErrorKind::runtime, "wrong", "of ", count);
    // In place.
    communicator.run(
        {.kind = Collective::all_reduce, .operand = {own.data(), DType::f32, {count}}, .result = own.data()});
    if (own != wanted) fail(ErrorKind::runtime, "wrong", "of ", count, " in place");
  }
}

void wait_in_barriers(Communicator& communicator) {
  while (true) communicator.run({.kind = Collective::barrier});
}

}  // namespace

TEST_CASE("sums are added up in the order of ranks") {
  for (int size : {1, 2, 3, 4, 8}) {
    CHECK(in_threads(size, 60, sum_up) == std::vector<std::string>(static_cast<size_t>(size)));
    CHECK(in_processes(size, 60, "", sum_up) == std::vector<int>(static_cast<size_t>(size)));
  }
}

TEST_CASE("ranks of other groups need not take part") {
  auto errors = in_threads(4, 60, [](Communicator& communicator) {
    int rank = communicator.rank();
    for (int turn = 0; turn < (rank < 2 ? 50 : 3); ++turn) {
      int32_t own = rank + turn, result = 0;
      communicator.run({.kind = Collective::all_reduce,
                        .operand = {&own, DType::i32, {}},
                        .result = &result,
                        .groups = {{0, 1}, {3, 2}}});
      if (result != 2 * turn + (rank < 2 ? 1 : 5)) fail(ErrorKind::runtime, "wrong", "got ", result);
      if (turn % 5 == 4 && rank < 2) {
        int32_t message = turn;
        if (rank == 0) communicator.run({.kind = Collective::send, .operand = {&message, DType::i32, {}}, .root = 1});
        if (rank == 1)
          communicator.run(
              {.kind = Collective::receive, .operand = {nullptr, DType::i32, {}}, .result = &result, .root = 0});
      }
    }
  });
  CHECK(errors == std::vector<std::string>(4));
}

TEST_CASE("a rank that ends is named") {
  auto codes = in_processes(3, 60, "rank_ended", [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      raise(SIGKILL);
    }
    wait_in_barriers(communicator);
  });
  CHECK(codes == std::vector<int>{1, -SIGKILL, 1});
  auto errors = in_threads(3, 60, [](Communicator& communicator) {
    if (communicator.rank() != 1) wait_in_barriers(communicator);
  });
  CHECK(errors[0].starts_with("rank_ended: barrier: rank 1 has ended"));
  CHECK(errors[2].starts_with("rank_ended: barrier: rank 1 has ended"));
}

TEST_CASE("a rank that does not come in time is named, also by those who wait for another") {
  auto errors = in_threads(3, 0.2, [](Communicator& communicator) {
    std::vector<std::vector<int>> first{{0, 1}}, second{{1, 2}};
    if (communicator.rank() == 2) return std::this_thread::sleep_for(std::chrono::milliseconds(600));
    communicator.run({.kind = Collective::barrier, .groups = communicator.rank() == 0 ? first : second});
  });
  CHECK(errors[0].starts_with("rank_timeout: barrier: rank 2 did not come within 0.2 s"));
  CHECK(errors[1].starts_with("rank_timeout: barrier: rank 2 did not come within 0.2 s"));
}

TEST_CASE("calls that do not agree are named with both lines") {
  auto errors = in_threads(2, 60, [](Communicator& communicator) {
    float own[2] = {}, result[4];
    Location loc("model.py", 3 + communicator.rank());
    CollectiveCall call{.operand = {own, DType::f32, {2}}, .result = result, .loc = loc};
    call.kind = communicator.rank() == 0 ? Collective::all_reduce : Collective::all_gather;
    communicator.run(call);
  });
  for (const std::string& error : errors)
    CHECK(
        error.ends_with("do not:\n  rank 0: all_reduce sum of float32[2] among [0, 1]\n    model.py:3"
                        "\n  rank 1: all_gather of float32[2] among [0, 1]\n    model.py:4"));
}

TEST_CASE("a process that does not come is missed") {
  CHECK_THROWS_WITH_AS((void)shared_memory_communicator("nobody else", 0, 2, 0.05),
                       "ranks [1] of 2 did not come within 0.05 s  [rendezvous]", ExecutionError);
  CHECK_THROWS_WITH_AS((void)shared_memory_communicator("nobody else", 1, 2, 0.05),
                       "rank 0 did not come within 0.05 s, and rank 1 waits for it  [rendezvous]", ExecutionError);
}

TEST_CASE("what does not fit is said before anyone is asked") {
  auto communicator = std::move(local_communicators(2, 1)[0]);
  float own[3] = {}, result[3];
  CollectiveCall call{.operand = {own, DType::f32, {3}}, .result = result};
  auto label_of = [&](CollectiveCall wrong) {
    try {
      communicator->run(wrong);
    } catch (const Error& error) {
      return error.label();
    }
    return std::string();
  };
  call.kind = Collective::reduce_scatter;
  CHECK(label_of(call) == "parts");
  call.kind = Collective::all_reduce;
  call.groups = {{0, 0}};
  CHECK(label_of(call) == "groups");
  call.groups = {{1}};
  CHECK(label_of(call) == "groups");
  call.groups = {{0, 2}};
  CHECK(label_of(call) == "rank");
  call.groups = {};
  call.op = ReduceOp::mean;
  call.operand.dtype = DType::i32;
  CHECK(label_of(call) == "mean_dtype");
  call.kind = Collective::permute;
  call.pairs = {{0, 1}, {0, 0}};
  CHECK(label_of(call) == "pairs");
  call.kind = Collective::send;
  CHECK(label_of(call) == "rank");
  CHECK_THROWS_AS((void)local_communicators(257, 1), ArgumentValueError);
}
