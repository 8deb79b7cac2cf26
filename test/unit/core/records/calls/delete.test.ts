import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Link, withDescendants } from '../../../../../core/records/calls/delete.ts';

describe('the descendants of calls', () => {
  it('are their children and everything below, with their depths', () => {
    const links: Link[] = [
      ['leaf', 'child'],
      ['child', 'root'],
      ['stranger', 'other'],
      ['second', 'root'],
    ];
    expect(withDescendants(['root'], links)).toEqual(
      new Map([
        ['root', 0],
        ['child', 1],
        ['second', 1],
        ['leaf', 2],
      ]),
    );
  });

  it('are none if a call has no children', () => {
    expect(withDescendants(['leaf'], [['leaf', 'root']])).toEqual(new Map([['leaf', 0]]));
    expect(withDescendants([], [['leaf', 'root']])).toEqual(new Map());
  });

  it('have the depth below the nearest requested call', () => {
    const links: Link[] = [
      ['b', 'a'],
      ['c', 'b'],
      ['d', 'c'],
    ];
    expect([...withDescendants(['a', 'c'], links)].sort()).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 0],
      ['d', 1],
    ]);
  });

  it('end at a cycle of parents', () => {
    const links: Link[] = [
      ['b', 'a'],
      ['a', 'b'],
      ['self', 'self'],
    ];
    expect(withDescendants(['a', 'self'], links)).toEqual(
      new Map([
        ['a', 0],
        ['self', 0],
        ['b', 1],
      ]),
    );
  });

  const ids = fc.integer({ min: 0, max: 30 }).map(String);
  const parents = fc.dictionary(ids, ids).map((dictionary): Link[] => Object.entries(dictionary));

  it('are exactly the calls whose parents lead to a requested one', () => {
    fc.assert(
      fc.property(fc.uniqueArray(ids, { maxLength: 5 }), parents, (asked, links) => {
        const parents = new Map(links);
        const leadsThere = (id: string): boolean => {
          const seen = new Set<string>();
          for (let at: string | undefined = id; at !== undefined && !seen.has(at); at = parents.get(at)) {
            if (asked.includes(at)) return true;
            seen.add(at);
          }
          return false;
        };
        const all = new Set([...asked, ...links.flat()]);
        const found = withDescendants(asked, links);
        expect([...found.keys()].sort()).toEqual([...all].filter(leadsThere).sort());
        // Deeper than its parent, so that it goes before it.
        for (const [id, depth] of found) {
          if (!asked.includes(id)) expect(depth).toBe((found.get(parents.get(id) ?? '') ?? Number.NaN) + 1);
        }
      }),
    );
  });
});
