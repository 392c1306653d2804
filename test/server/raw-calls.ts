// Owns calls of the protocol as they are on the wire, with any credentials: what a test needs to send
// requests that our client would not.

import { agentTxService, errorInfoOf, type session } from "@agenttx/wire";
import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceError,
} from "@grpc/grpc-js";

export type CallName = keyof typeof agentTxService;

export interface Answered {
  /** `OK`, or the reason that the error carries, or `grpc <status>`. */
  readonly code: string;
  readonly message: string;
  /** The answer, or the first message of a stream; null when there was none. */
  readonly answer: unknown;
}

/** Members that are absent on the wire, and which the encoder wants to see all the same. */
const UNSAID = { fencingToken: 0n, workflowId: "" };

export class RawClient {
  readonly channel: Client;
  readonly #token: string | null;

  constructor(address: string, token: string | null = null) {
    // A channel of its own: connections are shared by address otherwise.
    const options = { "grpc.use_local_subchannel_pool": 1 };
    this.channel = new Client(address, credentials.createInsecure(), options);
    this.#token = token;
  }

  metadata(): Metadata {
    const metadata = new Metadata();
    if (this.#token !== null) metadata.set("authorization", `Bearer ${this.#token}`);
    return metadata;
  }

  /**
   * One request, one answer, whatever the kind of call. A stream that was accepted and says nothing
   * counts as OK after its headers came.
   */
  async call(name: CallName, request: unknown): Promise<Answered> {
    const method = agentTxService[name] as MethodDefinition<unknown, unknown>;
    if (method.requestStream) return this.#session(request as session.SessionRequest);
    return method.responseStream ? this.#stream(method, request) : this.#unary(method, request);
  }

  session(): ClientDuplexStream<session.SessionRequest, session.SessionResponse> {
    const { path, requestSerialize, responseDeserialize } = agentTxService.session;
    return this.channel.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      this.metadata(),
    );
  }

  close(): void {
    this.channel.close();
  }

  #unary(method: MethodDefinition<unknown, unknown>, request: unknown): Promise<Answered> {
    const { path, requestSerialize, responseDeserialize } = method;
    return new Promise((resolve) => {
      this.channel.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        { ...UNSAID, ...(request as object) },
        this.metadata(),
        (error, answer) => resolve(error === null ? ok(answer ?? null) : failed(error)),
      );
    });
  }

  #stream(method: MethodDefinition<unknown, unknown>, request: unknown): Promise<Answered> {
    const { path, requestSerialize, responseDeserialize } = method;
    const stream = this.channel.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      this.metadata(),
    );
    return new Promise((resolve) => {
      stream.on("metadata", () => {
        setTimeout(() => {
          resolve(ok(null));
          stream.cancel();
        }, 50);
      });
      stream.on("data", (message: unknown) => {
        resolve(ok(message));
        stream.cancel();
      });
      stream.on("error", (error: ServiceError) => resolve(failed(error)));
      stream.on("end", () => resolve(ok(null)));
    });
  }

  #session(request: session.SessionRequest): Promise<Answered> {
    const stream = this.session();
    return new Promise((resolve) => {
      stream.on("data", ({ response }: session.SessionResponse) => {
        if (response?.$case === "error") {
          const { reason, message } = response.value;
          resolve({ code: reason, message, answer: null });
        } else resolve(ok(response?.value));
        stream.end();
      });
      stream.on("error", (error: ServiceError) => resolve(failed(error)));
      stream.write(request);
    });
  }
}

function ok(answer: unknown): Answered {
  return { code: "OK", message: "", answer };
}

function failed(error: ServiceError): Answered {
  const info = errorInfoOf(error.metadata);
  return { code: info?.reason ?? `grpc ${error.code}`, message: error.details, answer: null };
}
