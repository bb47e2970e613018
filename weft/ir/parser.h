// The parser of StableHLO text: what its parts share.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "weft/ir/attribute_text.h"
#include "weft/ir/builder.h"
#include "weft/ir/parse_call.h"

namespace weft {

// Whether the operation of that name ends a function or region.
bool is_terminator(std::string_view name);
// The same nodes and outputs in a new builder.
std::vector<Output> copied(Builder& build, const Graph& graph);

// What a name stands for that is no tensor: a tuple of others, or a token, which is a tuple of nothing.
struct Bundle {
  Value value;  // of a tensor
  std::vector<Bundle> parts = {};
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view file, std::span<const Literal> resources)
      : lexer_(text, file), attributes_(lexer_, resources) {}
  GraphPtr module();

 private:
  // The values of one function or region by name.
  struct Scope {
    Builder* build = nullptr;
    Scope* outer = nullptr;
    int depth = 0;
    std::map<std::string, Value> values = {};
    std::vector<Value> captured = {};
    std::map<std::string, Bundle> bundles = {};
  };
  struct Function {
    Lexer at;
    bool is_open = false;  // being read: a call of it would never end
    bool is_generic = false;
    GraphPtr graph = nullptr;
  };

  // A name for a location, read when it is first asked for: it may stand after its uses.
  struct LocationAlias {
    Lexer at;
    bool is_open = false;  // being read: a location that contains itself
    std::optional<Location> location = {};
  };

  // parse_location.cpp
  void location_alias();
  // loc(…) where it stands; the place of the text where it stands not, or names none.
  Location location(size_t begin);
  Location location_in(const Location& otherwise, int depth);
  Location location_named(const std::string& name, size_t begin, const Location& otherwise, int depth);

  // parse_module.cpp: modules and functions
  void find_functions();
  void find_function();
  void find_generic_function();
  void note_function(const std::string& name, size_t begin, Function function);
  void generic_end();
  void skip_location();
  void skip_braces();
  static GraphPtr joined(std::vector<GraphPtr> functions);
  SymbolTable symbols_ahead(Lexer probe);
  SymbolTable parse_symbols(const std::string& text);
  GraphPtr function(const std::string& name, bool is_generic);
  void generic_head(Scope& scope, std::map<int64_t, int>& aliases, std::vector<std::string>& names,
                    std::vector<std::string>& shardings);
  static std::string result_name(const MlirAttrs& attrs);
  static std::string sharding_of(const MlirAttrs& attrs);
  int64_t unfolded_size(const Graph& graph);
  GraphPtr function_named(const std::string& name, size_t begin);
  // `all_attrs`: the attributes of each where they do not stand beside it.
  void parameters(Scope& scope, std::map<int64_t, int>* aliases, const MlirAttr* all_attrs = nullptr);
  std::vector<Type> results(std::vector<std::string>& names, std::vector<std::string>& shardings);

  // parse_sharding.cpp: how values are divided among devices
  void mesh();
  void generic_mesh();
  // What stands before the `>` that closes what was opened, without quotes.
  std::string until_closed();
  // The value as `#sdy.sharding<…>` says that it is divided, where there are devices to divide it among.
  Value divided(Builder& build, Value value, const std::string& sharding);

  // parse.cpp: statements and regions
  static GraphPtr levelled(GraphPtr graph);
  Value lookup(Scope& scope, const std::string& name, size_t begin);
  Value value(Scope& scope);
  std::vector<Value> values(Scope& scope);
  std::vector<Value> statements(Scope& scope);
  std::vector<Value> returned(Scope& scope);
  void require_types(std::string_view what, const std::vector<Value>& given, const std::vector<Type>& types,
                     size_t begin);
  void statement(Scope& scope);
  void restore_function(ParsedCall& call);
  void finish(Scope& scope, ParsedCall& call, const std::vector<std::string>& names);
  ParsedRegion region(Scope& outer);
  // `tokens`: names that stand for nothing.
  ParsedRegion region_with(Scope& outer, const std::vector<std::pair<std::string, Type>>& parameters,
                           const std::vector<std::string>& tokens = {});
  // Gives all regions of a loop or branch the same captured values, as parameters and operands.
  void share_captured(ParsedCall& call, bool is_loop);
  // The functions that a custom_call names, as its regions.
  void called_computations(ParsedCall& call);
  void generic_call(ParsedCall& call, Scope& scope);

  // parse_tuple.cpp: tuples and tokens, which exist in the text alone
  bool is_bundle_type() const { return lexer_.is("tuple") || lexer_.peek().kind == TokenKind::bang; }
  Bundle bundle(Scope& scope);
  std::vector<Bundle> bundles(Scope& scope);
  Bundle bundle_parameter(Scope& scope, const std::string& name);
  void name_results(Scope& scope, const ParsedCall& call, const std::vector<std::string>& names,
                    const std::vector<Value>& given);
  void define(Scope& scope, const std::string& name, Bundle result, size_t begin);
  static void append_leaves(const Bundle& bundle, std::vector<Value>& leaves);
  bool bundle_statement(const std::string& op, bool generic, Scope& scope, const std::vector<std::string>& names,
                        size_t begin);

  // parse_pretty.cpp: the forms of single ops
  void pretty_call(ParsedCall& call, Scope& scope);
  void plain_form(ParsedCall& call, Scope& scope);
  void while_form(ParsedCall& call, Scope& scope);
  void reduce_form(ParsedCall& call, Scope& scope);
  void convolution_form(ParsedCall& call, Scope& scope);
  MlirAttr window();
  void call_form(ParsedCall& call, Scope& scope);
  void top_k_form(ParsedCall& call, Scope& scope);
  void scan_form(ParsedCall& call, Scope& scope);
  void slice_ranges(ParsedCall& call);
  void call_types(ParsedCall& call);
  void attribute_clauses(ParsedCall& call);

  Lexer lexer_;
  AttributeReader attributes_;
  SymbolTable symbols_;
  std::map<std::string, LocationAlias> aliases_;
  std::map<std::string, Function> functions_;
  std::map<std::string, std::string> meshes_;  // by @name
  std::vector<std::string> order_;             // of functions
  std::map<const Graph*, int64_t> unfolded_;
  std::set<const Graph*> restored_;  // bodies of composites that became functions again
  int open_functions_ = 0;
};

}  // namespace weft
