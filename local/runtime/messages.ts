/** What a worker thread is made with. */
export interface WorkerSetup {
  /** The path of the module that has the handler. */
  readonly module: string;
  /** The name that it exports the handler under. */
  readonly export: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
}

/** To a worker: one invocation at a time. */
export type ToWorker =
  | {
      readonly type: 'invoke';
      readonly requestId: string;
      /** The event as JSON. */
      readonly event: string;
      /** When the function's time is up, in milliseconds since 1970. */
      readonly deadline: number;
    }
  /** So many bytes of the answer were taken. */
  | { readonly type: 'taken'; readonly bytes: number }
  /** Nobody wants the rest of the answer. */
  | { readonly type: 'abandon' };

/** An error as the handler threw it. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

/** From a worker. */
export type FromWorker =
  /** The module is loaded: invocations can come. */
  | { readonly type: 'ready' }
  /** A piece of the answer. */
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** The answer is complete. With `idle` the handler is done, else it is still at work. */
  | { readonly type: 'end'; readonly idle: boolean }
  /** The handler failed, before or within its answer. */
  | { readonly type: 'error'; readonly error: ThrownError; readonly idle: boolean }
  /** The handler is done with what it did after its answer. */
  | { readonly type: 'idle' };
