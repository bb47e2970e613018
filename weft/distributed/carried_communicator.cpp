// Collectives over a carrier. Every rank of a group first tells the others what it calls, which also keeps them
// together; then the elements go where they are needed.
#include <algorithm>
#include <array>
#include <cstring>

#include "weft/core/error.h"
#include "weft/distributed/board.h"
#include "weft/distributed/carrier.h"
#include "weft/distributed/memory.h"

namespace weft {
namespace {

// Up to so many bytes every rank adds up all: one exchange instead of two.
constexpr int64_t carried_whole = 8 << 10;

class CarriedExchange {
 public:
  CarriedExchange(Carrier& carrier, const CollectiveCall& call, int rank, double timeout)
      : carrier_(carrier),
        call_(call),
        rank_(rank),
        timeout_(timeout),
        width_(size_of(call.operand.dtype)),
        count_(call.operand.count()),
        places_(static_cast<int64_t>(call.members.size())),
        // A carrier's sends only read.
        own_(static_cast<std::byte*>(const_cast<void*>(call.operand.data))),
        result_(static_cast<std::byte*>(call.result)) {}

  void run() {
    announce(call_, announcement_);
    if (call_.kind == Collective::send) return send_message();
    if (call_.kind == Collective::receive) return receive_message();
    agree();
    switch (call_.kind) {
      case Collective::all_reduce:
        return all_reduce();
      case Collective::all_gather:
        return gather_whole(result_);
      case Collective::reduce_scatter:
        return reduce_scatter();
      case Collective::all_to_all:
        return all_to_all();
      case Collective::permute:
        return permute();
      case Collective::broadcast:
        return broadcast();
      case Collective::barrier:
      case Collective::send:
      case Collective::receive:
        return;
    }
  }

 private:
  // -- parcels -------------------------------------------------------------------------------------------------------

  int member(int64_t place) const { return call_.members[static_cast<size_t>(place)]; }
  void send_to(int rank, std::byte* data, int64_t bytes) { add(sent_, {rank, data, bytes}); }
  void receive_from(int rank, std::byte* data, int64_t bytes) { add(received_, {rank, data, bytes}); }
  static void add(std::vector<Parcel>& parcels, const Parcel& parcel) {
    if (parcel.bytes > 0) parcels.push_back(parcel);
  }
  template <class Body>
  void for_others(const Body& body) {
    for (int64_t place = 0; place < places_; ++place)
      if (place != call_.index) body(place, member(place));
  }
  void move() {
    Carrier::Outcome outcome;
    if (!sent_.empty() || !received_.empty()) outcome = carrier_.exchange(is_message(call_.kind), sent_, received_);
    sent_.clear();
    received_.clear();
    if (outcome.kind == Carrier::Outcome::Kind::ended)
      fail(ErrorKind::runtime, "rank_ended", "rank ", outcome.rank, " has ended, and rank ", rank_, " waits for it");
    if (outcome.kind == Carrier::Outcome::Kind::late)
      fail(ErrorKind::runtime, "rank_timeout", "rank ", outcome.rank, " did not come within ", timeout_,
           " s, and rank ", rank_, " waits for it");
  }

  void agree() {
    std::vector<Announcement> others(call_.members.size());
    for_others([&](int64_t place, int rank) {
      send_to(rank, reinterpret_cast<std::byte*>(&announcement_), sizeof announcement_);
      receive_from(rank, reinterpret_cast<std::byte*>(&others[static_cast<size_t>(place)]), sizeof announcement_);
    });
    move();
    for_others([&](int64_t place, int rank) { compare(rank, others[static_cast<size_t>(place)]); });
  }
  void compare(int rank, const Announcement& other) const {
    if (announcement_.digest != other.digest)
      fail(ErrorKind::runtime, "collective_mismatch", disagreement(rank_, announcement_, rank, other));
  }

  // -- collectives ---------------------------------------------------------------------------------------------------

  // Every operand, one after the other.
  void gather_whole(std::byte* to) {
    int64_t bytes = count_ * width_;
    for_others([&](int64_t place, int rank) {
      send_to(rank, own_, bytes);
      receive_from(rank, to + place * bytes, bytes);
    });
    move();
    copy_elements(own_, to + call_.index * bytes, bytes);
  }

  // Of every operand the elements that this rank combines: `count` of them, which begin at begin_of(its place).
  template <class Begin>
  void reduce_parts(std::byte* result, int64_t count, const Begin& begin_of) {
    std::vector<std::byte> inbox(static_cast<size_t>(places_ * count * width_));
    std::vector<const std::byte*> inputs;
    for (int64_t place = 0; place < places_; ++place) inputs.push_back(inbox.data() + place * count * width_);
    inputs[static_cast<size_t>(call_.index)] = own_ + begin_of(call_.index) * width_;
    for_others([&](int64_t place, int rank) {
      send_to(rank, own_ + begin_of(place) * width_, (begin_of(place + 1) - begin_of(place)) * width_);
      receive_from(rank, inbox.data() + place * count * width_, count * width_);
    });
    move();
    reduce_in_order(call_.op, call_.operand.dtype, inputs, std::array{result}, count);
  }

