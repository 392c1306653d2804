# Owns how our targets see RocksDB: the imported target `rocksdb` from a folder with
# lib/librocksdb.a and include/, which scripts/build.mjs makes and names in AGENTTX_ROCKSDB_DIR.
if(NOT EXISTS "${AGENTTX_ROCKSDB_DIR}/lib/librocksdb.a")
  message(FATAL_ERROR "AGENTTX_ROCKSDB_DIR (\"${AGENTTX_ROCKSDB_DIR}\") has no lib/librocksdb.a. "
                      "Run: node native/scripts/build.mjs")
endif()
find_package(Threads REQUIRED)
add_library(rocksdb STATIC IMPORTED)
set_target_properties(rocksdb PROPERTIES IMPORTED_LOCATION "${AGENTTX_ROCKSDB_DIR}/lib/librocksdb.a")
target_include_directories(rocksdb SYSTEM INTERFACE "${AGENTTX_ROCKSDB_DIR}/include")
target_link_libraries(rocksdb INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
