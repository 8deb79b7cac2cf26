import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { membersOf, upstreamBody } from '../../../../../core/doors/inference/body.ts';
import { anyCharacter } from '../../../../support/arbitraries/character.ts';

const spaces = fc.constantFrom('', ' ', '\n\t', '  ');
const member = fc.tuple(fc.string({ unit: anyCharacter }), fc.jsonValue(), spaces);

describe('the members of an object', () => {
  it('are those that JSON.parse finds, with any spaces and repeated names', () => {
    fc.assert(
      fc.property(fc.array(member), spaces, (members, around) => {
        const parts = members.map(
          ([name, value, s]) => `${s}${JSON.stringify(name)}${s}:${s}${JSON.stringify(value, null, s)}${s}`,
        );
        const text = `${around}{${parts.join(',') || around}}${around}`;
        const read = [...membersOf(text)].map(([name, value]) => [name, JSON.parse(value)]);
        expect(new Map(read as [string, unknown][])).toEqual(new Map(Object.entries(JSON.parse(text))));
      }),
    );
  });

  it('keep their values letter by letter', () => {
    const text = '{"a" : 1.0e+2 , "b":[ "}\\"]" ,{}] , "c":"\\u0041\\\\"}';
    expect([...membersOf(text)]).toEqual([
      ['a', '1.0e+2'],
      ['b', '[ "}\\"]" ,{}]'],
      ['c', '"\\u0041\\\\"'],
    ]);
  });

  it('are found in linear time', () => {
    const text = `{"a":"${'\\\\'.repeat(500_000)}","b":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect([...membersOf(text).keys()]).toEqual(['a', 'b']);
  });
});

describe('the upstream’s body', () => {
  it('has everything but the service’s own fields, and the upstream’s name of the model', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (fields, model) => {
        const sent = { ...fields, model: 'asked', timeout: 1, extra_headers: {}, api_version: 'v' };
        const { timeout: _t, extra_headers: _h, api_version: _v, ...kept } = JSON.parse(JSON.stringify(sent));
        expect(JSON.parse(upstreamBody(JSON.stringify(sent), model))).toEqual({ ...kept, model });
      }),
    );
  });

  it('has only the model that it was routed by, however many were sent', () => {
    expect(upstreamBody('{"model":"a","x":1,"model":"b"}', 'c')).toBe('{"model":"c","x":1}');
  });
});
