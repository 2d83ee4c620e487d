#pragma once

#include <atomic>

namespace vectable {

// Counts the calls of our services that aren't answered yet, for a stop that lets them finish.
// Thread-safe.
class CallsUnderWay {
 public:
  // A call's part: held from its beginning until it has given gRPC its answer.
  class Ticket {
   public:
    explicit Ticket(CallsUnderWay& calls) : calls_(calls) { ++calls_.count_; }
    ~Ticket() { --calls_.count_; }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

   private:
    CallsUnderWay& calls_;
  };

  int count() const { return count_; }

 private:
  std::atomic<int> count_{0};
};

}  // namespace vectable
