#include "lm/weights/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "tests/common/file_faults.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string TextOf(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

const nlohmann::json& GoldenFile() {
  static const auto golden = nlohmann::json::parse(
      ReadFile(std::string(AGENTR_SOURCE_DIR) + "/tests/golden/safetensors_file.json"));
  return golden;
}

// A file with this header, however wrong, and so many zero bytes behind it.
std::string FileOf(const std::string& header, size_t data_bytes = 0) {
  std::string file(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  return file + header + std::string(data_bytes, '\0');
}

// The header's entry of a tensor.
std::string Entry(const std::string& name, const std::string& shape, size_t begin, size_t end,
                  const std::string& type = "F32") {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", name, type,
                     shape, begin, end);
}

// Why a file is refused; the message has to name it.
std::string RefusalOf(const std::string& file) {
  const ScratchFolder folder;
  const auto path = folder.Write("bad.safetensors", file);
  const std::string message = FileErrorOf([&] { const WeightFiles files(path); });
  EXPECT_THAT(message, HasSubstr(path.string() + ": "));
  return message;
}

// Some weights, each with its own bytes.
struct Model {
  explicit Model(int tensors = 5, char first = 'a') {
    for (int i = 0; i < tensors; ++i) {
      bytes.push_back(std::string(40, static_cast<char>(first + i)));
    }
    for (int i = 0; i < tensors; ++i) {
      weights[fmt::format("layer.{}", i)] = {WeightType::kF32, {2, 5}, BytesOf(bytes[i])};
    }
  }
  std::vector<std::string> bytes;
  std::map<std::string, Weight> weights;
};

void ExpectEqual(const std::map<std::string, Weight>& read,
                 const std::map<std::string, Weight>& written) {
  ASSERT_EQ(read.size(), written.size());
  for (const auto& [name, weight] : written) {
    ASSERT_TRUE(read.contains(name)) << name;
    EXPECT_EQ(read.at(name).type, weight.type) << name;
    EXPECT_EQ(read.at(name).shape, weight.shape) << name;
    EXPECT_EQ(TextOf(read.at(name).data), TextOf(weight.data)) << name;
  }
}

