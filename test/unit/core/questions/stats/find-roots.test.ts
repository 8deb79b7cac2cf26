import { describe, expect, it } from 'vitest';
import { timeOfId } from '../../../../../core/questions/stats/find-roots.ts';

describe('timeOfId', () => {
  it('gives the time of a UUID of version 7 in microseconds', () => {
    // The example of RFC 9562, A.6: 2022-02-22T14:22:22-05:00.
    const time = Date.UTC(2022, 1, 22, 19, 22, 22) * 1000;
    expect(timeOfId('017F22E2-79B0-7CC3-98C4-DC0C0C07398F')).toBe(time);
    expect(timeOfId('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')).toBe(time);
  });

  it.each(['919108f7-52d1-4320-9bac-f847db4148a8', '98c4dc0c0c07398f017f22e279b07cc3', 'call-1', ''])(
    'finds none in %j',
    (id) => {
      expect(timeOfId(id)).toBeUndefined();
    },
  );
});
