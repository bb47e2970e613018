/* Loads a .weft file, runs it with inputs of zeros, and prints what comes out. Symbolic extents are given as
   NAME=VALUE, or are the usual ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/c.h>

#define CHECK(call)                                                              \
  do {                                                                           \
    if ((call) != weft_ok) return fprintf(stderr, "%s\n", weft_last_error()), 1; \
  } while (0)

/* What the arguments say that an extent is, or `usual`. */
static int64_t extent_of(const char* name, int64_t usual, int count, char** arguments) {
  size_t length = strlen(name);
  for (int i = 0; i < count; ++i)
    if (strncmp(arguments[i], name, length) == 0 && arguments[i][length] == '=')
      return strtoll(arguments[i] + length + 1, NULL, 10);
  return usual;
}

int main(int argc, char** argv) {
  if (argc < 2) return fprintf(stderr, "usage: run FILE.weft [EXTENT=VALUE ...]\n"), 2;
  weft_executable* exe = NULL;
  CHECK(weft_executable_load(argv[1], NULL, &exe));
  int64_t inputs = weft_executable_input_count(exe), outputs = weft_executable_output_count(exe),
          symbols = weft_executable_symbol_count(exe);
  weft_buffer** given = calloc((size_t)inputs + 1, sizeof *given);
  weft_buffer** results = calloc((size_t)outputs + 1, sizeof *results);
  int64_t* extents = calloc((size_t)symbols + 1, sizeof *extents);
  for (int64_t i = 0; i < symbols; ++i) {
    const char* name;
    int64_t usual;
    CHECK(weft_executable_symbol(exe, i, &name, NULL, &usual, NULL));
    extents[i] = extent_of(name, usual, argc - 2, argv + 2);
  }
  for (int64_t i = 0; i < inputs; ++i) {
    const char *name, *dtype;
    int64_t rank, dims[8];
    CHECK(weft_executable_input(exe, i, &name, &dtype, &rank, NULL));
    if (rank > 8) return fprintf(stderr, "input %d has %d dimensions\n", (int)i, (int)rank), 1;
    CHECK(weft_executable_input_dims(exe, i, extents, dims));
    CHECK(weft_buffer_new(dtype, rank, dims, NULL, &given[i]));
    memset(weft_buffer_data(given[i]), 0, (size_t)weft_buffer_bytes(given[i]));
    printf("input %s: %s of rank %d\n", name, dtype, (int)rank);
  }
  CHECK(weft_executable_run(exe, given, inputs, results, outputs));
  for (int64_t i = 0; i < outputs; ++i) {
    printf("output %d: %s, %ld bytes", (int)i, weft_buffer_dtype(results[i]), (long)weft_buffer_bytes(results[i]));
    if (strcmp(weft_buffer_dtype(results[i]), "f32") == 0 && weft_buffer_bytes(results[i]) >= 4)
      printf(", the first is %g", *(const float*)weft_buffer_data(results[i]));
    printf("\n");
    weft_buffer_free(results[i]);
  }
  for (int64_t i = 0; i < inputs; ++i) weft_buffer_free(given[i]);
  free(extents);
  free(results);
  free(given);
  weft_executable_free(exe);
  return 0;
}