  void all_reduce() {
    if (places_ == 2 || count_ * width_ <= carried_whole) {
      std::vector<std::byte> all(static_cast<size_t>(places_ * count_ * width_));
      gather_whole(all.data());
      std::vector<const std::byte*> inputs;
      for (int64_t place = 0; place < places_; ++place) inputs.push_back(all.data() + place * count_ * width_);
      return reduce_in_order(call_.op, call_.operand.dtype, inputs, std::array{result_}, count_);
    }
    int64_t part = (count_ + places_ - 1) / places_;
    auto begin_of = [&](int64_t place) { return std::min(place * part, count_); };
    auto bytes_of = [&](int64_t place) { return (begin_of(place + 1) - begin_of(place)) * width_; };
    std::byte* mine = result_ + begin_of(call_.index) * width_;
    reduce_parts(mine, bytes_of(call_.index) / width_, begin_of);
    for_others([&](int64_t place, int rank) {
      send_to(rank, mine, bytes_of(call_.index));
      receive_from(rank, result_ + begin_of(place) * width_, bytes_of(place));
    });
    move();
  }

  void reduce_scatter() {
    int64_t part = count_ / places_;
    reduce_parts(result_, part, [&](int64_t place) { return place * part; });
  }

  void all_to_all() {
    int64_t bytes = count_ / places_ * width_;
    for_others([&](int64_t place, int rank) {
      send_to(rank, own_ + place * bytes, bytes);
      receive_from(rank, result_ + place * bytes, bytes);
    });
    move();
    copy_elements(own_ + call_.index * bytes, result_ + call_.index * bytes, bytes);
  }

  void permute() {
    int64_t bytes = count_ * width_;
    bool receives = false;
    for (auto [source, target] : call_.pairs) {
      receives |= target == rank_;
      if (source == rank_ && target == rank_)
        copy_elements(own_, result_, bytes);
      else if (source == rank_)
        send_to(target, own_, bytes);
      else if (target == rank_)
        receive_from(source, result_, bytes);
    }
    move();
    if (!receives && bytes > 0) std::memset(result_, 0, static_cast<size_t>(bytes));
  }

  void broadcast() {
    int64_t bytes = count_ * width_;
    if (call_.root != rank_)
      receive_from(call_.root, result_, bytes);
    else
      for_others([&](int64_t, int rank) { send_to(rank, own_, bytes); });
    move();
    if (call_.root == rank_) copy_elements(own_, result_, bytes);
  }

  // -- messages ------------------------------------------------------------------------------------------------------

  void send_message() {
    send_to(call_.root, reinterpret_cast<std::byte*>(&announcement_), sizeof announcement_);
    move();
    send_to(call_.root, own_, count_ * width_);
    move();
  }

  void receive_message() {
    Announcement other{};
    receive_from(call_.root, reinterpret_cast<std::byte*>(&other), sizeof other);
    move();
    compare(call_.root, other);
    receive_from(call_.root, result_, count_ * width_);
    move();
  }

  Carrier& carrier_;
  const CollectiveCall& call_;
  int rank_;
  double timeout_;
  int64_t width_, count_, places_;
  std::byte *own_, *result_;
  Announcement announcement_{};
  std::vector<Parcel> sent_, received_;
};

class CarriedCommunicator final : public Communicator {
 public:
  CarriedCommunicator(std::unique_ptr<Carrier> carrier, int rank, int size, double timeout)
      : Communicator(rank, size), carrier_(std::move(carrier)), timeout_(timeout) {}
  ~CarriedCommunicator() override { close(); }
  bool runs_beside() const override { return carrier_->runs_beside(); }

 protected:
  void leave() override { carrier_->close(); }
  void exchange(const CollectiveCall& call) override {
    try {
      if (failure_) throw Error(*failure_);
      CarriedExchange(*carrier_, call, rank(), timeout_).run();
    } catch (const Error& error) {
      failure_ = std::make_unique<Error>(error);
      throw;
    } catch (...) {
      // Interrupted: the others cannot know how far this rank came.
      failure_ = std::make_unique<Error>(ErrorKind::runtime, cat("rank ", rank(), " was interrupted while it waited"),
                                         "rank_interrupted", call.loc);
      throw;
    }
  }

 private:
  std::unique_ptr<Carrier> carrier_;
  double timeout_;
  std::unique_ptr<Error> failure_;  // the first, which all later calls throw
};

}  // namespace

std::unique_ptr<Communicator> carried_communicator(std::unique_ptr<Carrier> carrier, int rank, int size,
                                                   double timeout) {
  require_size(rank, size);
  return std::make_unique<CarriedCommunicator>(std::move(carrier), rank, size, timeout);
}

}  // namespace weft
