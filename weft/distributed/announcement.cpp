// What ranks tell each other of a call, and what is said where they disagree.
#include <algorithm>
#include <cstring>

#include "weft/core/error.h"
#include "weft/core/hash.h"
#include "weft/distributed/board.h"

namespace weft {
namespace {

constexpr size_t shown_dims = std::size(Announcement{}.dims);

uint64_t call_digest(const CollectiveCall& call) {
  uint64_t digest = 0;
  auto add = [&](auto value) { digest = hash_combine(digest, static_cast<uint64_t>(value)); };
  add(is_message(call.kind) ? Collective::send : call.kind);
  add(call.operand.dtype);
  add(call.operand.dims.size());
  for (int64_t dim : call.operand.dims) add(dim);
  if (is_message(call.kind)) return digest;
  if (is_reduction(call.kind)) add(call.op);
  add(call.root);
  add(call.axis);
  for (int member : call.members) add(member);
  for (auto [source, target] : call.pairs) add(source), add(target);
  return digest;
}

std::string members_text(const Announcement& announcement) {
  std::vector<int> members;
  for (int rank = 0; rank < max_ranks; ++rank)
    if (announcement.members[rank / 64] >> (rank % 64) & 1) members.push_back(rank);
  return cat(members);
}

// "all_reduce sum of float32[4, 5] along axis 0 among [0, 1]"
std::string text_of(const Announcement& call) {
  std::string out = cat(name(call.kind));
  if (is_reduction(call.kind)) append(out, " ", name(call.op));
  if (call.kind == Collective::barrier) return cat(out, " among ", members_text(call));
  auto count = static_cast<size_t>(call.dims_count);
  append(out, " of ", numpy_name(call.dtype), Ints(call.dims, call.dims + std::min(count, shown_dims)),
         count > shown_dims ? "…" : "");
  if (is_message(call.kind)) return out;
  if (call.axis != 0) append(out, " along axis ", call.axis);
  if (call.kind == Collective::broadcast) append(out, " from rank ", call.root);
  return cat(out, " among ", members_text(call));
}

std::string place_of(const Announcement& call) {
  return call.line > 0 ? Location(call.file, call.line).trace_text() : "  at an unknown place";
}

}  // namespace

void announce(const CollectiveCall& call, Announcement& out) {
  out.digest = call_digest(call);
  out.kind = call.kind;
  out.op = call.op;
  out.dtype = call.operand.dtype;
  out.dims_count = static_cast<int32_t>(call.operand.dims.size());
  out.root = call.root;
  out.axis = call.axis;
  std::copy_n(call.operand.dims.begin(), std::min(call.operand.dims.size(), shown_dims), out.dims);
  std::ranges::fill(out.members, 0);
  for (int member : call.members) out.members[member / 64] |= uint64_t{1} << (member % 64);
  out.line = call.loc.line();
  // Of a long path the end is what people look for.
  const std::string& file = call.loc.file();
  constexpr size_t most = sizeof out.file - 1;
  size_t from = file.size() > most ? file.size() - most : 0;
  out.file[file.copy(out.file, most, from)] = 0;
}

std::string disagreement(int rank, const Announcement& own, int other_rank, const Announcement& other) {
  auto line = [](int of, const Announcement& call) {
    return cat("\n  rank ", of, ": ", text_of(call), "\n  ", place_of(call));
  };
  std::string first = line(rank, own), second = line(other_rank, other);
  return cat("ranks must make the same calls in the same order, but do not:",
             rank < other_rank ? first + second : second + first,
             text_of(own) == text_of(other) ? "\n  the order of the group, or the pairs, differ" : "");
}

}  // namespace weft
