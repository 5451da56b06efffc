// The connections against sums taken the plain way, with threads as ranks.
#include "training/distributed/collectives.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

#include "tests/training/finite_difference.h"
#include "training/distributed/c10d_store.h"

namespace agentr {
namespace {

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(fd, any, size), 0);
  EXPECT_EQ(::getsockname(fd, any, &size), 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

using Body = std::function<void(int rank, Collectives& collectives)>;

void RunRanks(int size, const Body& body) {
  const int port = FreePort();
  const auto place = [&](int rank) { return Place{rank, size, size, "127.0.0.1", port, false}; };
  const auto server = ConnectStore(place(0), true, 30);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      const auto store = ConnectStore(place(rank), false, 30);
      const auto collectives = MakeTcpCollectives(place(rank), *store, 30);
      body(rank, *collectives);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// What rank `rank` brings to exchange `i`: of a size that no number of ranks divides, or that all
// do.
at::Tensor Values(int rank, int i) {
  const int64_t n = i % 2 == 0 ? 1 + 977 * i : 60 * (1 + 500 * i);
  return RandomTensor({n}, static_cast<uint64_t>(100 * i + rank));
}

TEST(CollectivesTest, SumsAndGathersOfSeveralAtOnce) {
  for (const int size : {2, 3, 4}) {
    RunRanks(size, [size](int rank, Collectives& collectives) {
      std::vector<at::Tensor> sums, scattered, gathered;
      std::vector<std::unique_ptr<ProcessGroup::Pending>> pending;
      for (int i = 0; i < 6; ++i) {
        sums.push_back(Values(rank, i));
        pending.push_back(collectives.AllReduce(sums.back()));
        scattered.push_back(Values(rank, 2 * i + 1));
        pending.push_back(collectives.ReduceScatter(scattered.back()));
        gathered.push_back(Values(rank, 2 * i + 1));
        pending.push_back(collectives.AllGather(gathered.back()));
      }
      for (const auto& p : pending) p->Wait();
      const auto all = [size](int i) {
        std::vector<at::Tensor> of;
        for (int r = 0; r < size; ++r) of.push_back(Values(r, i));
        return at::stack(of);
      };
      for (int i = 0; i < 6; ++i) {
        EXPECT_TRUE(at::allclose(sums[i], all(i).sum(0), 1e-5, 1e-6)) << size;
        const at::Tensor of = all(2 * i + 1);
        EXPECT_TRUE(at::allclose(scattered[i].view({size, -1})[rank],
                                 of.sum(0).view({size, -1})[rank], 1e-5, 1e-6));
        for (int r = 0; r < size; ++r) {
          EXPECT_TRUE(at::equal(gathered[i].view({size, -1})[r], of[r].view({size, -1})[r]));
        }
      }
      const at::Tensor doubles = at::full({3}, 1e-12 + rank, at::kDouble);
      collectives.AllReduce(doubles)->Wait();
      EXPECT_NEAR(doubles[1].item<double>() - size * (size - 1) / 2, size * 1e-12, 1e-14);
    });
  }
}

TEST(CollectivesTest, ARankThatGoesIsNoticed) {
  RunRanks(3, [](int rank, Collectives& collectives) {
    const at::Tensor values = at::ones({1000});
    collectives.AllReduce(values)->Wait();
    EXPECT_EQ(values[0].item<float>(), 3);
    if (rank == 2) return;
    // Rank 1 may go too, once it knows.
    EXPECT_ANY_THROW(collectives.AllReduce(values)->Wait());
  });
}

// A rank that has gone may close a connection just before this one writes to it.
TEST(CollectivesTest, AClosedConnectionDoesNotEndTheProcess) {
  std::signal(SIGPIPE, SIG_DFL);
  EXPECT_EXIT(
      {
        RunRanks(2, [](int, Collectives& collectives) {
          // So that no rank ends before the other is connected.
          collectives.AllReduce(at::ones({2}))->Wait();
          ::raise(SIGPIPE);
        });
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace agentr
