/** The data that a worker thread starts with. */
export interface WorkerSetup {
  /** The path of the handler's module. */
  readonly module: string;
  /** The name of the handler among the module's exports. */
  readonly export: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
}

/** Messages to a worker, which runs one invocation at a time. */
export type ToWorker =
  | {
      readonly type: 'invoke';
      readonly requestId: string;
      /** The event as JSON. */
      readonly event: string;
      /** When the function's time is up, in ms since 1970. */
      readonly deadline: number;
    }
  /** The reader has taken these bytes of the answer. */
  | { readonly type: 'taken'; readonly bytes: number }
  /** The rest of the answer is not needed. */
  | { readonly type: 'abandon' };

/** An error as the handler threw it. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

/** Messages from a worker. */
export type FromWorker =
  /** The module is loaded and invocations may come. */
  | { readonly type: 'ready' }
  /** A chunk of the answer. */
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** The answer is complete. `idle` says whether the handler has also ended. */
  | { readonly type: 'end'; readonly idle: boolean }
  /** The handler failed, before or during its answer. */
  | { readonly type: 'error'; readonly error: ThrownError; readonly idle: boolean }
  /** The handler has ended, some time after its answer. */
  | { readonly type: 'idle' };
