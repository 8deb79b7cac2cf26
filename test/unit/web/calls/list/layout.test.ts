import { describe, expect, it } from 'vitest';
import {
  changedPlaces,
  hiddenIn,
  listState,
  movedPlaces,
  toPlaces,
} from '../../../../../web/calls/list/layout.ts';

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

describe('the state of a list', () => {
  const project = 'acme/shop';

  it('leaves out what no row is read anew for', () => {
    const search = { project, live: true, peek: 't1', call: 'c1', layout: ['name~240'], columns: ['tags'] };
    expect(listState(search)).toEqual({ project });
    expect(listState({ project, columns: ['tags', 'inputs.model'], layout: ['-preview'] })).toEqual({
      project,
      columns: ['inputs.model'],
      layout: ['-preview'],
    });
  });
});
