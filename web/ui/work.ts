import { useCallback, useRef, useState } from 'react';
import { errorText } from '../api/http.ts';

interface Working {
  /** Aborted by `stop`. */
  readonly signal: AbortSignal;
  /** Says how far it is, in the place of what is done. */
  readonly say: (doing: string) => void;
}

interface WorkOptions {
  /** What is done, in the words of the view. @default '' */
  readonly as?: string;
  /** What stands before the reason if it fails, such as `Nothing was saved.` @default - nothing */
  readonly failed?: string;
}

/**
 * Something that a form does, one thing at a time.
 *
 * @returns what it does, undefined for nothing; what went wrong last, in words; what begins and stops it
 */
export const useWork = () => {
  const [doing, setDoing] = useState<string>();
  const [error, setError] = useState<string>();
  const running = useRef<AbortController>(undefined);
  const run = async (
    work: (working: Working) => Promise<unknown>,
    { as = '', failed }: WorkOptions = {},
  ): Promise<void> => {
    const ending = new AbortController();
    running.current = ending;
    setDoing(as);
    setError(undefined);
    try {
      await work({ signal: ending.signal, say: setDoing });
    } catch (failure) {
      const words = errorText(failure);
      if (!ending.signal.aborted) setError(failed === undefined ? words : `${failed} ${words}`);
    }
    setDoing(undefined);
  };
  const stop = useCallback(() => running.current?.abort(), []);
  return {
    doing,
    isBusy: doing !== undefined,
    error,
    run,
    /** Says what is wrong, without having begun. */
    refuse: setError,
    stop,
  };
};
