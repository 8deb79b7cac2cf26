import { type Fault, fits } from '../../support/faults/faults.ts';
import { faultPlan } from '../../support/faults/faulty-client.ts';
import type { Answer, InProcess, Sent } from '../../support/service/in-process.ts';
import type { Random } from '../../support/values/random.ts';

/** What came of all requests so far. */
export interface Tally {
  /** By route and status; `broken` where the answer did not come to its end. */
  readonly answers: Map<string, number>;
  requests: number;
  storageRequests: number;
  faults: number;
  /** Requests that were given up: nobody knows what became of them. */
  abandoned: number;
}

/** A tally of nothing. */
export const newTally = (): Tally => ({
  answers: new Map(),
  requests: 0,
  storageRequests: 0,
  faults: 0,
  abandoned: 0,
});

const kinds: readonly Fault[] = ['throttle', 'error', 'reset', 'down', 'hang'];

/**
 * A client on a bad day: 5 % of the storage requests behind its requests fail, and sometimes all of
 * them for a while.
 */
export interface Client {
  /**
   * Sends a request until it succeeds, or gives it up.
   *
   * @returns the answer; undefined where it was given up
   * @throws Error where an answer is not among those that are documented
   */
  send(request: Sent): Promise<Answer | undefined>;
  /** Sends a request until it succeeds. */
  insist(request: Sent): Promise<Answer>;
}

/** A function's time with which storage that stays away is soon given up, in milliseconds. */
const shortMs = 1150;

/** Makes a client whose faults its random numbers give. */
export const newClient = (service: InProcess, random: Random, tally: Tally): Client => {
  const attempt = async (request: Sent): Promise<Answer> => {
    // Inference keeps the last 15 s of its time for its record.
    const isOutage = random.chance(0.04) && !request.path.startsWith('/inference/');
    const plan = faultPlan((number, operation) => {
      tally.storageRequests++;
      // Few operations can be done by half: those are, more often than not.
      const isHalf = random.chance(0.5) && fits('half', operation);
      const fault = isHalf ? 'half' : (random.pick(kinds) ?? 'none');
      const hit = isOutage ? number > 0 : random.chance(0.05);
      if (!hit) return 'none';
      tally.faults++;
      return fault;
    });
    tally.requests++;
    const answer = await service.send(request, { plan, ...(isOutage && { timeMs: shortMs }) });
    const outcome = `${request.path} ${answer.complete ? answer.status : 'broken'}`;
    tally.answers.set(outcome, (tally.answers.get(outcome) ?? 0) + 1);
    const isDocumented = answer.status === 200 || answer.status === 503;
    if (!isDocumented) throw new Error(`${outcome}: ${answer.text}\n${service.getLog(answer)}`);
    return answer;
  };
  const isSuccess = ({ status, complete }: Answer) => status === 200 && complete;
  return {
    insist: async (request) => {
      for (;;) {
        const answer = await attempt(request);
        if (isSuccess(answer)) return answer;
      }
    },
    send: async (request) => {
      for (;;) {
        const answer = await attempt(request);
        if (isSuccess(answer)) return answer;
        if (random.chance(0.5)) {
          tally.abandoned++;
          return undefined;
        }
      }
    },
  };
};
