// The interface of one kind of environment to the HTTP server.
#pragma once

#include <string>

#include "servers/http/http_service.h"

namespace agentr {

// The routes of one kind of environment and their implementation.
class EnvService {
 public:
  virtual ~EnvService() = default;

  // Adds the routes, which call this object while `http` runs.
  virtual void AddTo(HttpService& http) = 0;

  // "textcraft: 544 tasks, 613 recipes"
  virtual std::string Summary() const = 0;
};

}  // namespace agentr
