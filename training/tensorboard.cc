#include "training/tensorboard.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "common/error.h"

namespace agentr {
namespace {

// Appends the value in little endian order with `bytes` bytes.
std::string Fixed(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string Varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>((value & 0x7f) | 0x80);
  return text + static_cast<char>(value);
}

// Fields of a protocol buffer, by their number.
std::string DoubleField(int field, double value) {
  return static_cast<char>(field << 3 | 1) + Fixed(std::bit_cast<uint64_t>(value), 8);
}
std::string FloatField(int field, float value) {
  return static_cast<char>(field << 3 | 5) + Fixed(std::bit_cast<uint32_t>(value), 4);
}
std::string IntField(int field, int64_t value) {
  return static_cast<char>(field << 3) + Varint(static_cast<uint64_t>(value));
}
std::string BytesField(int field, const std::string& bytes) {
  return static_cast<char>(field << 3 | 2) + Varint(bytes.size()) + bytes;
}

uint32_t Masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  static const auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
      table[i] = crc;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~crc;
}

EventFile::EventFile(const std::filesystem::path& folder, double now, int64_t steps)
    : path_(folder / fmt::format("events.out.tfevents.{:010}.agentr.{}", static_cast<int64_t>(now),
                                 ::getpid())) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    throw FatalError(ExitCode::kFile, fmt::format("{}: {}", path_.string(), std::strerror(errno)));
  }
  Write(DoubleField(1, now) + BytesField(3, "brain.Event:2"));
  const std::string start = IntField(1, 1);  // SessionLog.status = START
  Write(DoubleField(1, now) + IntField(2, steps + 1) + BytesField(7, start));
}

EventFile::~EventFile() { ::close(fd_); }

void EventFile::Add(int64_t step, double now,
                    const std::vector<std::pair<std::string, double>>& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    summary += BytesField(1, BytesField(1, tag) + FloatField(2, static_cast<float>(value)));
  }
  Write(DoubleField(1, now) + IntField(2, step) + BytesField(5, summary));
}

void EventFile::Write(std::string_view event) {
  const std::string length = Fixed(event.size(), 8);
  const std::string record = length + Fixed(Masked(Crc32c(length)), 4) + std::string(event) +
                             Fixed(Masked(Crc32c(event)), 4);
  if (::write(fd_, record.data(), record.size()) != static_cast<ssize_t>(record.size())) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: cannot write: {}", path_.string(), std::strerror(errno)));
  }
}

}  // namespace agentr
