#include <limits>

#include "gtest/gtest.h"
#include "server/nearest_reply.h"

namespace vectable {
namespace {

v1::NearestRequest Request(int queries, uint32_t k, bool vectors = false) {
  v1::NearestRequest request;
  for (int i = 0; i < queries; ++i) request.add_queries()->set_word("w");
  request.set_k(k);
  request.set_include_vectors(vectors);
  return request;
}

TEST(PlanNearest, OrdinaryRequestsGoAtOnceAsTheyAre) {
  const Limits limits;
  for (const auto& request : {Request(1, 10), Request(1'000, 10), Request(1'000, 100),
                              Request(1, 10'000), Request(20, 10'000), Request(100, 10, true)}) {
    const NearestPlan plan = PlanNearest(request, 1'000'000, 300, limits);
    EXPECT_EQ(plan.k, request.k());
    EXPECT_EQ(plan.queries_at_once, static_cast<size_t>(request.queries_size()));
  }
}

TEST(PlanNearest, WhatCannotFitIsBounded) {
  const Limits limits;
  const NearestPlan many = PlanNearest(Request(1'000, 10'000), 1'000'000, 300, limits);
  EXPECT_LE(many.queries_at_once, 64U);
  EXPECT_GE(many.queries_at_once, 1U);

  // 65,536 dimensions: 256 KiB a hit.
  const NearestPlan wide = PlanNearest(Request(1'000, 10'000, true), 1'000'000, 65'536, limits);
  EXPECT_EQ(wide.queries_at_once, 1U);
  EXPECT_LE(wide.k, 17U);
}

TEST(PlanNearest, FewRowsOrFirstNMakeRoom) {
  const Limits limits;
  EXPECT_EQ(PlanNearest(Request(1'000, 10'000), 10, 300, limits).queries_at_once, 1'000U);
  v1::NearestRequest request = Request(1'000, 10'000);
  request.set_first_n(10);
  EXPECT_EQ(PlanNearest(request, 1'000'000, 300, limits).queries_at_once, 1'000U);
  EXPECT_EQ(PlanNearest(Request(1'000, 10), 0, 300, limits).queries_at_once, 1'000U);
}

TEST(PlanNearest, RefusedNumbersGoToTheTable) {
  const Limits limits;
  constexpr uint32_t kHuge = std::numeric_limits<uint32_t>::max();
  EXPECT_EQ(PlanNearest(Request(3, kHuge), 1'000'000, 300, limits).k, kHuge);
  EXPECT_EQ(PlanNearest(Request(3, 0), 1'000'000, 300, limits).k, 0U);
  EXPECT_EQ(PlanNearest(Request(1'001, 10'000), 1'000'000, 300, limits).queries_at_once, 1'001U);
  EXPECT_EQ(PlanNearest(Request(0, 10), 1'000'000, 300, limits).queries_at_once, 1U);
}

}  // namespace
}  // namespace vectable
