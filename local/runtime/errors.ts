import type { ThrownError } from './messages.ts';

/**
 * A function failed: its handler threw, it timed out, or its process ended. The message is the
 * handler's own.
 */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  /** The name of the error that the handler threw. */
  readonly type: string;

  constructor({ name, message, stack }: ThrownError) {
    super(message);
    this.type = name;
    if (stack !== undefined) this.stack = stack;
  }
}

/** All workers of a function are busy, and its queue of invocations is full. */
export class FunctionThrottled extends Error {
  override readonly name = 'FunctionThrottled';
}