std::vector<std::string> NamesIn(const ScratchFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

TEST(WeightFiles, ReadsWhatPythonWrote) {
  const ScratchFolder folder;
  const WeightFiles files(folder.Write("x", FromHex(GoldenFile()["hex"])));
  ASSERT_EQ(files.weights().size(), GoldenFile()["tensors"].size());
  for (const auto& row : GoldenFile()["tensors"]) {
    const Weight& weight = files.weights().at(row["name"]);
    EXPECT_EQ(Name(weight.type), row["dtype"].get<std::string>());
    EXPECT_EQ(weight.shape, row["shape"].get<std::vector<int64_t>>());
    EXPECT_EQ(TextOf(weight.data), FromHex(row["hex"])) << row["name"];
  }
}

TEST(WriteWeights, WritesThePythonFileToTheByte) {
  const ScratchFolder folder;
  const WeightFiles files(folder.Write("x", FromHex(GoldenFile()["hex"])));
  WriteWeights(folder.path(), files.weights());
  EXPECT_EQ(ReadFile(folder / "model.safetensors"), FromHex(GoldenFile()["hex"]));
}

TEST(WriteWeights, ShardsReadLikeOneFile) {
  const ScratchFolder folder;
  const Model model;
  WriteWeights(folder.path(), model.weights, 100);  // two of 40 bytes each fit
  EXPECT_THAT(NamesIn(folder),
              ElementsAre("model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                          "model-00003-of-00003.safetensors", "model.safetensors.index.json"));
  const auto index = nlohmann::json::parse(ReadFile(folder / "model.safetensors.index.json"));
  EXPECT_EQ(index["metadata"]["total_size"], 200);
  EXPECT_EQ(index["weight_map"]["layer.2"], "model-00002-of-00003.safetensors");
  ExpectEqual(WeightFiles(folder.path()).weights(), model.weights);
}

TEST(WriteWeights, ATensorAboveTheLimitHasAShardOfItsOwn) {
  const ScratchFolder folder;
  const Model model(2);
  WriteWeights(folder.path(), model.weights, 1);
  EXPECT_EQ(folder.entries(), 3u);
  ExpectEqual(WeightFiles(folder.path()).weights(), model.weights);
}

TEST(WriteWeights, LeavesNothingOfTheModelBefore) {
  const ScratchFolder folder;
  folder.Write("config.json", "{}");
  for (const int64_t shard_bytes : {100, 1000, 40, 100, 200}) {
    const Model model(5, static_cast<char>('a' + shard_bytes % 7));
    WriteWeights(folder.path(), model.weights, shard_bytes);
    ExpectEqual(WeightFiles(folder.path()).weights(), model.weights);
  }
  EXPECT_THAT(NamesIn(folder), ElementsAre("config.json", "model.safetensors"));
}

TEST(WriteWeights, MayWriteOverTheFileItReadsFrom) {
  const ScratchFolder folder;
  const Model model;
  WriteWeights(folder.path(), model.weights);
  const WeightFiles files(folder.path());
  WriteWeights(folder.path(), files.weights(), 100);
  ExpectEqual(files.weights(), model.weights);
  ExpectEqual(WeightFiles(folder.path()).weights(), model.weights);
}

TEST(WriteWeights, AFullDiskKeepsTheModelBefore) {
  const ScratchFolder folder;
  const Model before(1);
  WriteWeights(folder.path(), before.weights);
  const Model model(50, '0');
  for (const int64_t shard_bytes : {100000, 1500}) {
    const std::string message = [&] {
      const FileSizeLimit limit(1000);
      return FileErrorOf([&] { WriteWeights(folder.path(), model.weights, shard_bytes); });
    }();
    EXPECT_THAT(message, HasSubstr(folder.path().string()));
    EXPECT_EQ(folder.entries(), 1u) << "a part of the new model is left";
    ExpectEqual(WeightFiles(folder.path()).weights(), before.weights);
  }
}

// Shards of the same names are replaced one by one: half old, half new must not read as a model.
TEST(WriteWeights, ShardsReplacedInPartAreNoModel) {
  const ScratchFolder folder;
  WriteWeights(folder.path(), Model(2).weights, 40);
  Model model(2, 'x');
  const std::string big(5000, 'y');
  model.weights["layer.1"] = {WeightType::kF32, {1250}, BytesOf(big)};
  {
    const FileSizeLimit limit(1000);
    FileErrorOf([&] { WriteWeights(folder.path(), model.weights, 40); });
  }
  EXPECT_THAT(FileErrorOf([&] { const WeightFiles files(folder.path()); }),
              HasSubstr("model.safetensors.index.json; finish the download or write"));
}

TEST(WeightFiles, RefusesATruncatedFile) {
  const std::string whole = FromHex(GoldenFile()["hex"]);
  const ScratchFolder folder;
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto path = folder.Write("x", whole.substr(0, size));
    EXPECT_THAT(FileErrorOf([&] { const WeightFiles files(path); }),
                HasSubstr("download or write it again"))
        << size;
  }
}

TEST(WeightFiles, RefusesAHeaderLongerThanTheFile) {
  EXPECT_THAT(RefusalOf(""), HasSubstr("0 bytes are too few"));
  EXPECT_THAT(RefusalOf("1234567"), HasSubstr("7 bytes are too few"));
  EXPECT_THAT(RefusalOf(std::string(8, '\xff')),
              HasSubstr("header should have 18446744073709551615 bytes"));
  EXPECT_THAT(RefusalOf(FileOf("{}").substr(0, 9)), HasSubstr("should have 2 bytes"));
}

TEST(WeightFiles, APointerOfGitLfsSaysWhatToRun) {
  EXPECT_THAT(
      RefusalOf("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"),
      HasSubstr("git lfs pull"));
}

TEST(WeightFiles, RefusesAHeaderThatIsNoObject) {
  EXPECT_THAT(RefusalOf(FileOf("{\"a\":")), HasSubstr("no JSON at byte"));
  EXPECT_THAT(RefusalOf(FileOf("")), HasSubstr("no JSON"));
  EXPECT_THAT(RefusalOf(FileOf("{} x")), HasSubstr("no JSON"));
  EXPECT_THAT(RefusalOf(FileOf("{\"\xff\":1}")), HasSubstr("no JSON"));
  EXPECT_THAT(RefusalOf(FileOf("{\"a\":1e999}")), HasSubstr("a number in the JSON is too large"));
  EXPECT_THAT(RefusalOf(FileOf("[1]")), HasSubstr("no object"));
  EXPECT_THAT(RefusalOf(FileOf(R"({"a":3})")), HasSubstr("tensor a: its entry"));
  EXPECT_THAT(RefusalOf(FileOf(R"({"__metadata__":{"a":3}})")), HasSubstr("__metadata__"));
}

TEST(WeightFiles, RefusesTensorsThatDoNotLieSideBySide) {
  const std::string one = Entry("one", "[2]", 0, 8);
  EXPECT_THAT(RefusalOf(FileOf("{" + one + "," + Entry("two", "[2]", 4, 12) + "}", 12)),
              HasSubstr("tensors one and two overlap"));
  EXPECT_THAT(RefusalOf(FileOf("{" + one + "," + Entry("two", "[2]", 0, 8) + "}", 8)),
              HasSubstr("overlap"));
  EXPECT_THAT(RefusalOf(FileOf("{" + one + "," + Entry("two", "[2]", 9, 17) + "}", 17)),
              HasSubstr("a gap of 1 bytes between one and tensor two"));
  EXPECT_THAT(RefusalOf(FileOf("{" + Entry("two", "[2]", 4, 12) + "}", 12)),
              HasSubstr("a gap of 4 bytes between the header and tensor two"));
  EXPECT_THAT(RefusalOf(FileOf("{" + one + "}", 12)),
              HasSubstr("a gap of 4 bytes between one and the file's end"));
  EXPECT_THAT(RefusalOf(FileOf("{" + one + "}", 7)),
              HasSubstr("tensor one ends at byte 8 after the header, but the file at 7"));
  EXPECT_THAT(RefusalOf(FileOf("{" + Entry("one", "[2]", 8, 0) + "}", 8)),
              HasSubstr("end before they begin"));
}

TEST(WeightFiles, RefusesSizesThatDoNotMatch) {
  EXPECT_THAT(RefusalOf(FileOf("{" + Entry("one", "[2, 3]", 0, 8) + "}", 8)),
              HasSubstr("tensor one: shape [2, 3] of F32 takes 24 bytes"));
  EXPECT_THAT(RefusalOf(FileOf("{" + Entry("one", "[2]", 0, 8, "BF16") + "}", 8)),
              HasSubstr("shape [2] of BF16 takes 4 bytes"));
  // 2^32 · 2^32 · 4 is 0 in 64 bits.
  EXPECT_THAT(RefusalOf(FileOf("{" + Entry("one", "[4294967296,4294967296]", 0, 0) + "}")),
              HasSubstr("tensor one: shape [4294967296, 4294967296] has more elements"));
  EXPECT_THAT(RefusalOf(FileOf("{" + Entry("one", "[9223372036854775807]", 0, 4) + "}", 4)),
              HasSubstr("more elements"));
  for (const char* shape : {"[-1]", "[1.0]", "[9223372036854775808]", "\"2\"", "[[2]]", "null"}) {
    EXPECT_THAT(RefusalOf(FileOf("{" + Entry("one", shape, 0, 4) + "}", 4)),
                HasSubstr("tensor one: its shape is no list of sizes"));
  }
  for (const char* offsets : {"[0]", "[0,4,4]", "[-4,0]", "[0,18446744073709551616]", "4"}) {
    const std::string entry =
        fmt::format(R"({{"one":{{"dtype":"F32","shape":[1],"data_offsets":{}}}}})", offsets);
    EXPECT_THAT(RefusalOf(FileOf(entry, 4)), HasSubstr("tensor one: its data_offsets"));
  }
}

TEST(WeightFiles, RefusesOtherTypes) {
  EXPECT_THAT(RefusalOf(FileOf("{" + Entry("one", "[1]", 0, 8, "I64") + "}", 8)),
              AllOf(HasSubstr("tensor one: dtype \"I64\""), HasSubstr("F32, F16 or BF16")));
  EXPECT_THAT(RefusalOf(FileOf(R"({"one":{"shape":[1],"data_offsets":[0,4]}})", 4)),
              HasSubstr("dtype null"));
}

TEST(WeightFiles, RefusesANameThatStandsThereTwice) {
  const std::string one = Entry("one", "[1]", 0, 4);
  EXPECT_THAT(RefusalOf(FileOf("{" + one + "," + one + "}", 4)),
              HasSubstr("the name one occurs twice"));
  EXPECT_THAT(RefusalOf(FileOf(
                  R"({"one":{"dtype":"F16","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4)),
              HasSubstr("the name dtype"));
}

TEST(WeightFiles, SameNamesInDifferentObjectsAreNotTwice) {
  const ScratchFolder folder;
  const auto path = folder.Write(
      "x", FileOf("{" + Entry("dtype", "[1]", 0, 4) + "," + Entry("shape", "[]", 4, 8) + "," +
                      Entry("zero", "[0,9223372036854775807]", 8, 8) + "}  ",
                  8));
  EXPECT_EQ(WeightFiles(path).weights().size(), 3u);
}

// Two shards of a tensor each, and what is wrong with the folder.
class Shards : public ::testing::Test {
 protected:
  Shards() { WriteWeights(folder_.path(), model_.weights, 40); }

  std::string Refusal() const {
    return FileErrorOf([&] { const WeightFiles files(folder_.path()); });
  }
  void WriteIndex(const std::string& weight_map) const {
    folder_.Write("model.safetensors.index.json", R"({"weight_map":)" + weight_map + "}");
  }

  const ScratchFolder folder_;
  const Model model_{2};
  const std::string first_ = "model-00001-of-00002.safetensors";
  const std::string second_ = "model-00002-of-00002.safetensors";
};

TEST_F(Shards, MissingOne) {
  std::filesystem::remove(folder_ / second_);
  EXPECT_THAT(Refusal(), AllOf(HasSubstr(second_), HasSubstr("shard is missing")));
}

TEST_F(Shards, MissingIndex) {
  std::filesystem::remove(folder_ / "model.safetensors.index.json");
  EXPECT_THAT(Refusal(), HasSubstr("is there without model.safetensors.index.json"));
}

TEST_F(Shards, ATensorIsNotWhereTheIndexSays) {
  WriteIndex(
      fmt::format(R"({{"layer.0":"{0}","layer.1":"{1}","layer.2":"{1}"}})", first_, second_));
  EXPECT_THAT(Refusal(), AllOf(HasSubstr(second_), HasSubstr("layer.2 is not in this shard")));
}

TEST_F(Shards, ATensorTheIndexDoesNotName) {
  WriteIndex(fmt::format(R"({{"layer.0":"{}"}})", first_));
  ASSERT_EQ(WeightFiles(folder_.path()).weights().size(), 1u) << "the other shard is not named";
  std::filesystem::copy_file(folder_ / second_, folder_ / first_,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("layer.1 is in this shard"), HasSubstr("not name it")));
}

TEST_F(Shards, ATensorInTwoShards) {
  const ScratchFolder other;
  WriteWeights(other.path(), model_.weights);
  std::filesystem::copy_file(other / "model.safetensors", folder_ / second_,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(Refusal(), AllOf(HasSubstr(second_ + ": tensor layer.0 is in this shard"),
                               HasSubstr("has it in " + first_)));
}

TEST_F(Shards, AnIndexThatIsNone) {
  WriteIndex("[]");
  EXPECT_THAT(Refusal(), HasSubstr("no weight_map"));
  WriteIndex("{}");
  EXPECT_THAT(Refusal(), HasSubstr("no weight_map"));
  WriteIndex(R"({"layer.0":"a","layer.0":"b"})");
  EXPECT_THAT(Refusal(), HasSubstr("the name layer.0 occurs twice"));
  for (const char* file : {"3", R"("../x")", R"("/x")", R"("")", R"("..")"}) {
    WriteIndex(fmt::format(R"({{"layer.0":{}}})", file));
    EXPECT_THAT(Refusal(), HasSubstr("tensor layer.0: its shard is not the name of a file"));
  }
}

TEST(WeightFiles, SaysWhatAFolderWithoutWeightsHas) {
  const ScratchFolder folder;
  const auto refusal = [&] { return FileErrorOf([&] { const WeightFiles files(folder.path()); }); };
  EXPECT_THAT(refusal(), HasSubstr("neither model.safetensors nor"));
  folder.Write("pytorch_model-00001-of-00002.bin", "");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("pytorch_model-00001-of-00002.bin"),
                               HasSubstr("convert it to model.safetensors")));
  EXPECT_THAT(FileErrorOf([&] { const WeightFiles files(folder / "none"); }),
              AllOf(HasSubstr("none: cannot read weights: No such file"),
                    HasSubstr("finish the download")));
  EXPECT_THAT(FileErrorOf([] { const WeightFiles files("/dev/null"); }),
              HasSubstr("/dev/null: cannot read weights: "));
}

