import { describe, expect, it } from 'vitest';
import { changedPlaces, hiddenIn, movedPlaces, toPlaces } from '../../../../../web/calls/list/layout.ts';

const ids = ['name', 'status', 'cost'];

describe('the layout of columns', () => {
  it('has those that it names first, and forgets those that are not there', () => {
    const places = toPlaces(['-cost', 'gone', 'name~240'], ids);
    expect(places).toEqual([
      { id: 'cost', hidden: true, width: undefined },
      { id: 'name', hidden: false, width: 240 },
      { id: 'status', hidden: false, width: undefined },
    ]);
    expect(hiddenIn({ layout: ['-cost', 'name~240'] })).toEqual(new Set(['cost']));
  });

  it('is written as it was read, with what is hidden, moved or widened', () => {
    const places = toPlaces(undefined, ids);
    const hidden = changedPlaces(places, 'cost', { hidden: true, width: 9000 });
    expect(hidden).toEqual(['name', 'status', '-cost~1600']);
    expect(movedPlaces(toPlaces(hidden, ids), 'cost', -1)).toEqual(['name', '-cost~1600', 'status']);
    expect(movedPlaces(places, 'name', -1)).toEqual(ids);
  });
});
