/** A function in a process of its own, like a Lambda container. */
import { type ChildProcess, fork } from 'node:child_process';
import type { FunctionSpec } from '../../local/template/functions.ts';
import type { Invocation, InvocationFailure, InvocationResult } from './function-process.ts';

/** The share of a function's memory that Lambda's Node runtime gives to V8. */
const memoryFlags = (memoryMb: number): string[] => [
  `--max-semi-space-size=${Math.floor(memoryMb * 0.05)}`,
  `--max-old-space-size=${Math.floor(memoryMb * 0.9)}`,
];

/** A function in a child process. Disposal ends the process. */
export class FunctionContainer implements Disposable {
  readonly #child: ChildProcess;
  /** The exit code of the process; null if V8 aborts it because its heap is full. */
  readonly #ended: Promise<number | null>;

  /** @param environment variables beside the function's own */
  constructor(spec: FunctionSpec, memoryMb: number, environment: Readonly<Record<string, string>>) {
    this.#child = fork(new URL('./function-process.ts', import.meta.url), [`${spec.folder}/index.cjs`], {
      execArgv: memoryFlags(memoryMb),
      env: { PATH: process.env.PATH, ...environment, ...spec.environment },
      // V8 prints a long report when its heap is full.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve));
    // The end of the process tells that a message could not be sent.
    this.#child.on('error', () => {});
  }

  /**
   * Invokes the function with an event.
   *
   * @returns undefined if the process ran out of memory
   * @throws Error if it failed in another way
   */
  async invoke(event: object): Promise<InvocationResult | undefined> {
    const answered = new Promise<InvocationResult | InvocationFailure>((resolve) =>
      this.#child.once('message', resolve),
    );
    this.#child.send({ event: JSON.stringify(event) } satisfies Invocation);
    const answer = await Promise.race([answered, this.#ended]);
    if (answer === null) return undefined;
    if (typeof answer === 'number') throw new Error(`the function's process ended with code ${answer}`);
    if ('failed' in answer) throw new Error(answer.failed);
    return answer;
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}
