import { ServiceError } from '../../foundations/wire/index.ts';

/** What works on a list, and gives a list. */
type Work<T, R> = (some: readonly T[]) => Promise<readonly R[]>;

/**
 * Works on a list as a whole. If that fails because of what is in it, it works on its halves, down
 * to the one that fails. One bad record must not hold all others up.
 *
 * @param spoilt takes what fails by itself, and why
 * @throws ServiceError if storage fails, since that has nothing to do with the list
 */
export const isolate = async <T, R>(
  list: readonly T[],
  work: Work<T, R>,
  spoilt: (item: T, error: Error) => void,
): Promise<readonly R[]> => {
  try {
    return await work(list);
  } catch (error) {
    if (error instanceof ServiceError || !(error instanceof Error)) throw error;
    const [first] = list;
    if (list.length > 1) {
      const middle = list.length >> 1;
      const before = await isolate(list.slice(0, middle), work, spoilt);
      return [...before, ...(await isolate(list.slice(middle), work, spoilt))];
    }
    if (first !== undefined) spoilt(first, error);
    return [];
  }
};
