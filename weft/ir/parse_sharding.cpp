// Shardy's meshes and shardings: read where they stand, understood where values are divided.
#include "weft/ir/number_text.h"
#include "weft/ir/parser.h"
#include "weft/ir/sharding.h"

namespace weft {
namespace {

// Axes of `[x=2, y=1]` that have more than one device.
bool divides(std::string_view axes) {
  for (size_t at = axes.find('='); at != std::string_view::npos; at = axes.find('=', at + 1)) {
    std::string_view extent = axes.substr(at + 1);
    while (extent.starts_with(' ')) extent.remove_prefix(1);
    if (integer_of(extent.substr(0, extent.find_first_of(" ,]"))) != 1) return true;
  }
  return false;
}

}  // namespace

// @mesh = <["x"=2, "y"=2]>, once its keyword is read.
void Parser::mesh() {
  std::string name = lexer_.take().text;
  lexer_.expect("=");
  lexer_.expect("<");
  meshes_[name] = until_closed();
  skip_location();
}

// "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
void Parser::generic_mesh() {
  lexer_.take();
  lexer_.expect("(");
  lexer_.expect(")");
  MlirAttrs attrs;
  if (lexer_.take_if("<")) {
    lexer_.expect("{");
    attrs = attributes_.dictionary("}");
    lexer_.expect(">");
  }
  lexer_.expect(":");
  attributes_.signature({});
  skip_location();
  const std::string& source = attrs["mesh"].source;
  size_t begin = source.find('<'), end = source.rfind('>');
  if (begin < end && end != std::string::npos)
    meshes_[cat("@", attrs["sym_name"].text.value_or(""))] = source.substr(begin + 1, end - begin - 1);
}

std::string Parser::until_closed() {
  std::string text;
  for (int depth = 1;;) {
    if (lexer_.peek().kind == TokenKind::end) lexer_.reject("'>'");
    if (lexer_.is("<")) ++depth;
    if (lexer_.is(">")) --depth;
    Token token = lexer_.take();
    if (depth == 0) return text;
    append(text, text.empty() ? "" : " ", token.text);
  }
}

Value Parser::divided(Builder& build, Value value, const std::string& sharding) {
  size_t begin = sharding.find('<'), end = sharding.rfind('>');
  if (begin == std::string::npos || end <= begin) return value;
  std::string text = sharding.substr(begin + 1, end - begin - 1);
  if (text.starts_with('@')) {
    size_t name_end = std::min(text.find_first_of(" ,"), text.size());
    auto found = meshes_.find(text.substr(0, name_end));
    if (found == meshes_.end() || !divides(found->second)) return value;
    text = cat("mesh<", found->second, ">", text.substr(name_end));
  }
  return with_sharding(build, value, text);
}

}  // namespace weft
