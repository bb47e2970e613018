// Stack frames of the user's code, each stored once.
#include "weft/interop/hlo_frames.h"

namespace weft {
namespace {

// The number under which the key is known, and whether it has just been given.
template <class Key>
std::pair<int64_t, bool> numbered(std::map<Key, int64_t>& known, const Key& key) {
  auto [row, added] = known.try_emplace(key, static_cast<int64_t>(known.size()) + 1);
  return {row->second, added};
}

}  // namespace

int64_t HloFrames::file(const std::string& name) {
  auto [number, added] = numbered(files_, name);
  if (added) index_.text(1, name);
  return number;
}

int64_t HloFrames::function(const std::string& name) {
  auto [number, added] = numbered(functions_, name);
  if (added) index_.text(2, name);
  return number;
}

int64_t HloFrames::add(const Location& loc) {
  if (!loc) return 0;
  int64_t caller = add(loc.caller()), in_file = file(loc.file()), in_function = function(loc.function());
  auto [place, is_place_new] = numbered(places_, {in_file, in_function, loc.line(), loc.column()});
  if (is_place_new) {
    Message message;
    message.number(1, in_file);
    message.number(2, in_function);
    message.number(3, loc.line());
    message.number(4, loc.column());
    index_.message(3, message);
  }
  auto [frame, is_frame_new] = numbered(frames_, {place, caller});
  if (is_frame_new) {
    Message message;
    message.number(1, place);
    message.number(2, caller);
    index_.message(4, message);
  }
  return frame;
}

}  // namespace weft
