// The user's place in a running Python program.
#include <string_view>
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

// Calls that Python runs, innermost first.
std::vector<Seen> running_frames() {
  std::vector<Seen> frames;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame && frames.size() < max_callers) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    std::string escaped_file, escaped_name;
    std::string_view file = text_of(code->co_filename, escaped_file);
    bool ours = is_ours(file);
    if (!ours) frames.push_back({std::string(file), std::string(text_of(code->co_name, escaped_name)), PyFrame_GetLineNumber(frame)});
    Py_DECREF(code);
    // The first frame of ours below the user's is the one that called the traced function.
    if (ours && !frames.empty()) break;
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  return frames;
}

// A function that gives the calls that a recorder interprets, as (file, line, function), innermost first.
thread_local PyObject* interpreted = nullptr;

std::vector<Seen> interpreted_frames() {
  std::vector<Seen> frames;
  for (nb::handle call : nb::handle(interpreted)()) {
    std::string escaped_file, escaped_name;
    std::string_view file = text_of(nb::object(call[0]).ptr(), escaped_file);
    if (is_ours(file)) continue;
    frames.push_back({std::string(file), std::string(text_of(nb::object(call[2]).ptr(), escaped_name)), nb::cast<int>(call[1])});
    if (frames.size() == max_callers) break;
  }
  return frames;
}

}  // namespace

void set_interpreted_calls(nb::handle calls) {
  Py_XDECREF(interpreted);
  interpreted = calls.is_none() ? nullptr : calls.inc_ref().ptr();
}

Location caller_location() {
  std::vector<Seen> frames = interpreted ? interpreted_frames() : running_frames();
  Location loc;
  for (auto seen = frames.rbegin(); seen != frames.rend(); ++seen)
    loc = Location(std::move(seen->file), seen->line, std::move(seen->function), loc);
  return loc;
}

}  // namespace weft::py
