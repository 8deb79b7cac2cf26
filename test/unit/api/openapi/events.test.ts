import { describe, expect, it } from 'vitest';
import { eventSchemas } from '../../../../api/openapi/events.ts';
import { filesLike, readText } from '../../../support/documents/documents.ts';

describe('the schemas of events', () => {
  it('are those of the code: npm run generate', () => {
    const shipped = filesLike('docs/events/*.json').map((file) => [file, JSON.parse(readText(file))]);
    const made = Object.entries(eventSchemas()).map(([kind, schema]) => [
      `docs/events/${kind}.json`,
      JSON.parse(JSON.stringify(schema)),
    ]);
    expect(shipped).toEqual(made.toSorted());
  });
});
