#include "lm/convert_model.h"

#include <fmt/core.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/file.h"
#include "common/named_values.h"
#include "common/options.h"
#include "lm/export_model.h"
#include "lm/gguf_export.h"
#include "lm/model_files.h"
#include "lm/named_model.h"
#include "lm/weights/gguf.h"
#include "lm/weights/model_config.h"
#include "lm/weights/model_path.h"
#include "lm/weights/quantised.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// --type and the type; besides, auto.
constexpr std::array<NamedValue<WeightType>, 5> kTypes = {{{"f32", WeightType::kF32},
                                                           {"f16", WeightType::kF16},
                                                           {"bf16", WeightType::kBF16},
                                                           {"q8_0", WeightType::kQ8_0},
                                                           {"q4_0", WeightType::kQ4_0}}};

// The weights of `source`, all in one type. Owns those that had another.
class RetypedWeights : public WeightSource {
 public:
  RetypedWeights(std::shared_ptr<const WeightSource> source, WeightType type)
      : source_(std::move(source)) {
    for (const auto& [name, weight] : source_->weights()) {
      Weight& retyped = weights_[name] = weight;
      if (weight.type == type) continue;
      retyped.type = type;
      retyped.data = copies_.emplace_back(StoredAs(type, ReadWeight(weight)));
    }
  }

  const std::map<std::string, Weight>& weights() const override { return weights_; }
  const std::string& name() const override { return source_->name(); }
  bool immutable() const override { return true; }

 private:
  const std::shared_ptr<const WeightSource> source_;
  std::map<std::string, Weight> weights_;
  std::vector<std::vector<std::byte>> copies_;  // their bytes stay where they are
};

// What ExportGguf reads of a folder beside the weights: the texts of a GGUF file, in a folder
// beside the file that is to be.
class TextFolder {
 public:
  TextFolder(const fs::path& gguf, const fs::path& file) : path_(TemporaryPath(file) += ".d") {
    fs::remove_all(path_);
    for (const auto& [name, text] : ModelFiles(gguf)) WriteFileAtomically(path_ / name, text);
  }
  ~TextFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TextFolder(const TextFolder&) = delete;
  TextFolder& operator=(const TextFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
};

bool IsFile(const fs::path& output) { return output.extension() == ".gguf"; }

}  // namespace

void Declare(OptionSet& set, ConvertModelOptions& o) {
  set.Group("Model");
  set.Add("--model_dir", o.model_dir,
          "Hugging Face folder or GGUF file, the folder of an adapter, which is merged, or a named "
          "model, such as smollm2 after scripts/setup.sh --smollm2",
          "MODEL_DIR");
  set.Add("--base_model", o.base_model,
          "Where --model_dir is an adapter of PEFT's: the model into which it is merged (default: "
          "the base that the adapter names)");
  set.Group("Output");
  set.Add("--output", o.output,
          "What to write, which must not be there yet: FILE.gguf for llama.cpp, else a Hugging "
          "Face folder")
      .OnlyOutput();
  std::vector<std::string> types = {"auto"};
  for (const auto& [name, type] : kTypes) types.emplace_back(name);
  set.Add("--type", o.type,
          "Type of the matrices; auto: the model's own, or bf16 if that is quantised. Folders have "
          "f32, f16 or bf16")
      .OneOf(types);
}

void ConvertModel(const FoundModel& model, const fs::path& output, WeightType type) {
  if (fs::exists(output)) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("{} is there already: remove it, or give another --output", output.string()));
  }
  const auto weights = OpenWeights(model);
  if (IsFile(output) && IsGguf(model.base)) {
    ExportGguf(TextFolder(model.base, output).path(), output, type, weights);
  } else if (IsFile(output)) {
    ExportGguf(model.base, output, type, weights);
  } else if (IsQuantised(type)) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("--type {} has no place in a folder: give an --output that ends in "
                    ".gguf, or --type bf16",
                    NameOf(kTypes, type)));
  } else {
    ExportModel(output, model.base, RetypedWeights(weights, type));
  }
}

ExitCode ConvertModel(const ConvertModelOptions& o) {
  if (o.model_dir.empty() || o.output.empty()) {
    throw FatalError(ExitCode::kUsage,
                     o.model_dir.empty()
                         ? "--model_dir is missing: give a model's folder, GGUF file or name"
                         : "--output is missing: give FILE.gguf, or the folder to write");
  }
  const FoundModel model = FindModel(PlaceOfModel(o.model_dir), o.base_model);
  RequireModel(model.base);
  const WeightType type =
      o.type == "auto" ? ReadModelConfig(model.base).weight_type : *ValueOf(kTypes, o.type);
  fs::path output = o.output;
  if (!output.has_filename()) output = output.parent_path();  // "folder/"
  ConvertModel(model, output, type);
  uintmax_t bytes = 0;
  if (IsFile(output)) {
    bytes = fs::file_size(output);
  } else {
    for (const auto& entry : fs::directory_iterator(output)) bytes += entry.file_size();
  }
  fmt::print("{}: {:.1f} MB, matrices in {}\n", o.output, static_cast<double>(bytes) / 1e6,
             NameOf(kTypes, type));
  return ExitCode::kOk;
}

}  // namespace agentr
