#pragma once

#include <atomic>
#include <cstddef>

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

  // A stream's part: whether it is among the first `most`, held as a ticket is.
  class Stream {
   public:
    Stream(CallsUnderWay& calls, size_t most) : calls_(calls), fits_(calls_.streams_++ < most) {}
    ~Stream() { --calls_.streams_; }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    bool fits() const { return fits_; }

   private:
    CallsUnderWay& calls_;
    const bool fits_;
  };

  int count() const { return count_; }

 private:
  std::atomic<int> count_{0};
  std::atomic<size_t> streams_{0};
};

}  // namespace vectable
