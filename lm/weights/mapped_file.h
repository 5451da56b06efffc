// A whole file mapped into memory for reading; the system reads pages on first access.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace agentr {

class MappedFile {
 public:
  // Throws FatalError(kFile) naming the file and the reason.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(start_), size_};
  }

 private:
  void* start_ = nullptr;
  size_t size_ = 0;
};

// Takes the whole pages within `bytes` of a mapped file out of this process's memory. When they are
// read again, they come from the system's cache of files.
void ForgetPages(std::span<const std::byte> bytes);

}  // namespace agentr
