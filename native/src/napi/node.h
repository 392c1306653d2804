// Owns the one way to include node-addon-api: its settings are the same in every file.
// C++ exceptions are on, so that argument checks can stop a call; guard.h lets none escape.
#pragma once

#ifndef NAPI_VERSION
#define NAPI_VERSION 9
#endif
#undef NAPI_DISABLE_CPP_EXCEPTIONS
#undef NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS
#ifndef NAPI_CPP_EXCEPTIONS
#define NAPI_CPP_EXCEPTIONS
#endif
// An error that cannot be thrown because its environment is ending is dropped, not fatal.
#define NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS

#include <napi.h>
