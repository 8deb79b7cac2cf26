import type { FunctionShape } from './route.ts';

/*
 * The shapes that functions come in: how their answers leave, how long they may take, and what they
 * are given. API Gateway waits 29 s for a buffered answer. docs/decisions/0143 says why memory is
 * as it is.
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

/** Answers one question, with an answer that can pass 6 MB. */
export const oneAnswer = {
  streaming: true,
  timeoutSeconds: 25,
  memoryMb: 512,
} as const satisfies FunctionShape;

/** Writes as many records as a request may have; the answers to tiny ones can pass 6 MB. */
export const batch = { streaming: true, timeoutSeconds: 28, memoryMb: 1024 } as const satisfies FunctionShape;

/** Deletes all that hangs together, however much. */
export const deletion = {
  streaming: true,
  timeoutSeconds: 300,
  memoryMb: 1024,
} as const satisfies FunctionShape;

/**
 * Answers as long as there is something to tell: 15 min at most, as long as Lambda and API Gateway
 * let a stream last.
 */
export const stream = {
  streaming: true,
  timeoutSeconds: 900,
  memoryMb: 1024,
} as const satisfies FunctionShape;

/**
 * Hands on what somebody else answers, for as long; it is paid while it waits, so with no more
 * memory than it takes.
 */
export const passThrough = {
  streaming: true,
  timeoutSeconds: 900,
  memoryMb: 512,
} as const satisfies FunctionShape;

/** Answers what it was made with. */
export const fixed = { streaming: false, timeoutSeconds: 5, memoryMb: 256 } as const satisfies FunctionShape;
