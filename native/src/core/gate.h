// Owns the gate of a database: many users at a time, or one who closes or reopens it. A waiting
// closer is let in before new users, so that it cannot starve.
// NOTE: not recursive. No callback of a user may run inside the gate.
#pragma once

#include <pthread.h>

namespace agenttx {

class Gate {
 public:
  Gate() {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
#if defined(__GLIBC__)
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&lock_, &attributes);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~Gate() { pthread_rwlock_destroy(&lock_); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  class Pass {
   public:
    explicit Pass(Gate* gate) : gate_(gate) { pthread_rwlock_rdlock(&gate_->lock_); }
    ~Pass() { pthread_rwlock_unlock(&gate_->lock_); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    Gate* gate_;
  };

  class Closed {
   public:
    explicit Closed(Gate* gate) : gate_(gate) { pthread_rwlock_wrlock(&gate_->lock_); }
    ~Closed() { pthread_rwlock_unlock(&gate_->lock_); }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    Gate* gate_;
  };

 private:
  pthread_rwlock_t lock_;
};

}  // namespace agenttx
