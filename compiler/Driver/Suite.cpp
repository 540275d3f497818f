//===- Suite.cpp - Many verifications, each in a process of its own -------===//
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/CrashHandler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace ampc::driver {

using Clock = std::chrono::steady_clock;

/// Address space of a test beyond what the process has when it starts.
static constexpr uint64_t memoryLimit = 4ull << 30;
/// Most output of a test that is kept.
static constexpr size_t maxOutput = 64 << 10;

namespace {

struct Test {
  std::string name;
  std::vector<std::string> args; ///< a command line of ampc
};

struct Outcome {
  StringRef status;
  int code = 0;
  std::string message;
};

/// A running child.
struct Child {
  size_t test = 0;
  pid_t pid = -1;
  int pipe = -1; ///< its standard error
  Clock::time_point deadline;
  bool isLate = false;
  std::string said;
};

class Suite {
public:
  Suite(std::vector<Test> tests, const Options &options)
      : tests(std::move(tests)), options(options),
        outcomes(this->tests.size()) {}

  /// Runs all; results are printed in order. Failure if not all passed.
  LogicalResult run();

private:
  void start(size_t test);
  void wait();
  void finish(Child &child);
  void print();

  std::vector<Test> tests;
  const Options &options;
  std::vector<std::optional<Outcome>> outcomes;
  std::vector<Child> children;
  size_t numPrinted = 0;
};

} // namespace

static LogicalResult parseList(const Options &options, std::vector<Test> &tests,
                               DiagnosticSink &sink) {
  auto buffer = MemoryBuffer::getFile(options.suite);
  if (!buffer) {
    return sink.error(ExitCode::InputOutput,
                      "cannot read '" + options.suite +
                          "': " + buffer.getError().message());
  }
  unsigned number = 0;
  for (StringRef line : split((*buffer)->getBuffer(), '\n')) {
    ++number;
    if (line.empty()) {
      continue;
    }
    SmallVector<StringRef> fields;
    line.split(fields, '\t');
    if (fields.size() != 6) {
      return sink.error(ExitCode::Usage,
                        Twine(options.suite) + ":" + Twine(number) +
                            ": expected NAME, MODEL, DATA, RTOL, ATOL and "
                            "OPTIONS separated by tabs, got " +
                            Twine(fields.size()) + " fields");
    }
    Test test;
    test.name = fields[0].str();
    test.args = {"verify",
                 fields[1].str(),
                 ("--data=" + fields[2]).str(),
                 ("--rtol=" + fields[3]).str(),
                 ("--atol=" + fields[4]).str(),
                 "--quiet",
                 "--threads=1",
                 "-j",
                 "1"};
    for (StringRef extra : split(fields[5], ' ')) {
      if (!extra.empty()) {
        test.args.push_back(extra.str());
      }
    }
    tests.push_back(std::move(test));
  }
  return success();
}

static void limitMemory() {
  unsigned long pages = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu", &pages) != 1) {
      pages = 0;
    }
    std::fclose(file);
  }
  uint64_t bytes =
      pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + memoryLimit;
  rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
  rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
}

[[noreturn]] static void runChild(const Test &test, int errorPipe) {
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(errorPipe, STDERR_FILENO);
  // A crash shall end the child by its signal.
  removeCrashHandler();
  limitMemory();
  SmallVector<const char *> args;
  for (const std::string &arg : test.args) {
    args.push_back(arg.c_str());
  }
  int code = runDriver(args, errs());
  errs().flush();
  _exit(code);
}

