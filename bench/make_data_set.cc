// Makes a data set for the other benchmarks of a GloVe text; see data_set.h.

#include <cstdio>
#include <string>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/data_set.h"

int main(int argc, char** argv) {
  vectable::DataSetOptions options;
  std::string text;
  std::string out;
  std::string words;
  CLI::App app("Splits the words of a GloVe text into rows and queries, with the true answers");
  app.add_option("text", text, "The GloVe text")->required();
  app.add_option("out", out, "The file to write")->required();
  app.add_option("--rows", options.rows, "Rows of the base; 0: all words");
  app.add_option("--dimensions", options.dimensions, "Dimensions; 0: those of the text");
  app.add_option("--queries", options.queries, "Words held out as queries")->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of all draws")->capture_default_str();
  app.add_option("--words", words, "Write the base as GloVe text, too");
  CLI11_PARSE(app, argc, argv);
  const absl::Status made = vectable::MakeDataSet(text, options, out, words);
  if (!made.ok()) std::fprintf(stderr, "%s\n", made.ToString().c_str());
  return made.ok() ? 0 : 1;
}
