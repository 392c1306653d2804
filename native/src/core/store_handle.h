// Owns one opening of a store: the face of the core for one user. See store_handle.cc.
#pragma once

#include <memory>

#include "agenttx/store.h"

namespace rocksdb {
class Env;
}

namespace agenttx {

// Store::Open with a file system of the caller's, for tests of failing disks.
Status OpenStoreOn(rocksdb::Env* env, const StoreOptions& options, std::shared_ptr<Store>* out);

}  // namespace agenttx
