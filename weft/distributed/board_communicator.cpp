// Collectives as steps: in each, every rank of a group says something, and reads what it needs of the others.
#include <algorithm>
#include <cstring>

#include "weft/core/error.h"
#include "weft/core/interrupt.h"
#include "weft/core/pages.h"
#include "weft/distributed/board.h"

namespace weft {
namespace {

// Up to so many bytes every rank adds up all; of more, each a part.
constexpr int64_t added_by_all = 8 << 10;
// Fewer bytes are copied also where ranks could read each other's memory, so that none waits for its readers.
constexpr int64_t always_copied = 4 << 10;

// A process that comes within some microseconds is waited for with the host's lock.
constexpr int held_spins = 100;

struct Reader {
  int rank;
  uint64_t count;
};

// What a rank says in a lane, and who has yet to read it.
class Speaker {
 public:
  Speaker(Board& board, Lane lane) : board_(board), lane_(lane) {}

  // The slot for the next thing to say: once those who were to read what it holds have done so.
  Slot& open() {
    settle(half_);
    return board_.slot(lane_, board_.rank(), half_);
  }
  void say_to(std::span<const int> peers) {
    for (int peer : peers) {
      std::atomic<uint64_t>& said = board_.said(lane_, board_.rank(), peer);
      uint64_t count = said.load(std::memory_order_relaxed) / 2 + 1;
      said.store(count * 2 + static_cast<uint64_t>(half_), std::memory_order_release);
      readers_[half_].push_back({peer, count});
    }
    board_.ring(peers);
    half_ = 1 - half_;
  }
  // What `peer` said as the `count`th.
  const Slot& hear(int peer, uint64_t count) {
    const std::atomic<uint64_t>& said = board_.said(lane_, peer, board_.rank());
    board_.wait(peer, [&] { return said.load(std::memory_order_acquire) / 2 >= count; });
    // It may be one ahead, in the other slot; not two, as this slot's reader is this rank.
    uint64_t last = said.load(std::memory_order_acquire);
    return board_.slot(lane_, peer, static_cast<int>((last ^ (last / 2 - count)) & 1));
  }
  void settle(int half) {
    for (auto [rank, count] : readers_[half]) {
      const std::atomic<uint64_t>& read = board_.read(lane_, board_.rank(), rank);
      board_.wait(rank, [&, count = count] { return read.load(std::memory_order_acquire) >= count; });
    }
    readers_[half].clear();
  }

 private:
  Board& board_;
  Lane lane_;
  int half_ = 0;
  std::vector<Reader> readers_[2];
};

// One call of one rank.
class Exchange {
 public:
  Exchange(Board& board, Speaker& group, Speaker& messages, const CollectiveCall& call, bool direct)
      : board_(board),
        group_(group),
        messages_(messages),
        call_(call),
        direct_(direct && call.operand.bytes() > always_copied),
        past_caches_(call.result != call.operand.data && 2 * call.operand.bytes() >= beyond_caches),
        width_(size_of(call.operand.dtype)),
        count_(call.operand.count()),
        parts_(static_cast<int64_t>(call.members.size())),
        own_(static_cast<const std::byte*>(call.operand.data)),
        result_(static_cast<std::byte*>(call.result)) {
    for (int member : call.members)
      if (member != board.rank()) peers_.push_back(member);
  }

  void run() {
    switch (call_.kind) {
      case Collective::all_reduce:
        all_reduce();
        break;
      case Collective::all_gather:
        all_gather();
        break;
      case Collective::reduce_scatter:
        reduce_scatter();
        break;
      case Collective::all_to_all:
        all_to_all();
        break;
      case Collective::permute:
        permute();
        break;
      case Collective::broadcast:
        broadcast();
        break;
      case Collective::barrier:
        step({}, 0, [] {});
        break;
      case Collective::send:
        return send();
      case Collective::receive:
        return receive();
    }
    // Nobody else's reads may go on once the caller has its memory back.
    if (direct_)
      for (int half : {0, 1}) group_.settle(half);
  }

 private:
  // -- steps ---------------------------------------------------------------------------------------------------------

  // Says `bytes` from `data`, then reads. Empty steps keep ranks together that have nothing to say.
  template <class Read>
  void step(const std::byte* data, int64_t bytes, const Read& read) {
    step_of([&](std::byte* to) { copy(data, to, bytes); }, data, read);
  }
  // The same, `write(memory)` says it; `direct` is where it is as it would be written.
  template <class Write, class Read>
  void step_of(const Write& write, const std::byte* direct, const Read& read) {
    Slot& slot = group_.open();
    bool is_first = !std::exchange(has_begun_, true);
    if (is_first) announce(call_, slot.announcement);
    slot.direct = direct_ ? direct : nullptr;
    slot.result = result_;
    if (!direct_) write(slot.bytes);
    group_.say_to(peers_);
    if (is_first)
      for (int peer : peers_) compare(peer, slot.announcement, heard(peer).announcement);
    if (direct_) {
      for (int peer : peers_) heard(peer);
      board_.begin_use();
    }
    read();
    if (direct_) board_.end_use();
    for (int peer : peers_)
      board_.read(Lane::group, peer, board_.rank()).store(said_to(peer), std::memory_order_release);
    board_.ring(peers_);
  }

