// Ranks that are processes of one host: rank 0 makes memory without a name, and gives the others its descriptor by a
// socket whose name is no file. So nothing is left behind, whoever ends when.
//
// A rank holds a lock on its own byte of that memory, which the kernel lets go of when the process ends, killed or not,
// also before anyone waits for it: that is how others see that it is there.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "weft/core/digest.h"
#include "weft/core/error.h"
#include "weft/core/interrupt.h"
#include "weft/distributed/board.h"
#include "weft/distributed/memory.h"

namespace weft {
namespace {

// A descriptor that is closed with it.
class File {
 public:
  explicit File(int number = -1) : number_(number) {}
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept { return std::swap(number_, other.number_), *this; }
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

// What a rank says of itself, and what it gets beside the descriptor.
struct Hello {
  uint64_t layout;  // of a board: another for another version of it
  int32_t rank, size;
};
enum class Answer : int32_t { welcome, other_layout, other_size, rank_is_taken };

constexpr uint64_t layout = 0x7765667400000000 + sizeof(Announcement) + sizeof(Slot);

std::string system_error() { return std::strerror(errno); }

sockaddr_un address_of(const std::string& key, socklen_t& length) {
  // The first byte is 0: a name of no file, which is gone with the socket.
  std::string name = cat("weftwork-", getuid(), "-", digest_of(key).text());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

// Whoever is at the other end has so long for what it says.
void wait_a_second_at_most(int connection) {
  timeval second{1, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
}

bool is_own_user(int connection) {
  ucred other{};
  socklen_t length = sizeof other;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 && other.uid == getuid();
}

// -- locks ------------------------------------------------------------------------------------------------------------

struct flock byte_lock(int rank) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

void hold_lock(int file, int rank) {
  struct flock lock = byte_lock(rank);
  if (fcntl(file, F_SETLK, &lock) != 0)
    fail(ErrorKind::runtime, "rendezvous", "rank ", rank, " cannot lock its place: ", system_error());
}

bool is_locked(int file, int rank) {
  struct flock lock = byte_lock(rank);
  return fcntl(file, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

// -- the descriptor's way ---------------------------------------------------------------------------------------------

void send_answer(int connection, Answer answer, int file) {
  iovec bytes{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (answer == Answer::welcome) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  sendmsg(connection, &message, MSG_NOSIGNAL);  // one that is gone is found missing
}

// Nothing where the other end is gone.
File receive_answer(int connection, Answer& answer) {
  iovec bytes{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != sizeof answer || answer != Answer::welcome) return File();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  int file = -1;
  if (header && header->cmsg_type == SCM_RIGHTS) std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return File(file);
}

std::unique_ptr<Board> board_on(File file, int rank, int size, double timeout) {
  std::shared_ptr<std::byte> memory = mapped_memory(file.number(), Board::bytes_for(size));
  auto kept = std::make_shared<File>(std::move(file));
  return std::make_unique<Board>(std::move(memory), rank, size, timeout,
                                 [kept](int other) { return is_locked(kept->number(), other); });
}

// -- rank 0 -----------------------------------------------------------------------------------------------------------

class Host {
 public:
  Host(const std::string& key, int size, double timeout)
      : size_(size), deadline_(monotonic_seconds() + timeout), timeout_(timeout) {
    File memory(memfd_create("weftwork", MFD_CLOEXEC));
    if (!memory || ftruncate(memory.number(), static_cast<off_t>(Board::bytes_for(size))) != 0)
      fail(ErrorKind::runtime, "out_of_memory", "no memory for ", size, " ranks to share: ", system_error());
    file_ = memory.number();
    hold_lock(file_, 0);
    board_ = board_on(std::move(memory), 0, size, timeout);
    board_->arrive();
    listen_at(key);
  }

  std::unique_ptr<Board> gather() {
    std::string missing;
    while (!(missing = those_missing()).empty()) {
      if (monotonic_seconds() > deadline_)
        fail(ErrorKind::runtime, "rendezvous", "ranks ", missing, " of ", size_, " did not come within ", timeout_,
             " s");
      check_interrupt();
      pollfd waited{listener_.number(), POLLIN, 0};
      if (poll(&waited, 1, 10) == 1) welcome(File(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC)));
    }
    board_->set_ready();
    board_->count_cpus();
    return std::move(board_);
  }

 private:
  void listen_at(const std::string& key) {
    socklen_t length;
    sockaddr_un address = address_of(key, length);
    listener_ = File(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    // Another rank 0 with the same key may be about to begin; its ranks would be taken for ours.
    while (bind(listener_.number(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
      if (errno != EADDRINUSE || monotonic_seconds() > deadline_)
        fail(ErrorKind::runtime, "rendezvous", "rank 0 cannot be reached by the key '", key, "': ", system_error());
      check_interrupt();
      poll(nullptr, 0, 5);
    }
    if (listen(listener_.number(), max_ranks) != 0)
      fail(ErrorKind::runtime, "rendezvous", "rank 0 cannot listen: ", system_error());
  }

  // The ranks that have not come, or have ended since.
  std::string those_missing() const {
    std::vector<int> missing;
    for (int rank = 1; rank < size_; ++rank)
      if (!board_->has_arrived(rank))
        missing.push_back(rank);
      else if (!is_locked(file_, rank))
        fail(ErrorKind::runtime, "rank_ended", "rank ", rank, " has ended before all had come");
    return missing.empty() ? std::string() : cat(missing);
  }

  void welcome(File connection) {
    if (!connection || !is_own_user(connection.number())) return;
    wait_a_second_at_most(connection.number());
    Hello hello{};
    if (recv(connection.number(), &hello, sizeof hello, 0) != sizeof hello) return;
    bool fits = hello.rank > 0 && hello.rank < size_;
    Answer answer = hello.layout != layout               ? Answer::other_layout
                    : hello.size != size_                ? Answer::other_size
                    : !fits || was_welcomed_[hello.rank] ? Answer::rank_is_taken
                                                         : Answer::welcome;
    if (answer == Answer::welcome) was_welcomed_[hello.rank] = true;
    send_answer(connection.number(), answer, file_);
  }

  int size_, file_;
  double deadline_, timeout_;
  File listener_;
  std::unique_ptr<Board> board_;
  bool was_welcomed_[max_ranks] = {};
};

// -- the others -------------------------------------------------------------------------------------------------------

File connected(const std::string& key, int rank, double deadline, double timeout) {
  socklen_t length;
  sockaddr_un address = address_of(key, length);
  while (true) {
    File connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (connect(connection.number(), reinterpret_cast<sockaddr*>(&address), length) == 0 &&
        is_own_user(connection.number()))
      return connection;
    if (monotonic_seconds() > deadline)
      fail(ErrorKind::runtime, "rendezvous", "rank 0 did not come within ", timeout, " s, and rank ", rank,
           " waits for it");
    check_interrupt();
    poll(nullptr, 0, 2);
  }
}

File joined(const std::string& key, const Hello& hello, double deadline, double timeout) {
  while (true) {
    File connection = connected(key, hello.rank, deadline, timeout);
    send(connection.number(), &hello, sizeof hello, MSG_NOSIGNAL);
    wait_a_second_at_most(connection.number());
    Answer answer = Answer::welcome;
    File file = receive_answer(connection.number(), answer);
    if (file) return file;
    if (answer == Answer::other_layout)
      fail(ErrorKind::runtime, "rendezvous", "rank ", hello.rank,
           " and rank 0 have different versions of this library");
    if (answer == Answer::other_size)
      fail(ErrorKind::runtime, "rendezvous", "rank ", hello.rank, " has a size of ", hello.size,
           ", rank 0 has another");
    if (answer == Answer::rank_is_taken)
      fail(ErrorKind::runtime, "rendezvous", "there are two processes with rank ", hello.rank);
    // Rank 0 ended, or did not answer: it may come again.
  }
}

std::unique_ptr<Board> join(const std::string& key, int rank, int size, double timeout) {
  double deadline = monotonic_seconds() + timeout;
  File file = joined(key, {layout, rank, size}, deadline, timeout);
  int number = file.number();
  hold_lock(number, rank);
  std::unique_ptr<Board> board = board_on(std::move(file), rank, size, timeout);
  board->arrive();
  while (!board->is_ready()) {
    if (!is_locked(number, 0)) fail(ErrorKind::runtime, "rank_ended", "rank 0 has ended before all had come");
    if (monotonic_seconds() > deadline)
      fail(ErrorKind::runtime, "rendezvous", "not all ranks came within ", timeout, " s, and rank ", rank,
           " waits for them");
    check_interrupt();
    poll(nullptr, 0, 1);
  }
  board->count_cpus();
  return board;
}

}  // namespace

std::unique_ptr<Communicator> shared_memory_communicator(const std::string& key, int rank, int size, double timeout) {
  require_size(rank, size);
  InterruptibleWork work;
  return communicator_on(rank == 0 ? Host(key, size, timeout).gather() : join(key, rank, size, timeout), false);
}

}  // namespace weft
