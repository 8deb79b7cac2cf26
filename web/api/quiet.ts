/*
 * What may be needed later is loaded once nothing that the view shows is on its way. A fixed time would not
 * do: on a slow network it is over before the first row is there.
 */

let pending = 0;
/** When the last answer began, in ms since the page was opened. */
let answeredAt = 0;

/** Notes a request until its answer begins, or fails. */
export const noteRequest = async <Answer>(request: Promise<Answer>): Promise<Answer> => {
  pending++;
  try {
    return await request;
  } finally {
    pending--;
    answeredAt = performance.now();
  }
};

/** How often it is looked whether it is quiet, in ms. */
const lookMs = 100;

/**
 * Does something once no request has been under way for some ms.
 *
 * @returns what forgets it
 */
export const whenQuiet = (ms: number, then: () => unknown): (() => void) => {
  const began = performance.now();
  const timer = setInterval(() => {
    if (pending > 0 || performance.now() - Math.max(began, answeredAt) < ms) return;
    clearInterval(timer);
    then();
  }, lookMs);
  return () => clearInterval(timer);
};
