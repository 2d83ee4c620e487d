#include "sizing/presets.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/names.h"

namespace vectable {
namespace {

TransformerSpec Gpt2(uint64_t d, uint64_t layers, uint64_t heads) {
  TransformerSpec spec;
  spec.vocab = 50'257;
  spec.positions = 1'024;
  spec.d = d;
  spec.layers = layers;
  spec.heads = heads;
  spec.ffn = 4 * d;
  return spec;
}

TransformerSpec Bert(uint64_t vocab) {
  TransformerSpec spec;
  spec.vocab = vocab;
  spec.positions = 512;
  spec.token_types = 2;
  spec.d = 768;
  spec.layers = 12;
  spec.heads = 12;
  spec.ffn = 3'072;
  spec.final_norms = 0;
  spec.embedding_norm = true;
  spec.pooler = true;
  spec.causal = false;
  return spec;
}

// Llama and its likes: RMSNorm, rotary positions, gated MLP, no biases, a head of its own.
TransformerSpec LlamaLike(uint64_t vocab, uint64_t d, uint64_t layers, uint64_t heads,
                          uint64_t kv_heads, uint64_t ffn) {
  TransformerSpec spec;
  spec.vocab = vocab;
  spec.d = d;
  spec.layers = layers;
  spec.heads = heads;
  spec.kv_heads = kv_heads;
  spec.ffn = ffn;
  spec.gated = true;
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = false;
  spec.norm = NormKind::kRmsNorm;
  spec.tied = false;
  return spec;
}

// Stacks of torch.nn: no embedding and no head.
TransformerSpec Torch(uint64_t d, uint64_t heads, uint64_t ffn, uint64_t layers,
                      uint64_t cross_layers = 0) {
  TransformerSpec spec;
  spec.d = d;
  spec.layers = layers;
  spec.cross_layers = cross_layers;
  spec.heads = heads;
  spec.ffn = ffn;
  spec.final_norms = 0;
  spec.causal = false;
  return spec;
}

TransformerSpec TorchTransformer() {
  TransformerSpec spec = Torch(512, 8, 2'048, 6, 6);
  spec.final_norms = 2;
  return spec;
}

TransformerSpec TorchAttention() {
  TransformerSpec spec = Torch(768, 12, 0, 1);
  spec.norms_per_layer = 0;
  return spec;
}

TransformerSpec TorchEmbedding() {
  TransformerSpec spec = Torch(768, 0, 0, 0);
  spec.vocab = 30'522;
  return spec;
}

std::vector<ModelPreset> MakePresets() {
  constexpr std::string_view kNanoGpt = "nanoGPT, config_args of GPT.from_pretrained";
  constexpr std::string_view kBertSource = "google-research/bert";
  return {
      {"gpt2", "GPT-2 small", "openai/gpt-2, model.py", Gpt2(768, 12, 12)},
      {"gpt2-medium", "GPT-2 medium", kNanoGpt, Gpt2(1'024, 24, 16)},
      {"gpt2-large", "GPT-2 large", kNanoGpt, Gpt2(1'280, 36, 20)},
      {"gpt2-xl", "GPT-2 xl", kNanoGpt, Gpt2(1'600, 48, 25)},
      {"llama2-7b", "Llama 2 7B", "torchtune, llama2_7b",
       LlamaLike(32'000, 4'096, 32, 32, 32, 11'008)},
      {"llama3-8b", "Llama 3 8B", "torchtune, llama3_8b",
       LlamaLike(128'256, 4'096, 32, 32, 8, 14'336)},
      {"llama3-70b", "Llama 3 70B", "torchtune, llama3_70b",
       LlamaLike(128'256, 8'192, 80, 64, 8, 28'672)},
      // Not every runtime keeps to the window, so the figures are those without.
      {"mistral-7b", "Mistral 7B v0.1", "torchtune, mistral_7b",
       LlamaLike(32'000, 4'096, 32, 32, 8, 14'336),
       "this model may keep to a sliding window of 4,096 tokens; --window 4096 counts a cache of "
       "no more"},
      {"bert-base-uncased", "BERT base uncased, with pooler", kBertSource, Bert(30'522)},
      {"bert-base-cased", "BERT base cased, with pooler", kBertSource, Bert(28'996)},
      {"pytorch-transformer-encoder-layer",
       "nn.TransformerEncoderLayer(768, 12, dim_feedforward=3072)", "PyTorch",
       Torch(768, 12, 3'072, 1)},
      {"pytorch-transformer-encoder-layer-2048", "nn.TransformerEncoderLayer(768, 12)", "PyTorch",
       Torch(768, 12, 2'048, 1)},
      {"pytorch-transformer-encoder", "nn.TransformerEncoder of 12 layers (768, 12, 3072)",
       "PyTorch", Torch(768, 12, 3'072, 12)},
      {"pytorch-transformer-decoder-layer", "nn.TransformerDecoderLayer(768, 12, 3072)", "PyTorch",
       Torch(768, 12, 3'072, 0, 1)},
      {"pytorch-multihead-attention", "nn.MultiheadAttention(768, 12)", "PyTorch",
       TorchAttention()},
      {"pytorch-transformer", "nn.Transformer() of 6 + 6 layers, d 512", "PyTorch",
       TorchTransformer()},
      {"pytorch-embedding", "nn.Embedding(30522, 768)", "PyTorch", TorchEmbedding()},
  };
}

const std::vector<ModelPreset>& PresetList() {
  static const auto* const kPresets = new std::vector<ModelPreset>(MakePresets());
  return *kPresets;
}

// Names longer than this are near to nothing.
constexpr size_t kLongestName = 64;

// Letters and digits in lower case: "Llama-3_8B" is near "llama3-8b".
std::string BareName(std::string_view name) {
  std::string bare;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') bare += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) bare += c;
  }
  return bare;
}

// Edits that turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

bool IsNear(std::string_view asked, std::string_view known) {
  if (asked.empty() || asked.size() > kLongestName) return false;
  const std::string a = BareName(asked);
  const std::string b = BareName(known);
  return (a.size() >= 3 && b.starts_with(a)) || EditDistance(a, b) <= 2;
}

}  // namespace

std::span<const ModelPreset> AllPresets() { return PresetList(); }

absl::StatusOr<const ModelPreset*> FindPreset(std::string_view name) {
  std::vector<std::string> near, all;
  for (const ModelPreset& preset : PresetList()) {
    if (preset.name == name) return &preset;
    all.emplace_back(preset.name);
    if (IsNear(name, preset.name)) near.emplace_back(preset.name);
  }
  const std::string bare = BareName(name.substr(0, kLongestName));
  std::stable_sort(near.begin(), near.end(), [&bare](const auto& a, const auto& b) {
    return EditDistance(bare, BareName(a)) < EditDistance(bare, BareName(b));
  });
  return absl::NotFoundError(absl::StrCat("there is no preset ", Quoted(name), "; ",
                                          near.empty() ? "known are " : "near it are ",
                                          absl::StrJoin(near.empty() ? all : near, ", ")));
}

}  // namespace vectable
