// A program of somebody else: writes two rows and looks near one of them.
#include <iostream>

#include "client/client.h"

namespace {

void AddRow(const char* word, float x, float y, vectable::v1::UpsertRequest& request) {
  vectable::v1::UpsertRow* row = request.add_rows();
  row->set_word(word);
  row->mutable_vector()->add_values(x);
  row->mutable_vector()->add_values(y);
}

int Fail(const absl::Status& status) {
  std::cerr << status << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto client = vectable::Client::Connect({.server = argv[1]});
  if (!client.ok()) return Fail(client.status());

  vectable::v1::CreateTableRequest create;
  create.set_name("notes");
  create.set_dimensions(2);
  if (auto made = (*client)->CreateTable(create); !made.ok()) return Fail(made.status());

  vectable::v1::UpsertRequest upsert;
  upsert.set_table("notes");
  AddRow("cat", 0, 1, upsert);
  AddRow("dog", 0.1F, 1, upsert);
  if (auto written = (*client)->Upsert(upsert); !written.ok()) return Fail(written.status());

  vectable::v1::NearestRequest nearest;
  nearest.set_table("notes");
  nearest.set_k(1);
  nearest.add_queries()->set_word("cat");
  auto answer = (*client)->Nearest(nearest);
  if (!answer.ok()) return Fail(answer.status());
  std::cout << answer->results(0).hits(0).word() << "\n";
  return 0;
}
