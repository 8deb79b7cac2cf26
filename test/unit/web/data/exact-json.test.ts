import { expect, it } from 'vitest';
import { parseToWrite } from '../../../../web/data/exact-json.ts';

it('numbers are written as they were read', () => {
  const text = '{"a":1.0,"b":[12345678901234567890,-0,1e2,0.1],"c":{"d":3,"e":"1.0"},"f":null}';
  expect(JSON.stringify(parseToWrite(text))).toBe(text);
});
