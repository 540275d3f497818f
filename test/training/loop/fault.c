/*===- fault.c - Disks that fail at a chosen moment -----------------------===*\
|*
|* Preloaded, it counts operations on files whose path holds $FAULT_PATH, and at
|* number $FAULT_AT does $FAULT_KIND: `kill` ends the process before it, `tear`
|* in the middle of it, ENOSPC and EIO let it fail, and all writes or syncs
|* after it. At the end, $FAULT_COUNT (a file) says how many there were.
|*
\*===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int operations;

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

static int isWatched(const char *path) {
  return path && *setting("FAULT_PATH") && strstr(path, setting("FAULT_PATH"));
}

static int isWatchedFile(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) {
    return 0;
  }
  path[length] = 0;
  return isWatched(path);
}

/* Whether the operation fails, with errno set; may not return. `tear` does half
 * of it first. */
static int fails(const char *name, void (*tear)(void *), void *context) {
  const char *only = setting("FAULT_ONLY");
  if (*only && strcmp(only, name) != 0) {
    return 0;
  }
  const char *kind = setting("FAULT_KIND");
  int at = atoi(setting("FAULT_AT"));
  int isThis = ++operations == at;
  if (isThis && strcmp(kind, "tear") == 0 && tear) {
    tear(context);
  }
  if (isThis && (strcmp(kind, "kill") == 0 || strcmp(kind, "tear") == 0)) {
    raise(SIGKILL);
  }
  errno = strcmp(kind, "EIO") == 0 ? EIO : ENOSPC;
  /* A full disk lets files be removed. */
  if (!*only && strcmp(name, "unlink") == 0) {
    return 0;
  }
  return at && operations >= at && *kind == 'E';
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

struct Write {
  int fd;
  const void *data;
  size_t bytes;
};

static void writeHalf(void *context) {
  const struct Write *all = context;
  ssize_t ignored = REAL(write)(all->fd, all->data, all->bytes / 2);
  (void)ignored;
}

ssize_t write(int fd, const void *data, size_t bytes) {
  struct Write all = {fd, data, bytes};
  return isWatchedFile(fd) && fails("write", writeHalf, &all)
             ? -1
             : REAL(write)(fd, data, bytes);
}

int fsync(int fd) {
  return isWatchedFile(fd) && fails("fsync", 0, 0) ? -1 : REAL(fsync)(fd);
}

int rename(const char *from, const char *to) {
  return isWatched(to) && fails("rename", 0, 0) ? -1 : REAL(rename)(from, to);
}

int unlink(const char *path) {
  return isWatched(path) && fails("unlink", 0, 0) ? -1 : REAL(unlink)(path);
}

int open(const char *path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
  va_end(args);
  return flags & O_CREAT && isWatched(path) && fails("open", 0, 0)
             ? -1
             : REAL(open)(path, flags, mode);
}

__attribute__((destructor)) static void tell(void) {
  const char *path = setting("FAULT_COUNT");
  FILE *file = *path ? fopen(path, "w") : NULL;
  if (file) {
    fprintf(file, "%d\n", operations);
    fclose(file);
  }
}