  uint64_t said_to(int peer) const {
    return board_.said(Lane::group, board_.rank(), peer).load(std::memory_order_relaxed) / 2;
  }
  const Slot& heard(int peer) { return group_.hear(peer, said_to(peer)); }
  // What the member of that place said in this step; `own` for this rank's.
  const std::byte* bytes_of(int64_t place, const std::byte* own) {
    if (place == call_.index) return own;
    const Slot& slot = heard(call_.members[static_cast<size_t>(place)]);
    return slot.direct ? slot.direct : slot.bytes;
  }
  void compare(int peer, const Announcement& own, const Announcement& other) {
    if (own.digest != other.digest)
      board_.fail_all("collective_mismatch", disagreement(board_.rank(), own, peer, other));
  }
  // To what is said, and to the result.
  static void copy(const std::byte* from, std::byte* to, int64_t bytes) { copy_elements(from, to, bytes); }
  void give(const std::byte* from, std::byte* to, int64_t bytes) const { copy_elements(from, to, bytes, past_caches_); }
  // Ranges [begin, begin + length) of `count` things of `bytes` each that a slot can hold; one at least.
  template <class Body>
  void in_pieces(int64_t count, int64_t bytes, const Body& body) {
    in_ranges(count, direct_ ? count : Board::capacity(Lane::group) / bytes, body);
  }
  template <class Body>
  static void in_ranges(int64_t count, int64_t most, const Body& body) {
    int64_t begin = 0;
    do {
      int64_t length = std::min(most, count - begin);
      body(begin, length);
      begin += length;
    } while (begin < count);
  }

  // -- collectives -----------------------------------------------------------------------------------------------

  // Each rank combines a part of the operands where they lie, and writes it to all results.
  void all_reduce_directly() {
    int64_t line = std::max<int64_t>(64 / width_, 1), part = ((count_ + parts_ - 1) / parts_ + line - 1) / line * line;
    int64_t begin = std::min(call_.index * part, count_), length = std::min(part, count_ - begin);
    step(own_, 0, [&] {
      std::vector<std::byte*> results;
      for (int member : call_.members)
        results.push_back((member == board_.rank() ? result_ : heard(member).result) + begin * width_);
      reduce(own_, begin, results, length);
    });
  }

  void all_reduce() {
    if (direct_) return all_reduce_directly();
    bool by_all = parts_ == 2 || count_ * width_ <= added_by_all;
    in_pieces(count_, width_, [&](int64_t begin, int64_t length) {
      const std::byte* own = own_ + begin * width_;
      std::byte* result = result_ + begin * width_;
      int64_t part = by_all ? length : (length + parts_ - 1) / parts_;
      auto begin_of = [&](int64_t place) { return by_all ? 0 : std::min(place * part, length); };
      auto bytes_at = [&](int64_t place) {
        return (std::min(begin_of(place) + part, length) - begin_of(place)) * width_;
      };
      int64_t mine = begin_of(call_.index);
      step(own, length * width_,
           [&] { reduce(own, mine, {{result + mine * width_}}, bytes_at(call_.index) / width_); });
      if (by_all) return;
      step(result + mine * width_, bytes_at(call_.index), [&] {
        for (int64_t place = 0; place < parts_; ++place)
          if (place != call_.index) give(bytes_of(place, nullptr), result + begin_of(place) * width_, bytes_at(place));
      });
    });
  }

  // The elements from `from` on of what every member said in this step, combined, to each of the results.
  void reduce(const std::byte* own, int64_t from, const std::vector<std::byte*>& results, int64_t count) {
    inputs_.clear();
    for (int64_t place = 0; place < parts_; ++place) inputs_.push_back(bytes_of(place, own) + from * width_);
    reduce_in_order(call_.op, call_.operand.dtype, inputs_, results, count, past_caches_);
  }

  void all_gather() {
    in_pieces(count_, width_, [&](int64_t begin, int64_t length) {
      const std::byte* own = own_ + begin * width_;
      step(own, length * width_, [&] {
        for (int64_t place = 0; place < parts_; ++place)
          give(bytes_of(place, own), result_ + (place * count_ + begin) * width_, length * width_);
      });
    });
  }

