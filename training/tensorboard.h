// Writes event files of TensorBoard: TFRecords of Event messages with scalar values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agentr {

// The CRC-32C of the bytes (polynomial 0x1EDC6F41), which TFRecord then masks.
uint32_t Crc32c(std::string_view bytes);

class EventFile {
 public:
  // Opens a new file in `folder`, named after the time `now` (seconds) and the process. A run that
  // continues after `steps` steps, or begins again (-1), takes back what older files say of later
  // ones, which a killed run had made: TensorBoard drops them at the event of a new start. Throws
  // FatalError(kFile).
  EventFile(const std::filesystem::path& folder, double now, int64_t steps = -1);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  // Writes the values of a step immediately.
  void Add(int64_t step, double now, const std::vector<std::pair<std::string, double>>& scalars);

 private:
  void Write(std::string_view event);

  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace agentr
