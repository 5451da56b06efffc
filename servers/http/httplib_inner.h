// The inner functions of cpp-httplib's server that are called or overridden here. They are no part
// of its documented interface, and differ between versions: here are those of 0.11 to 0.53.
// Configuration compiles scripts/cmake/httplib_probe.cc with them, to know whether the installed
// version has them.
#pragma once

#include <httplib.h>

#include <ctime>
#include <functional>
#include <utility>

namespace agentr {

// A stream for the library's server, with the questions of all versions: is_writable until 0.19,
// wait_readable and wait_writable from 0.20 on, duration from 0.19 on. None is marked as an
// override, because every version has only some of them.
class LibraryStream : public httplib::Stream {
 public:
  virtual bool is_writable() const { return MayWrite(); }
  virtual bool wait_writable() const { return MayWrite(); }
  virtual bool wait_readable() const { return is_readable(); }
  // How long a request may take at most, in milliseconds; 0: no limit.
  virtual time_t duration() const { return 0; }

 protected:
  // The library asks it before the producer of a streamed reply.
  virtual bool MayWrite() const = 0;
};

class LibraryServer : public httplib::Server {
 protected:
  // Reads a request from `stream` and answers it; false if the connection is to end. `closed` is
  // set if the request or the reply said so. Newer versions also want the addresses of both ends,
  // which are not used here.
  bool ProcessRequest(httplib::Stream& stream, bool& closed) {
    return Process(*this, stream, closed);
  }

 private:
  template <typename Self>
  static bool Process(Self& self, httplib::Stream& stream, bool& closed) {
    if constexpr (requires { self.process_request(stream, false, closed, nullptr); }) {
      return self.process_request(stream, false, closed, nullptr);
    } else {
      return self.process_request(stream, "", 0, "", 0, false, closed, nullptr);
    }
  }
};

// void in old versions, in newer ones whether the connection was taken.
using LibraryEnqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));

}  // namespace agentr
