// EstimateModel through a channel.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

using SizingStub = v1::SizingService::Stub;

class ModelServiceTest : public RpcFixture {
 protected:
  void SetUp() override {
    Start();
    UseInProcessChannel();
  }

  v1::EstimateModelResponse Estimate(const v1::EstimateModelRequest& request) {
    return Call(sizing, &SizingStub::EstimateModel, request);
  }

  grpc::Status Refused(const v1::EstimateModelRequest& request) {
    grpc::Status status;
    Call(sizing, &SizingStub::EstimateModel, request, &status);
    return status;
  }
};

TEST_F(ModelServiceTest, APresetWithItsMemory) {
  v1::EstimateModelRequest request;
  request.set_preset("llama3-8b");
  request.set_context(8'192);
  request.set_training("hf-mixed");
  request.set_gpus(8);
  const v1::EstimateModelResponse model = Estimate(request);
  EXPECT_EQ(model.parameters(), 8'030'261'248U);
  const v1::ParameterParts& parts = model.parts();
  EXPECT_EQ(parts.embedding() + parts.positions() + parts.attention() + parts.mlp() + parts.norm() +
                parts.head(),
            model.parameters());
  EXPECT_EQ(model.parameters_per_layer(), 218'112'000U);
  EXPECT_EQ(model.non_embedding_parameters(), 6'979'588'096U);
  EXPECT_FALSE(model.has_active_parameters());
  EXPECT_FALSE(model.has_parameters_per_cross_layer());
  EXPECT_NEAR(model.estimate().error_percent(), -13.23, 0.005);
  EXPECT_NEAR(model.estimate().error_percent_with_head(), -6.69, 0.005);
  ASSERT_EQ(model.weights_size(), 5);
  EXPECT_EQ(model.weights(0).precision(), v1::PRECISION_FP32);
  EXPECT_EQ(model.weights(0).bytes(), 4 * model.parameters());
  EXPECT_EQ(model.weights(4).bytes(), model.parameters() / 2);
  EXPECT_EQ(model.kv_cache().precision(), v1::PRECISION_FP16);
  EXPECT_EQ(model.kv_cache().bytes_per_token(), 131'072U);
  EXPECT_EQ(model.kv_cache().bytes(), 1'073'741'824U);
  EXPECT_FALSE(model.kv_cache().has_window());
  EXPECT_EQ(model.training().total(), 18 * model.parameters());
  EXPECT_TRUE(model.has_zero3_bytes_per_gpu());
  EXPECT_TRUE(model.has_activation_bytes());
}

TEST_F(ModelServiceTest, WhatWasNotAskedForIsAbsent) {
  v1::EstimateModelRequest request;
  request.set_parameters(7'000'000'000);
  const v1::EstimateModelResponse bare = Estimate(request);
  EXPECT_EQ(bare.weights(0).bytes(), 28'000'000'000U);
  EXPECT_FALSE(bare.has_parts());
  EXPECT_FALSE(bare.has_estimate());
  EXPECT_FALSE(bare.has_kv_cache());
  EXPECT_FALSE(bare.has_training());
  EXPECT_FALSE(bare.has_activation_bytes());
  request.set_preset("bert-base-uncased");
  EXPECT_FALSE(Estimate(request).has_kv_cache());
  request.set_preset("gpt2");
  EXPECT_EQ(Estimate(request).kv_cache().bytes_per_token(), 36'864U);
  EXPECT_FALSE(Estimate(request).kv_cache().has_bytes());
}

TEST_F(ModelServiceTest, AShapeWithDefaults) {
  v1::EstimateModelRequest request;
  v1::TransformerSpec& spec = *request.mutable_spec();
  spec.set_vocab(50'257);
  spec.set_positions(1'024);
  spec.set_dim(768);
  spec.set_layers(12);
  spec.set_heads(12);
  EXPECT_EQ(Estimate(request).parameters(), 124'439'808U);
  spec.set_untied(true);
  EXPECT_EQ(Estimate(request).parameters(), 163'037'184U);
  spec.set_untied(false);
  spec.set_encoder(true);
  spec.set_final_norms(0);
  spec.set_embedding_norm(true);
  spec.set_pooler(true);
  spec.set_token_types(2);
  spec.set_vocab(30'522);
  spec.set_positions(512);
  EXPECT_EQ(Estimate(request).parameters(), 109'482'240U);
}

TEST_F(ModelServiceTest, AConfig) {
  v1::EstimateModelRequest request;
  request.set_config_json(R"({"model_type": "llama", "hidden_size": 4096,
    "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 32,
    "vocab_size": 32000})");
  EXPECT_EQ(Estimate(request).parameters(), 6'738'415'616U);
  EXPECT_EQ(Estimate(request).name(), "llama");
}

TEST_F(ModelServiceTest, BadRequestsAreNamed) {
  const auto expect = [this](const v1::EstimateModelRequest& request, grpc::StatusCode code,
                             const std::string& text) {
    const grpc::Status status = Refused(request);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_THAT(status.error_message(), testing::HasSubstr(text));
  };
  v1::EstimateModelRequest request;
  expect(request, grpc::INVALID_ARGUMENT, "the request has no model");
  request.set_preset("gpt3");
  expect(request, grpc::NOT_FOUND, "near it are gpt2");
  request.set_parameters(0);
  expect(request, grpc::INVALID_ARGUMENT, "parameters must be 1 or more");
  request.set_config_json("{");
  expect(request, grpc::INVALID_ARGUMENT, "config_json: not valid JSON");
  request.set_config_json("\"\xff\"");
  expect(request, grpc::INVALID_ARGUMENT, "not valid JSON");
  request.set_config_json(R"({"model_type": "t5"})");
  expect(request, grpc::INVALID_ARGUMENT, "the family 't5' isn't known");
  request.mutable_spec()->set_dim(8);
  request.mutable_spec()->set_layers(1);
  expect(request, grpc::INVALID_ARGUMENT, "heads must be 1 or more");
  request.mutable_spec()->set_heads(3);
  expect(request, grpc::INVALID_ARGUMENT, "3 heads don't divide d = 8");
  request.mutable_spec()->set_heads(2);
  request.mutable_spec()->set_norm(static_cast<v1::NormKind>(9));
  expect(request, grpc::INVALID_ARGUMENT, "no norm of number 9");
  request.mutable_spec()->set_norm(v1::NORM_KIND_RMS_NORM);
  request.mutable_spec()->set_dim(UINT64_MAX);
  expect(request, grpc::INVALID_ARGUMENT, "the limit is 1,000,000,000");
  request.mutable_spec()->set_dim(1'000'000'000);
  request.mutable_spec()->set_layers(1'000'000'000);
  request.mutable_spec()->set_ffn(1);
  expect(request, grpc::OUT_OF_RANGE, "don't fit 64 bits");
  request.set_preset("gpt2");
  request.set_training("sgd");
  expect(request, grpc::NOT_FOUND, "known are fp32");
  request.clear_training();
  request.set_batch(2);
  expect(request, grpc::INVALID_ARGUMENT, "batch needs context");
  request.set_context(2'000);
  expect(request, grpc::INVALID_ARGUMENT, "learned positions");
  request.set_context(0);
  expect(request, grpc::INVALID_ARGUMENT, "context must be 1");
}

}  // namespace
}  // namespace vectable