void Suite::start(size_t index) {
  outs().flush();
  int ends[2];
  pid_t pid = -1;
  if (pipe2(ends, O_CLOEXEC) == 0) {
    pid = fork();
    if (pid == 0) {
      close(ends[0]);
      runChild(tests[index], ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
      close(ends[0]);
    }
  }
  if (pid < 0) {
    outcomes[index] = {"error", static_cast<int>(ExitCode::Limit),
                       std::string("cannot start a process: ") +
                           std::strerror(errno)};
    return;
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  Child child;
  child.test = index;
  child.pid = pid;
  child.pipe = ends[0];
  child.deadline = Clock::now() + std::chrono::seconds(options.suiteTimeout);
  children.push_back(std::move(child));
}

/// The first diagnostic in what a test said, on one line.
static std::string findMessage(StringRef said) {
  StringRef chosen;
  for (StringRef line : split(said, '\n')) {
    if (line.contains("error: ")) {
      chosen = line;
      break;
    }
    if (chosen.empty()) {
      chosen = line.trim();
    }
  }
  std::string message = chosen.take_front(2000).str();
  for (char &c : message) {
    c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return message;
}

static Outcome judge(const Child &child, int status) {
  Outcome outcome;
  outcome.message = findMessage(child.said);
  if (child.isLate) {
    outcome.status = "timeout";
    outcome.code = 128 + SIGKILL;
    return outcome;
  }
  if (WIFSIGNALED(status)) {
    int signal = WTERMSIG(status);
    outcome.status = "crash";
    outcome.code = 128 + signal;
    std::string text = std::string("signal ") + std::to_string(signal) + " (" +
                       strsignal(signal) + ")";
    outcome.message =
        outcome.message.empty() ? text : text + ": " + outcome.message;
    return outcome;
  }
  outcome.code = WEXITSTATUS(status);
  switch (static_cast<ExitCode>(outcome.code)) {
  case ExitCode::Ok:
    outcome.status = "pass";
    outcome.message.clear();
    break;
  case ExitCode::Mismatch:
    outcome.status = "mismatch";
    break;
  case ExitCode::Invalid:
    outcome.status = "invalid";
    break;
  case ExitCode::Unsupported:
    outcome.status = "unsupported";
    break;
  default:
    outcome.status = "error";
    break;
  }
  return outcome;
}

void Suite::finish(Child &child) {
  close(child.pipe);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  outcomes[child.test] = judge(child, status);
}

/// Waits until a child says something, ends, or is late.
void Suite::wait() {
  std::vector<pollfd> fds;
  Clock::time_point first = Clock::time_point::max();
  for (const Child &child : children) {
    fds.push_back({child.pipe, POLLIN, 0});
    first = std::min(first, child.deadline);
  }
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      first - Clock::now());
  int timeout = static_cast<int>(std::max<int64_t>(0, left.count()) + 1);
  poll(fds.data(), fds.size(), timeout);
  std::vector<Child> alive;
  for (auto [i, child] : enumerate(children)) {
    bool isDone = false;
    char bytes[4096];
    while (fds[i].revents != 0 && !isDone) {
      ssize_t count = read(child.pipe, bytes, sizeof bytes);
      if (count > 0) {
        size_t room = maxOutput - std::min(child.said.size(), maxOutput);
        child.said.append(bytes, std::min<size_t>(count, room));
      } else {
        // Its standard error is closed when it ends.
        isDone = count == 0;
        break;
      }
    }
    if (!isDone && Clock::now() >= child.deadline) {
      child.isLate = true;
      kill(child.pid, SIGKILL);
      isDone = true;
    }
    if (isDone) {
      finish(child);
    } else {
      alive.push_back(std::move(child));
    }
  }
  children = std::move(alive);
}

void Suite::print() {
  for (; numPrinted < tests.size() && outcomes[numPrinted]; ++numPrinted) {
    const Outcome &outcome = *outcomes[numPrinted];
    outs() << tests[numPrinted].name << '\t' << outcome.status << '\t'
           << outcome.code << '\t' << outcome.message << '\n';
  }
  outs().flush();
}

LogicalResult Suite::run() {
  warmUp();
  unsigned jobs = options.jobs ? options.jobs : 1;
  size_t next = 0;
  while (next < tests.size() || !children.empty()) {
    while (next < tests.size() && children.size() < jobs) {
      start(next++);
    }
    if (!children.empty()) {
      wait();
    }
    print();
  }
  return success(all_of(outcomes, [](const std::optional<Outcome> &outcome) {
    return outcome->status == "pass";
  }));
}

int suiteCommand(const Options &options, DiagnosticSink &sink) {
  std::vector<Test> tests;
  if (failed(parseList(options, tests, sink))) {
    return 0;
  }
  Suite suite(std::move(tests), options);
  return succeeded(suite.run()) ? 0 : static_cast<int>(ExitCode::Mismatch);
}

} // namespace ampc::driver
