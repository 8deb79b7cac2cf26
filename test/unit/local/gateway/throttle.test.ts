import { expect, it } from 'vitest';
import { tokenBucket } from '../../../../local/gateway/throttle.ts';

it('A bucket gives its burst at once, then tokens at its rate, and never holds more than its burst', () => {
  let ms = 0;
  const take = tokenBucket({ ratePerSecond: 2, burst: 3 }, () => ms);
  const takeAll = (): number => {
    let taken = 0;
    while (take()) taken += 1;
    return taken;
  };
  expect(takeAll()).toBe(3);
  ms += 400;
  expect(takeAll()).toBe(0);
  ms += 100;
  expect(takeAll()).toBe(1);
  ms += 60_000;
  expect(takeAll()).toBe(3);
});
