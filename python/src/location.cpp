// The user's place in a running Python program.
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convert.h"

namespace weft::py {
namespace {

constexpr int max_callers = 12;

// `escaped` keeps what is no text as it stands: names of files need not be UTF-8.
std::string_view text_of(PyObject* unicode, std::string& escaped) {
  Py_ssize_t size = 0;
  if (const char* text = PyUnicode_AsUTF8AndSize(unicode, &size)) return {text, static_cast<size_t>(size)};
  PyErr_Clear();
  return escaped = shown(unicode);
}

bool is_inside(std::string_view file, std::string_view folder) {
  return file.starts_with(folder) && file.size() > folder.size() && file[folder.size()] == '/';
}

// The folders of this package and of NumPy, whose frames are nobody's own code.
const std::vector<std::string>& skipped_folders() {
  static const std::vector<std::string> folders = [] {
    std::vector<std::string> found;
    for (const char* module : {"weftwork", "numpy"}) {
      std::string file = nb::cast<std::string>(nb::str(nb::module_::import_(module).attr("__file__")));
      found.push_back(file.substr(0, file.rfind('/')));
    }
    return found;
  }();
  return folders;
}

bool is_ours(std::string_view file) {
  for (const std::string& folder : skipped_folders())
    if (is_inside(file, folder)) return true;
  return false;
}

struct Seen {
  std::string file, function;
  int line;
};

// Where a call that Python runs is: what it runs, which the cache below owns, and how far it is in it.
struct Place {
  PyCodeObject* code;
  int offset;
  bool operator==(const Place&) const = default;
};

// What was told of places before. It owns the code that it knows, so that no address means two; used by who holds the
// GIL.
class KnownPlaces {
 public:
  bool is_ours(PyCodeObject* code) {
    auto [at, is_new] = ours_.try_emplace(code, false);
    if (is_new) {
      Py_INCREF(code);
      std::string escaped;
      at->second = weft::py::is_ours(text_of(code->co_filename, escaped));
    }
    return at->second;
  }

  const Location* find(const std::vector<Place>& places) const {
    auto found = locations_.find(places);
    return found == locations_.end() ? nullptr : &found->second;
  }

  void add(std::vector<Place> places, Location loc) { locations_.emplace(std::move(places), std::move(loc)); }

  // Forgets everything when that is much.
  void trim() {
    if (ours_.size() < most && locations_.size() < most) return;
    locations_.clear();
    for (auto [code, is_ours] : ours_) Py_DECREF(code);
    ours_.clear();
  }

 private:
  static constexpr size_t most = 4096;
  struct Hash {
    size_t operator()(const std::vector<Place>& places) const {
      size_t hash = 0;
      for (const Place& place : places)
        hash = hash * 31 + reinterpret_cast<size_t>(place.code) / 16 + static_cast<size_t>(place.offset) * 7919;
      return hash;
    }
  };
  std::unordered_map<PyCodeObject*, bool> ours_;
  std::unordered_map<std::vector<Place>, Location, Hash> locations_;
};

int offset_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return PyFrame_GetLineNumber(frame);
#endif
}

// Calls that Python runs, innermost first.
std::vector<Place> running_places(KnownPlaces& known, std::vector<int>* lines) {
  std::vector<Place> places;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame && places.size() < max_callers) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    bool ours = known.is_ours(code);
    Py_DECREF(code);  // which `known` holds, and the frame
    if (!ours) {
      places.push_back({code, offset_of(frame)});
      if (lines) lines->push_back(PyFrame_GetLineNumber(frame));
    }
    // The first frame of ours below the user's is the one that called the traced function.
    if (ours && !places.empty()) break;
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  return places;
}

// A function that gives the calls that a recorder interprets, as (file, line, function), innermost first.
thread_local PyObject* interpreted = nullptr;

std::vector<Seen> interpreted_frames() {
  std::vector<Seen> frames;
  for (nb::handle call : nb::handle(interpreted)()) {
    std::string escaped_file, escaped_name;
    std::string_view file = text_of(nb::object(call[0]).ptr(), escaped_file);
    if (is_ours(file)) continue;
    frames.push_back(
        {std::string(file), std::string(text_of(nb::object(call[2]).ptr(), escaped_name)), nb::cast<int>(call[1])});
    if (frames.size() == max_callers) break;
  }
  return frames;
}

Location location_of(std::vector<Seen> frames) {
  Location loc;
  for (auto seen = frames.rbegin(); seen != frames.rend(); ++seen)
    loc = Location(std::move(seen->file), seen->line, std::move(seen->function), loc);
  return loc;
}

}  // namespace

void set_interpreted_calls(nb::handle calls) {
  Py_XDECREF(interpreted);
  interpreted = calls.is_none() ? nullptr : calls.inc_ref().ptr();
}

Location caller_location() {
  if (interpreted) return location_of(interpreted_frames());
  static auto* known = new KnownPlaces;  // as long as Python
  known->trim();
  std::vector<Place> places = running_places(*known, nullptr);
  if (const Location* loc = known->find(places)) return *loc;
  std::vector<int> lines;
  running_places(*known, &lines);
  std::vector<Seen> frames;
  for (size_t i = 0; i < places.size(); ++i) {
    std::string escaped_file, escaped_name;
    frames.push_back({std::string(text_of(places[i].code->co_filename, escaped_file)),
                      std::string(text_of(places[i].code->co_name, escaped_name)), lines[i]});
  }
  Location loc = location_of(std::move(frames));
  known->add(std::move(places), loc);
  return loc;
}

}  // namespace weft::py
