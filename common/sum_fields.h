// One table of the fields of a statistic whose members are all counts to be summed. Adding, writing
// and reading use the table, so no place can forget a field.
//
//   struct Calls { int64_t steps = 0, resets = 0; };
//   inline constexpr std::array<SumField<Calls>, 2> kCallFields = {
//       {{"steps", &Calls::steps}, {"resets", &Calls::resets}}};
//   static_assert(NamesEveryField(kCallFields));
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace agentr {

template <typename T>
struct SumField {
  const char* name;  // in JSON
  int64_t T::*member;
};

// True if the table lists each member of T once: the size of T matches the table, and no member or
// name occurs twice.
template <typename T, size_t n>
consteval bool NamesEveryField(const std::array<SumField<T>, n>& fields) {
  if (sizeof(T) != n * sizeof(int64_t)) return false;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (fields[i].member == fields[j].member) return false;
      if (std::string_view(fields[i].name) == fields[j].name) return false;
    }
  }
  return true;
}

template <typename T, size_t n>
void AddFields(const std::array<SumField<T>, n>& fields, const T& other, T& sum) {
  for (const SumField<T>& field : fields) sum.*field.member += other.*field.member;
}

// An object with the fields in the order of the table. Callers include <nlohmann/json.hpp>.
template <typename T, size_t n, typename Json = nlohmann::ordered_json>
Json FieldsToJson(const std::array<SumField<T>, n>& fields, const T& value) {
  Json json = Json::object();
  for (const SumField<T>& field : fields) json[field.name] = value.*field.member;
  return json;
}

}  // namespace agentr
