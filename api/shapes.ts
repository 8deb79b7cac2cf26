import type { FunctionShape } from './route.ts';

/*
 * The shapes of functions: how their answers leave, how long they may take, and what they are
 * given. API Gateway waits 29 s for a buffered answer. docs/decisions/0143 explains the memory.
 */

/** Writes or changes one record. */
export const oneRecord = {
  streaming: false,
  timeoutSeconds: 20,
  memoryMb: 512,
} as const satisfies FunctionShape;

/** Deletes some records, one by one. */
export const fewRecords = {
  streaming: false,
  timeoutSeconds: 25,
  memoryMb: 512,
} as const satisfies FunctionShape;

/** Answers one question. The answer can pass 6 MB. */
export const oneAnswer = {
  streaming: true,
  timeoutSeconds: 25,
  memoryMb: 512,
} as const satisfies FunctionShape;

/** Writes as many records as a request may have. The answers to tiny ones can pass 6 MB. */
export const batch = { streaming: true, timeoutSeconds: 28, memoryMb: 1024 } as const satisfies FunctionShape;

/** Deletes all that belongs together, however much. */
export const deletion = {
  streaming: true,
  timeoutSeconds: 300,
  memoryMb: 1024,
} as const satisfies FunctionShape;

/**
 * Answers for up to five minutes. Lambda goes on, and is paid, when its client has left, so this
 * bounds what an abandoned query can cost. Lambda and API Gateway let a stream last 15 min.
 */
export const stream = {
  streaming: true,
  timeoutSeconds: 300,
  timeoutSetting: 'queryTimeoutSeconds',
  memoryMb: 1024,
} as const satisfies FunctionShape;

/**
 * Passes on the answer of another service, for up to 15 min. It is paid while it waits, so it gets
 * no more memory than it takes.
 */
export const passThrough = {
  streaming: true,
  timeoutSeconds: 900,
  timeoutSetting: 'inferenceTimeoutSeconds',
  memoryMb: 512,
} as const satisfies FunctionShape;

/** Answers a fixed text that is worth compressing. */
export const document = {
  streaming: true,
  timeoutSeconds: 5,
  memoryMb: 256,
} as const satisfies FunctionShape;

/** Answers a short fixed text. */
export const fixed = { streaming: false, timeoutSeconds: 5, memoryMb: 256 } as const satisfies FunctionShape;

/**
 * Answers a file of the page. It streams, because API Gateway passes the bytes of a stream on as
 * they are, and takes a buffered answer for text.
 */
export const page = { streaming: true, timeoutSeconds: 10, memoryMb: 256 } as const satisfies FunctionShape;
