import { useEffect, useState } from 'react';
import { whenQuiet } from '../api/quiet.ts';

/** A value once it has not changed for some ms; the first one at once. */
export const useSettled = <Value>(value: Value, ms: number): Value => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
};

/** Whether no request has been under way for some ms: what a view shows comes before what it may need later. */
export const useQuiet = (ms: number): boolean => {
  const [isQuiet, setQuiet] = useState(false);
  useEffect(() => whenQuiet(ms, () => setQuiet(true)), [ms]);
  return isQuiet;
};