  // Says the operand's parts, a range of each at once, and reads what the others say for this rank: from element
  // index * length on, also of `own`.
  template <class Read>
  void exchange_parts(const Read& read) {
    int64_t part = count_ / parts_;
    in_pieces(part, width_ * parts_, [&](int64_t begin, int64_t length) {
      auto write = [&](std::byte* to) {
        for (int64_t place = 0; place < parts_; ++place)
          copy(own_ + (place * part + begin) * width_, to + place * length * width_, length * width_);
      };
      // What this rank has itself lies elsewhere than what others said.
      const std::byte* own = own_ + (call_.index * (part - length) + begin) * width_;
      step_of(write, own_, [&] { read(own, begin, length); });
    });
  }

  void reduce_scatter() {
    exchange_parts([&](const std::byte* own, int64_t begin, int64_t length) {
      reduce(own, call_.index * length, {{result_ + begin * width_}}, length);
    });
  }

  void all_to_all() {
    exchange_parts([&](const std::byte* own, int64_t begin, int64_t length) {
      for (int64_t place = 0; place < parts_; ++place)
        give(bytes_of(place, own) + call_.index * length * width_,
             result_ + (place * (count_ / parts_) + begin) * width_, length * width_);
    });
  }

  void permute() {
    int source = -1;
    bool sends = false;
    for (auto [from, to] : call_.pairs) {
      if (to == board_.rank()) source = from;
      sends |= from == board_.rank();
    }
    if (source < 0 && count_ > 0) std::memset(result_, 0, static_cast<size_t>(count_ * width_));
    in_pieces(count_, width_, [&](int64_t begin, int64_t length) { one_from(source, sends, begin, length); });
  }

  void broadcast() {
    in_pieces(count_, width_,
              [&](int64_t begin, int64_t length) { one_from(call_.root, call_.root == board_.rank(), begin, length); });
  }

  void one_from(int source, bool says, int64_t begin, int64_t length) {
    const std::byte* own = own_ + begin * width_;
    step(own, says ? length * width_ : 0, [&] {
      int64_t place = std::ranges::find(call_.members, source) - call_.members.begin();
      if (place < parts_) give(bytes_of(place, own), result_ + begin * width_, length * width_);
    });
  }

  // -- messages ------------------------------------------------------------------------------------------------------

  template <class Body>
  void in_messages(const Body& body) {
    in_ranges(count_ * width_, Board::capacity(Lane::message), body);
  }

  void send() {
    in_messages([&](int64_t begin, int64_t length) {
      Slot& slot = messages_.open();
      if (begin == 0) announce(call_, slot.announcement);
      copy(own_ + begin, slot.bytes, length);
      messages_.say_to({&call_.root, 1});
    });
  }

  void receive() {
    std::atomic<uint64_t>& read = board_.read(Lane::message, call_.root, board_.rank());
    Announcement own{};
    announce(call_, own);
    in_messages([&](int64_t begin, int64_t length) {
      uint64_t count = read.load(std::memory_order_relaxed) + 1;
      const Slot& slot = messages_.hear(call_.root, count);
      if (begin == 0) compare(call_.root, own, slot.announcement);
      copy(slot.bytes, result_ + begin, length);
      read.store(count, std::memory_order_release);
      board_.ring({&call_.root, 1});
    });
  }

  Board& board_;
  Speaker &group_, &messages_;
  const CollectiveCall& call_;
  bool direct_, past_caches_, has_begun_ = false;
  int64_t width_, count_, parts_;
  const std::byte* own_;
  std::byte* result_;
  std::vector<int> peers_;
  std::vector<const std::byte*> inputs_;
};

class BoardCommunicator final : public Communicator {
 public:
  BoardCommunicator(std::unique_ptr<Board> board, bool direct)
      : Communicator(board->rank(), board->size()),
        board_(std::move(board)),
        group_(*board_, Lane::group),
        messages_(*board_, Lane::message),
        direct_(direct) {
    if (!direct) board_->set_held_spins(held_spins);
  }
  ~BoardCommunicator() override { close(); }

  bool is_of_threads() const override { return direct_ && board_->has_cpu_each(); }

 protected:
  void leave() override { board_->leave(); }
  void exchange(const CollectiveCall& call) override {
    try {
      InterruptibleWork work;
      board_->throw_failure();
      if (direct_ && !knows_cpus_) learn_cpus();
      Exchange(*board_, group_, messages_, call, direct_).run();
    } catch (...) {
      if (direct_) board_->await_users();
      throw;
    }
  }

 private:
  // Of threads, which may each be bound to a CPU before their first call.
  void learn_cpus() {
    if (!board_->has_arrived(rank())) board_->arrive();
    for (int each = 0; each < size(); ++each)
      if (!board_->has_arrived(each)) return;
    board_->count_cpus();
    knows_cpus_ = true;
  }

  std::unique_ptr<Board> board_;
  Speaker group_, messages_;
  bool direct_, knows_cpus_ = false;
};

}  // namespace

std::unique_ptr<Communicator> communicator_on(std::unique_ptr<Board> board, bool direct) {
  return std::make_unique<BoardCommunicator>(std::move(board), direct);
}

}  // namespace weft
