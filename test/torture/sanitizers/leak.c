// Owns a planted leak: an addon whose one function loses memory. The sanitizer run has to see it, or
// its silence about ours proves nothing.
#include <node_api.h>
#include <stdlib.h>

static napi_value AgenttxLeak(napi_env env, napi_callback_info info) {
  (void)env;
  (void)info;
  void* volatile lost = malloc(12345);
  lost = NULL;
  (void)lost;
  return NULL;
}

NAPI_MODULE_INIT() {
  napi_value leak;
  napi_create_function(env, "leak", NAPI_AUTO_LENGTH, AgenttxLeak, NULL, &leak);
  napi_set_named_property(env, exports, "leak", leak);
  return exports;
}
