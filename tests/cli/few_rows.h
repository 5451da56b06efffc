// The smallest file of rows that agent_train can train on.
#pragma once

#include <fmt/format.h>

#include <string>

namespace agentr {

inline std::string FewRows() {
  std::string rows;
  for (int task_id = 0; task_id < 8; ++task_id) {
    rows += fmt::format(R"({{"task_num":{},"messages":[{{"role":"user","content":"Craft."}},)"
                        R"({{"role":"assistant","content":"Action: inventory","loss":true}}]}})"
                        "\n",
                        task_id);
  }
  return rows;
}

}  // namespace agentr
