/**
 * Sorts runs of neighbours that tie, in what comes in order otherwise. A run is held whole.
 *
 * @param isTied whether two items are of one run
 */
export async function* sortTies<T>(
  isTied: (a: T, b: T) => boolean,
  compare: (a: T, b: T) => number,
  batches: AsyncIterable<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  let run: T[] = [];
  for await (const batch of batches) {
    const ordered: T[] = [];
    for (const item of batch) {
      if (run[0] !== undefined && !isTied(run[0], item)) {
        // Not spread into push: a run can be longer than the arguments of a call.
        for (const tie of run.sort(compare)) ordered.push(tie);
        run = [];
      }
      run.push(item);
    }
    if (ordered.length > 0) yield ordered;
  }
  if (run.length > 0) yield run.sort(compare);
}
