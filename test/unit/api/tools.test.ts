import { getEncoding } from 'js-tiktoken';
import { describe, expect, it } from 'vitest';
import { listedTools } from '../../../api/openapi/index.ts';
import { everyCall } from '../../../api/queries.ts';
import { queryCalls, rowColumns, tools } from '../../../api/tools.ts';
import { parseValue } from '../../../foundations/wire/schema.ts';

/** The most tokens of `tools/list`, which is in every conversation with a coding agent. */
const maxTokens = 4500;

const encoding = getEncoding('o200k_base');

describe('the list of tools', () => {
  it(`has at most ${maxTokens} tokens`, () => {
    const text = JSON.stringify({ tools: listedTools() });
    const count = encoding.encode(text).length;
    expect(count).toBeLessThanOrEqual(maxTokens);
    expect(count).toBeGreaterThan(1000);
  });

  it('says of each tool what it takes, and which of it must be there', () => {
    for (const { name, description, inputSchema, outputSchema } of listedTools()) {
      const { properties, required = [] } = inputSchema as { properties: object; required?: string[] };
      expect([name, Object.keys(properties)]).toEqual([name, expect.arrayContaining(required)]);
      expect([name, Object.keys(properties)]).toEqual([name, expect.arrayContaining(['max_characters'])]);
      expect([name, outputSchema.type, description.length > 20]).toEqual([name, 'object', true]);
    }
    expect(listedTools().map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  });

  it('says which tools only read', () => {
    const readers = listedTools().filter(({ annotations }) => annotations.readOnlyHint);
    expect(readers.map(({ name }) => name)).toEqual(
      tools.filter(({ role }) => role === 'read').map(({ name }) => name),
    );
  });
});

describe('the columns of query_calls', () => {
  const parse = (columns: readonly string[]) =>
    parseValue(queryCalls.request(), { project_id: 'acme/shop', columns });

  it('are those of rows, and dotted paths into calls', () => {
    const columns = [...rowColumns, 'inputs.messages.0.content', 'output', 'attributes.user.id'];
    expect(parse(columns)).toMatchObject({ columns, filter: everyCall });
  });

  it('are refused where there is none of that name', () => {
    expect(() => parse(['latency'])).toThrow();
  });
});
