import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesDigest, pythonJson } from '../../../../../core/doors/weave/digest.ts';
import { weaveDoor } from '../../../../../core/doors/weave/index.ts';
import { tableDigest } from '../../../../../core/records/tables/index.ts';
import { digestBytes, digestOfBytes } from '../../../../../core/records/tables/packs.ts';
import { isContentDigest, type JsonValue, parseJson } from '../../../../../foundations/wire/index.ts';
import vectors from '../../../../weave/digests.json' with { type: 'json' };

const toDigest = (text: string) => weaveDoor.digests.ofValue(parseJson(text) as JsonValue);

describe('digests of Weave’s SDK', () => {
  it.each(vectors.values as [string, string][])('are ours of %s', (text, digest) => {
    expect(toDigest(text)).toBe(digest);
  });

  it('are ours of rows and tables', () => {
    const rows = vectors.rows as [string, string][];
    const digests = rows.map(([text]) => toDigest(text));
    expect(digests).toEqual(rows.map(([, digest]) => digest));
    for (const [count, digest] of vectors.tables as [number, string][])
      expect(tableDigest(digests.slice(0, count))).toBe(digest);
  });

  it('are of the refs that it sends, whichever are stored', () => {
    const { ofValue } = weaveDoor.digests;
    expect(ofValue({ rows: 'svc:///a/b/table/x' })).toBe(bytesDigest('{"rows": "weave:///a/b/table/x"}'));
  });

  it.each(vectors.files as [string, string][])('are ours of the file %j', (text, digest) => {
    expect(bytesDigest(text)).toBe(digest);
  });

  it('fit into 32 bytes and come back from them', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const digest = bytesDigest(bytes);
        expect(isContentDigest(digest)).toBe(true);
        expect(digestBytes(digest)).toHaveLength(32);
        expect(digestOfBytes(digestBytes(digest))).toBe(digest);
      }),
    );
  });
});

describe('pythonJson', () => {
  it('says the same as the value, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as JsonValue;
        expect(JSON.parse(pythonJson(json))).toEqual(json);
      }),
    );
  });
});
