/* A compiler and linker for tests that need thousands of commands: GCC's options, a millisecond a
 * run, and an "object" that is the whole preprocessed text with the options that matter, so that
 * whatever a build got wrong shows in the bytes.
 *
 *   stand-in [-Idir] [-DNAME[=value]] [-other] -c source -o object [-MD|-M -MF file -MT target]
 *   stand-in [-other] object... -o program
 *
 * Knows #include "x", <x> and NAME (each file once), #include_next, #ifdef, #ifndef,
 * #if __has_include("x"), #endif, -include x. A file `delay` beside the program holds milliseconds: so long it
 * takes, half of it before the headers are read, half with the first half of the output written.
 */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 512, LONG = 4096 };

static const char *dirs[MANY], *defines[MANY], *inputs[MANY], *forced[MANY];
static char *seen[MANY];
static int n_dirs, n_defines, n_inputs, n_forced, n_seen, delay;
static char *text;
static size_t length;
static FILE *out;

static void fail(const char *file, const char *what) {
  fprintf(stderr, "%s: fatal error: %s: No such file or directory\n", file, what);
  exit(1);
}

static const char *macro(const char *name, size_t size) {
  for (int i = n_defines; i-- > 0;)
    if (!strncmp(defines[i], name, size)) {
      if (defines[i][size] == '=')
        return defines[i] + size + 1;
      if (!defines[i][size])
        return "1";
    }
  return NULL;
}

/* The path of a header, or NULL. `after` is the directory that include_next starts behind. */
static char *find(const char *name, int quoted, const char *here, const char *after) {
  static char path[LONG];
  int skipping = after != NULL;
  for (int i = quoted && !after ? -1 : 0; i < n_dirs; i++) {
    const char *dir = i < 0 ? here : dirs[i];
    if (skipping) {
      skipping = strcmp(dir, after) != 0;
      continue;
    }
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (access(path, R_OK) == 0)
      return path;
  }
  return NULL;
}

static void include(const char *path, const char *from);

static void directive(const char *line, const char *path, const char *here) {
  int next = !strncmp(line, "#include_next", 13);
  const char *rest = line + (next ? 13 : 8);
  char name[LONG];
  rest += strspn(rest, " ");
  if (*rest != '"' && *rest != '<') {
    const char *value = macro(rest, strcspn(rest, " \n"));
    if (!value)
      fail(path, rest);
    rest = value;
  }
  snprintf(name, sizeof name, "%s", rest + 1);
  name[strcspn(name, "\">\n")] = 0;
  char *found = find(name, *rest == '"', here, next ? here : NULL);
  if (!found)
    fail(path, name);
  fprintf(out, "# %s\n", name);
  include(strdup(found), here);
}

static int has(const char *line, const char *here) {
  char name[LONG];
  const char *start = strpbrk(line, "\"<");
  snprintf(name, sizeof name, "%s", start + 1);
  name[strcspn(name, "\">\n")] = 0;
  return find(name, *start == '"', here, NULL) != NULL;
}

static void include(const char *path, const char *from) {
  char line[LONG], *copy = strdup(path);
  for (int i = 0; i < n_seen; i++)
    if (!strcmp(seen[i], path))
      return;
  seen[n_seen++] = strdup(path);
  FILE *file = fopen(path, "r");
  if (!file)
    fail(from, path);
  const char *here = dirname(copy);
  int off = 0, depth = 0; /* off: the depth at which lines began to be skipped */
  while (fgets(line, sizeof line, file)) {
    int opens = !strncmp(line, "#if", 3);
    if (opens)
      depth++;
    if (opens && !off) {
      int yes = 1;
      if (!strncmp(line, "#ifdef ", 7))
        yes = macro(line + 7, strcspn(line + 7, " \n")) != NULL;
      else if (!strncmp(line, "#ifndef ", 8))
        yes = macro(line + 8, strcspn(line + 8, " \n")) == NULL;
      else if (!strncmp(line, "#if __has_include", 17))
        yes = has(line, here);
      if (!yes)
        off = depth;
    } else if (!strncmp(line, "#endif", 6)) {
      if (off == depth)
        off = 0;
      depth--;
    } else if (!off) {
      if (!strncmp(line, "#include", 8))
        directive(line, path, here);
      else
        fputs(line, out);
    }
  }
  fclose(file);
}

static void depends(const char *path, const char *target) {
  FILE *file = fopen(path, "w");
  if (!file)
    fail("stand-in", path);
  fprintf(file, "%s:", target);
  for (int i = 0; i < n_seen; i++) {
    fputc(' ', file);
    for (const char *c = seen[i]; *c; c++) {
      if (*c == ' ' || *c == '#')
        fputc('\\', file);
      if (*c == '$')
        fputc('$', file);
      fputc(*c, file);
    }
  }
  fputc('\n', file);
  fclose(file);
}

static void pause_half(void) { usleep((useconds_t)delay * 500); }

static void write_halves(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file)
    fail("stand-in", path);
  fwrite(text, 1, length / 2, file);
  fflush(file);
  pause_half();
  fwrite(text + length / 2, 1, length - length / 2, file);
  if (fclose(file))
    exit(1);
}

int main(int argc, char **argv) {
  const char *output = NULL, *depfile = NULL, *target = "x";
  int compile = 0, only_depends = 0;
  char beside[LONG];
  snprintf(beside, sizeof beside, "%s", argv[0]);
  snprintf(beside, sizeof beside, "%s/delay", dirname(strdup(argv[0])));
  FILE *file = fopen(beside, "r");
  if (file) {
    if (fscanf(file, "%d", &delay) != 1)
      delay = 0;
    fclose(file);
  }
  out = open_memstream(&text, &length);
  for (int i = 1; i < argc; i++) {
    char *a = argv[i];
    if (!strcmp(a, "-E"))
      return 0;
    if (!strcmp(a, "-o"))
      output = argv[++i];
    else if (!strcmp(a, "-MF"))
      depfile = argv[++i];
    else if (!strcmp(a, "-MT"))
      target = argv[++i];
    else if (!strcmp(a, "-c"))
      compile = 1;
    else if (!strcmp(a, "-M"))
      only_depends = 1;
    else if (!strcmp(a, "-include"))
      forced[n_forced++] = argv[++i];
    else if (!strncmp(a, "-I", 2))
      dirs[n_dirs++] = a + 2;
    else if (a[0] != '-')
      inputs[n_inputs++] = a;
    else if (strcmp(a, "-MD") && strncmp(a, "-ffile-prefix-map=", 18)) {
      if (!strncmp(a, "-D", 2))
        defines[n_defines++] = a + 2;
      fprintf(out, "%s\n", a);
    }
  }
  if (compile || only_depends) {
    for (int i = 0; i < n_inputs; i++) {
      if (access(inputs[i], R_OK))
        fail("stand-in", inputs[i]);
      pause_half();
      for (int k = 0; k < n_forced; k++) {
        char *found = find(forced[k], 0, NULL, NULL);
        if (!found)
          fail("stand-in", forced[k]);
        include(strdup(found), "stand-in");
      }
      include(inputs[i], "stand-in");
    }
  } else {
    for (int i = 0; i < n_inputs; i++) {
      char line[LONG];
      if (!(file = fopen(inputs[i], "r")))
        fail("stand-in", inputs[i]);
      fputs("== linked\n", out);
      while (fgets(line, sizeof line, file))
        fputs(line, out);
      fclose(file);
    }
  }
  fclose(out);
  if (depfile)
    depends(depfile, target);
  if (output && !only_depends)
    write_halves(output);
  return 0;
}
