// model_convert: a model in another form.
#include "apps/program.h"
#include "lm/convert_model.h"

int main(int argc, char** argv) {
  agentr::ConvertModelOptions options;
  return agentr::RunWithOptions(
      argc, argv,
      {"model_convert",
       "Writes a model in another form: a Hugging Face folder, a GGUF file, or either with an\n"
       "adapter merged, as a GGUF file for llama.cpp or a folder for trainers.",
       "  model_convert --model_dir train_result/run/model --output model.gguf --type q8_0\n"
       "  model_convert --model_dir train_result/lora/model --output merged\n"
       "  model_convert --model_dir model-q4.gguf --output folder"},
      [&](const agentr::OptionSet&) { return agentr::ConvertModel(options); }, options);
}
