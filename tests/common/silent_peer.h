// A peer that says nothing, or hardly anything, at a port of this machine: for tests of programs
// that wait for it. With a target it first hands everything on, so that a program gets as far as
// the test wants.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <list>
#include <string>
#include <thread>
#include <vector>

namespace agentr {

enum class Silence {
  kNeverAccepts,  // the queue of its port is full, so that nobody gets a connection
  kNeverAnswers,  // takes connections and bytes, and sends none
  kDrips,         // sends a byte a second
};

class SilentPeer {
 public:
  struct Options {
    // What it drips: the beginning of a reply without end; its last byte comes again and again.
    std::string drops = "HTTP/1.1 200 OK\r\n\r\nx";
    // The port of a server on this machine, or the path of a Unix socket, to and from which it
    // hands on everything until it falls silent; empty: it is silent from the start.
    std::string target = {};
    // Bytes of its clients after which it falls silent by itself.
    size_t until_heard = std::numeric_limits<size_t>::max();
  };

  explicit SilentPeer(Silence silence) : SilentPeer(silence, Options()) {}
  SilentPeer(Silence silence, Options options);
  ~SilentPeer();
  SilentPeer(const SilentPeer&) = delete;
  SilentPeer& operator=(const SilentPeer&) = delete;

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // Loses its target. Connections stay open, except if it is one that never accepts.
  void FallSilent() { silent_ = true; }

  // Takes neither bytes nor connections from now on, so that what is sent to it piles up.
  void StopReading() { deaf_ = true; }

  // True if it is silent, and a client is connected or tries to be.
  bool IsAwaited() const;

 private:
  struct Link {
    int client = -1;
    int target = -1;     // -1: none
    size_t dripped = 0;  // bytes
  };

  void Listen();
  void FillQueue();
  void Loop(const std::stop_token& stop);
  void BecomeSilent();
  void Accept();
  // Hands on what has come; false if one side has ended.
  bool HandOn(Link& link, short client_events, short target_events);
  void Drip();
  static void Close(const Link& link);

  const Silence silence_;
  const Options options_;
  int listener_ = -1;
  int port_ = 0;
  std::vector<int> fillers_;
  std::list<Link> links_;             // of the thread
  std::atomic<bool> silent_;          // asked for
  std::atomic<bool> fallen_ = false;  // done
  std::atomic<bool> deaf_ = false;
  size_t heard_ = 0;  // of the thread
  std::atomic<size_t> open_ = 0;
  std::jthread thread_;
};

}  // namespace agentr
