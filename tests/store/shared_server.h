// A PostgreSQL server that the tests of a suite share; skips them where none can be started.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "store/store_options.h"
#include "tests/store/postgres_server.h"

namespace agentr {

class WithPostgres : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (WhyNoPostgres().empty()) server_ = std::make_unique<PostgresServer>();
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    if (const std::string why = WhyNoPostgres(); !why.empty()) GTEST_SKIP() << why;
  }

  static PostgresServer& server() { return *server_; }

  // A long lease, so that only the test itself ends one.
  static StoreOptions Options() {
    StoreOptions options;
    options.url = server().url();
    options.lease_s = 3600;
    options.patience_s = 60;
    return options;
  }

 private:
  static inline std::unique_ptr<PostgresServer> server_;
};

}  // namespace agentr
