/** A function in a process of its own, as a container of Lambda's holds it. */
import { type ChildProcess, fork } from 'node:child_process';
import type { FunctionSpec } from '../../local/template/functions.ts';
import type { Failed, Invocation, Invoked } from './function-process.ts';

/** What Lambda's runtime for Node gives V8 of a function's memory. */
const memoryFlags = (memoryMb: number): string[] => [
  `--max-semi-space-size=${Math.floor(memoryMb * 0.05)}`,
  `--max-old-space-size=${Math.floor(memoryMb * 0.9)}`,
];

/** A function in a process, which ends with it. */
export class HeldFunction implements Disposable {
  readonly #child: ChildProcess;
  /**
   * The code that the process ends with; null where V8 aborts it, as it does where its heap is
   * full.
   */
  readonly #ended: Promise<number | null>;

  /** @param environment beside the function's own */
  constructor(spec: FunctionSpec, memoryMb: number, environment: Readonly<Record<string, string>>) {
    this.#child = fork(new URL('./function-process.ts', import.meta.url), [`${spec.folder}/index.cjs`], {
      execArgv: memoryFlags(memoryMb),
      env: { PATH: process.env.PATH, ...environment, ...spec.environment },
      // V8 has much to say of a heap that is full.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve));
    // What could not be sent is seen by the process's end.
    this.#child.on('error', () => {});
  }

  /**
   * Lets it answer an event.
   *
   * @returns undefined where the process ran out of memory over it
   * @throws Error where it failed in another way
   */
  async invoke(event: object): Promise<Invoked | undefined> {
    const answered = new Promise<Invoked | Failed>((resolve) => this.#child.once('message', resolve));
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
