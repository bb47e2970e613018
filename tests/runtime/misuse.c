/* Everything that a C program can ask for wrongly is a status and a message: misuse FIXED.weft SYMBOLIC.weft. The first
   takes x of 5 x 4 f32 and gives one array, the second takes x of rows x 4 f32, rows from 1 to 40, and gives one of
   that shape. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/c.h>

static int asked, wrong;

static void expect(const char* what, weft_status wanted, weft_status got) {
  const char* message = weft_last_error();
  ++asked;
  if (got == wanted && *message && !strstr(message, ".cpp:") && !strstr(message, "internal error")) return;
  ++wrong;
  printf("%s: status %d instead of %d: %s\n", what, (int)got, (int)wanted, message);
}

#define EXPECT(status, call) expect(#call, weft_##status, call)

static void of_buffers(void) {
  int64_t two[] = {2}, negative[] = {-1}, huge[] = {INT64_MAX}, product[] = {INT64_MAX, INT64_MAX},
          least[] = {INT64_MIN, 0}, many[70] = {0};
  float data[4] = {0};
  weft_buffer* made = NULL;
  EXPECT(value_error, weft_buffer_new(NULL, 1, two, NULL, &made));
  EXPECT(value_error, weft_buffer_new("", 1, two, NULL, &made));
  EXPECT(value_error, weft_buffer_new("float", 1, two, NULL, &made));
  EXPECT(value_error, weft_buffer_new("f32", 1, NULL, NULL, &made));
  EXPECT(value_error, weft_buffer_new("f32", -1, two, NULL, &made));
  EXPECT(value_error, weft_buffer_new("f32", 65, many, NULL, &made));
  EXPECT(value_error, weft_buffer_new("f32", INT64_MAX, two, NULL, &made));
  EXPECT(value_error, weft_buffer_new("f32", 1, negative, NULL, &made));
  EXPECT(value_error, weft_buffer_new("f32", 2, least, NULL, &made));
  EXPECT(value_error, weft_buffer_new("f32", 1, huge, NULL, &made));
  EXPECT(value_error, weft_buffer_new("f32", 2, product, NULL, &made));
  EXPECT(value_error, weft_buffer_new("ui8", 1, huge, NULL, &made));
  EXPECT(value_error, weft_buffer_new("f32", 1, two, "", &made));
  EXPECT(value_error, weft_buffer_new("f32", 1, two, "gpu", &made));
  EXPECT(value_error, weft_buffer_new("f32", 1, two, "cpu:-1", &made));
  EXPECT(value_error, weft_buffer_new("f32", 1, two, NULL, NULL));
  huge[0] = INT64_MAX / 2;
  EXPECT(runtime_error, weft_buffer_new("ui8", 1, huge, NULL, &made));
  EXPECT(value_error, weft_buffer_adopt(NULL, "f32", 1, two, NULL, NULL, NULL, &made));
  EXPECT(value_error, weft_buffer_adopt((char*)data + 1, "f32", 1, two, NULL, NULL, NULL, &made));
  EXPECT(value_error, weft_buffer_adopt(data, "f32", 1, negative, NULL, NULL, NULL, &made));
  EXPECT(value_error, weft_buffer_adopt(data, "f32", 1, NULL, NULL, NULL, NULL, &made));
  EXPECT(value_error, weft_buffer_adopt(data, NULL, 1, two, NULL, NULL, NULL, &made));
  EXPECT(value_error, weft_buffer_adopt(data, "f32", 1, two, NULL, NULL, NULL, NULL));
  EXPECT(value_error, weft_buffer_slice(NULL, 0, 1, &made));
  if (made) printf("a call that failed made a buffer\n"), ++wrong;
  if (weft_buffer_new("f32", 1, two, NULL, &made) != weft_ok) printf("no buffer: %s\n", weft_last_error()), exit(1);
  weft_buffer* part = NULL;
  EXPECT(index_error, weft_buffer_slice(made, -1, 1, &part));
  EXPECT(index_error, weft_buffer_slice(made, 0, 3, &part));
  EXPECT(index_error, weft_buffer_slice(made, 2, 1, &part));
  EXPECT(index_error, weft_buffer_slice(made, INT64_MIN, INT64_MAX, &part));
  EXPECT(value_error, weft_buffer_slice(made, 0, 1, NULL));
  weft_buffer_free(made);
  EXPECT(value_error, weft_set_num_threads(-1));
  EXPECT(value_error, weft_set_num_threads(1 << 20));
  EXPECT(value_error, weft_event_wait(NULL));
}

static void of_files(const char* path) {
  weft_executable* exe = NULL;
  EXPECT(value_error, weft_executable_load(NULL, NULL, &exe));
  EXPECT(value_error, weft_executable_load(path, NULL, NULL));
  EXPECT(value_error, weft_executable_load(path, "gpu", &exe));
  EXPECT(file_error, weft_executable_load("", NULL, &exe));
  EXPECT(file_error, weft_executable_load("/", NULL, &exe));
  EXPECT(file_error, weft_executable_load("/nowhere/at/all.weft", NULL, &exe));
  if (exe) printf("a call that failed made an executable\n"), ++wrong;
}

static void of_programs(const weft_executable* fixed, const weft_executable* symbolic) {
  int64_t given[] = {5, 4}, other[] = {5, 5}, most[] = {41, 4}, none[] = {0, 4}, one[] = {4}, dims[8];
  int64_t low[] = {0};
  weft_buffer *x, *wide, *tall, *flat, *doubles, *line, *elsewhere, *result = NULL, *null = NULL;
  weft_event* done = NULL;
  const char* name;
  int all = weft_buffer_new("f32", 2, given, NULL, &x) == weft_ok &&
            weft_buffer_new("f32", 2, other, NULL, &wide) == weft_ok &&
            weft_buffer_new("f32", 2, most, NULL, &tall) == weft_ok &&
            weft_buffer_new("f32", 2, none, NULL, &flat) == weft_ok &&
            weft_buffer_new("f64", 2, given, NULL, &doubles) == weft_ok &&
            weft_buffer_new("f32", 1, one, NULL, &line) == weft_ok &&
            weft_buffer_new("f32", 2, given, "cpu:1", &elsewhere) == weft_ok;
  if (!all) printf("no buffers: %s\n", weft_last_error()), exit(1);
  weft_buffer* two[] = {x, x};
  EXPECT(value_error, weft_executable_input(NULL, 0, &name, NULL, NULL, NULL));
  EXPECT(index_error, weft_executable_input(fixed, -1, &name, NULL, NULL, NULL));
  EXPECT(index_error, weft_executable_input(fixed, 1, &name, NULL, NULL, NULL));
  EXPECT(index_error, weft_executable_input(fixed, INT64_MIN, NULL, NULL, NULL, NULL));
  EXPECT(value_error, weft_executable_output(NULL, 0, &name, NULL, NULL, NULL, NULL));
  EXPECT(index_error, weft_executable_output(fixed, 7, &name, NULL, NULL, NULL, NULL));
  EXPECT(value_error, weft_executable_symbol(NULL, 0, &name, NULL, NULL, NULL));
  EXPECT(index_error, weft_executable_symbol(fixed, 0, &name, NULL, NULL, NULL));
  EXPECT(index_error, weft_executable_symbol(symbolic, -1, &name, NULL, NULL, NULL));
  EXPECT(value_error, weft_executable_input_dims(NULL, 0, NULL, dims));
  EXPECT(index_error, weft_executable_input_dims(symbolic, 1, NULL, dims));
  EXPECT(index_error, weft_executable_output_dims(symbolic, -1, NULL, dims));
  EXPECT(value_error, weft_executable_input_dims(symbolic, 0, NULL, NULL));
  EXPECT(value_error, weft_executable_output_dims(symbolic, 0, low, dims));
  EXPECT(value_error, weft_executable_run(NULL, &x, 1, &result, 1));
  EXPECT(type_error, weft_executable_run(fixed, NULL, 0, &result, 1));
  EXPECT(type_error, weft_executable_run(fixed, &x, -1, &result, 1));
  EXPECT(value_error, weft_executable_run(fixed, NULL, 1, &result, 1));
  EXPECT(value_error, weft_executable_run(fixed, &null, 1, &result, 1));
  EXPECT(type_error, weft_executable_run(fixed, two, 2, &result, 1));
  EXPECT(type_error, weft_executable_run(fixed, &x, 1, &result, 0));
  EXPECT(type_error, weft_executable_run(fixed, &x, 1, &result, -1));
  EXPECT(value_error, weft_executable_run(fixed, &x, 1, NULL, 1));
  EXPECT(type_error, weft_executable_run(fixed, &doubles, 1, &result, 1));
  EXPECT(value_error, weft_executable_run(fixed, &wide, 1, &result, 1));
  EXPECT(value_error, weft_executable_run(fixed, &line, 1, &result, 1));
  EXPECT(type_error, weft_executable_run(fixed, &elsewhere, 1, &result, 1));
  EXPECT(value_error, weft_executable_run(symbolic, &tall, 1, &result, 1));
  EXPECT(value_error, weft_executable_run(symbolic, &flat, 1, &result, 1));
  EXPECT(value_error, weft_executable_run(symbolic, &x, 1, &x, 1));
  EXPECT(value_error, weft_executable_run(symbolic, &x, 1, &wide, 1));
  EXPECT(type_error, weft_executable_run(symbolic, &x, 1, &doubles, 1));
  EXPECT(type_error, weft_executable_run(symbolic, &x, 1, &elsewhere, 1));
  EXPECT(value_error, weft_executable_run_async(NULL, &x, 1, &result, 1, &done));
  EXPECT(value_error, weft_executable_run_async(fixed, &x, 1, &result, 1, NULL));
  EXPECT(value_error, weft_executable_run_async(fixed, &x, 1, NULL, 1, &done));
  EXPECT(type_error, weft_executable_run_async(fixed, &x, 0, &result, 1, &done));
  EXPECT(value_error, weft_executable_run_async(fixed, &wide, 1, &result, 1, &done));
  if (result || done) printf("a call that failed gave a result\n"), ++wrong;
  weft_buffer* all_buffers[] = {x, wide, tall, flat, doubles, line, elsewhere};
  for (size_t i = 0; i < sizeof all_buffers / sizeof *all_buffers; ++i) weft_buffer_free(all_buffers[i]);
}

int main(int argc, char** argv) {
  weft_executable *fixed = NULL, *symbolic = NULL;
  if (argc < 3 || weft_executable_load(argv[1], NULL, &fixed) != weft_ok ||
      weft_executable_load(argv[2], NULL, &symbolic) != weft_ok)
    return 2;
  of_buffers();
  of_files(argv[1]);
  of_programs(fixed, symbolic);
  weft_executable_free(fixed);
  weft_executable_free(symbolic);
  printf("%d of %d calls ended otherwise\n", wrong, asked);
  return wrong != 0;
}