TEST(WeightFiles, MapsTheFileWhileItLives) {
  const ScratchFolder folder;
  const auto path = folder.Write("x", FileOf("{}"));
  const auto is_mapped = [&] {
    return ReadFile("/proc/self/maps").find(path.string()) != std::string::npos;
  };
  {
    WeightFiles files(path);
    const WeightFiles moved(std::move(files));
    EXPECT_TRUE(is_mapped());
  }
  EXPECT_FALSE(is_mapped());
}

// Resident memory of this process.
size_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  size_t pages = 0, resident = 0;
  in >> pages >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(WeightFiles, ReadsOnlyWhatIsLookedAt) {
  constexpr size_t kBytes = size_t{256} << 20;
  const ScratchFolder folder;
  const auto path = folder.Write(
      "x", FileOf(fmt::format("{{{}}}", Entry("a", fmt::format("[{}]", kBytes / 4), 0, kBytes))));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + kBytes);  // a hole
  const size_t before = ResidentBytes();
  const WeightFiles files(path);
  EXPECT_EQ(files.weights().at("a").data.size(), kBytes);
  EXPECT_EQ(files.weights().at("a").data.back(), std::byte{0});
  EXPECT_LT(ResidentBytes(), before + kBytes / 4);
}

}  // namespace
}  // namespace agentr
