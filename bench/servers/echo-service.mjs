// Owns the echo service as both sides know it: bytes, no codec.

const same = (bytes) => bytes;

function method(path, streams) {
  return {
    path,
    requestStream: streams,
    responseStream: streams,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}

export const ECHO = {
  stream: method("/bench.Echo/Stream", true),
  unary: method("/bench.Echo/Unary", false),
};
