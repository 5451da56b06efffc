#include "lm/weights/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "common/error.h"

namespace agentr {
namespace fs = std::filesystem;

MappedFile::MappedFile(const fs::path& path) {
  const auto fail = [&](std::string_view why) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: cannot read weights: {}; finish the download or write "
                                 "the model again",
                                 path.string(), why));
  };
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error) fail(error.message());
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(std::strerror(errno));
  size_ = size;
  // mmap fails for an empty file.
  void* const start = size_ == 0 ? nullptr : ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
  const int reason = errno;
  ::close(fd);
  if (start == MAP_FAILED) fail(std::strerror(reason));
  start_ = start;
}

MappedFile::~MappedFile() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

void ForgetPages(std::span<const std::byte> bytes) {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t end = (begin + bytes.size()) / page * page;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace agentr
