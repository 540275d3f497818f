//===- watch_test.cpp - Hints and the end of hopeless runs ----------------===//
#include "runtime/training/watch.h"
#include "test_files.h"

#include <cmath>

using namespace ampc::runtime;

namespace {

/// A run as it looks to the watch, which must not print.
class WatchTest : public testing::Test {
protected:
  WatchTest() {
    options.log = log.c_str();
    EXPECT_TRUE(journal.open(options, /*quiet=*/true, false).ok());
  }

  /// Shows an update; its step counts on.
  Verdict show(
      Watch &watch, double loss, bool foundInf, double scale,
      void (*change)(StepRecord &) = [](StepRecord &) {}) {
    StepRecord record;
    record.step = ++step;
    record.seconds = 0.1;
    record.report.loss = loss;
    record.report.norm = foundInf ? INFINITY : 1;
    record.report.foundInf = foundInf;
    record.report.scale = record.report.nextScale = scale;
    change(record);
    Verdict verdict;
    EXPECT_TRUE(watch.observe(record, &journal, &verdict).ok());
    return verdict;
  }

  /// How often hints of a kind are in the log.
  int hints(const std::string &kind) const {
    std::string text = TestFolder::read(log);
    std::string wanted = "\"kind\": \"" + kind + "\"";
    int count = 0;
    for (size_t at = text.find(wanted); at != std::string::npos;
         at = text.find(wanted, at + 1)) {
      ++count;
    }
    return count;
  }

  TestFolder folder;
  std::string log = folder.path("log");
  TrainOptions options;
  Journal journal;
  uint64_t step = 0;
};

TEST_F(WatchTest, saysNothingOfGoodRuns) {
  Watch watch(ScalerKind::Dynamic, 1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(show(watch, 1, false, 2), Verdict::GoOn);
  }
  EXPECT_EQ(TestFolder::read(log), "");
}

TEST_F(WatchTest, explainsTheFirstLossThatIsNotFinite) {
  Watch watch(ScalerKind::Dynamic, 1);
  EXPECT_EQ(show(watch, NAN, true, 8), Verdict::Explain);
  EXPECT_EQ(show(watch, INFINITY, true, 4), Verdict::GoOn);
  EXPECT_EQ(hints("overflow"), 0);
}

TEST_F(WatchTest, endsAfterTwenty) {
  struct Case {
    ScalerKind scaler;
    double loss;
    bool foundInf;
    double scale;
    Verdict last;
    const char *reason;
  };
  const Case cases[] = {
      {ScalerKind::Off, NAN, false, 1, Verdict::Stop, "loss"},
      {ScalerKind::Off, 1, true, 1, Verdict::Stop, "gradients"},
      {ScalerKind::Dynamic, NAN, true, 8, Verdict::Stop, "loss"},
      {ScalerKind::Dynamic, 1, true, 2, Verdict::Stop, "skipped"},
      {ScalerKind::Dynamic, 1, true, 4, Verdict::GoOn, ""}, // above the floor
      {ScalerKind::Static, 1, true, 4, Verdict::Stop, "skipped"},
  };
  for (const Case &one : cases) {
    Watch watch(one.scaler, 2);
    for (uint64_t i = 0; i + 1 < Watch::patience; ++i) {
      EXPECT_NE(show(watch, one.loss, one.foundInf, one.scale), Verdict::Stop);
    }
    // One good update, and the count begins anew.
    EXPECT_EQ(show(watch, 1, false, one.scale), Verdict::GoOn);
    for (uint64_t i = 0; i + 1 < Watch::patience; ++i) {
      EXPECT_NE(show(watch, one.loss, one.foundInf, one.scale), Verdict::Stop);
    }
    EXPECT_EQ(show(watch, one.loss, one.foundInf, one.scale), one.last);
    EXPECT_NE(std::string(watch.reason().c_str()).find(one.reason),
              std::string::npos)
        << watch.reason().c_str();
  }
}

TEST_F(WatchTest, tellsOfScalesThatGrowTooFar) {
  Watch watch(ScalerKind::Dynamic, 1);
  for (int i = 0; i < 5; ++i) {
    show(watch, 1, false, 8);
    show(watch, 1, true, 16);
    EXPECT_EQ(hints("growth"), i >= 2);
  }
  EXPECT_EQ(hints("overflow"), 1);
  // Not if some growths last.
  Watch other(ScalerKind::Dynamic, 1);
  for (int i = 0; i < 10; ++i) {
    show(other, 1, false, 8);
    show(other, 1, i % 3 != 0, 16);
  }
  EXPECT_EQ(hints("growth"), 1);
}

TEST_F(WatchTest, tellsOfLostGradients) {
  auto withZeros = [](StepRecord &record, float share) {
    record.hasStats = true;
    record.stats.names.push("w");
    record.stats.names.push("b");
    record.stats.elements.push(99);
    record.stats.elements.push(1);
    record.stats.zeroShare.push(share);
    record.stats.zeroShare.push(0);
  };
  static auto *apply = &withZeros;
  Watch watch(ScalerKind::Off, 1);
  show(watch, 1, false, 1, [](StepRecord &r) { (*apply)(r, 0.9f); });
  EXPECT_EQ(hints("zero-gradients"), 0);
  show(watch, 1, false, 1, [](StepRecord &r) { (*apply)(r, 0.92f); });
  show(watch, 1, false, 1, [](StepRecord &r) { (*apply)(r, 1); });
  EXPECT_EQ(hints("zero-gradients"), 1);
}

TEST_F(WatchTest, tellsOfWaitingForData) {
  Watch watch(ScalerKind::Off, 1);
  auto slow = [](StepRecord &record) { record.dataSeconds = 0.03; };
  for (int i = 0; i < 24; ++i) {
    show(watch, 1, false, 1, slow);
  }
  EXPECT_EQ(hints("data-wait"), 0); // too early to tell
  show(watch, 1, false, 1, slow);
  show(watch, 1, false, 1, slow);
  EXPECT_EQ(hints("data-wait"), 1);
  Watch other(ScalerKind::Off, 1);
  for (int i = 0; i < 50; ++i) {
    show(other, 1, false, 1,
         [](StepRecord &record) { record.dataSeconds = 0.015; });
  }
  EXPECT_EQ(hints("data-wait"), 1);
  // Updates so short that waking a thread is most of them.
  Watch tiny(ScalerKind::Off, 1);
  for (int i = 0; i < 20000; ++i) {
    show(tiny, 1, false, 1, [](StepRecord &record) {
      record.seconds = 1e-4;
      record.dataSeconds = 5e-5;
    });
  }
  EXPECT_EQ(hints("data-wait"), 1);
}

} // namespace
