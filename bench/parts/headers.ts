/**
 * What the service's own form of headers saves beside MessagePack: bytes, and a month's bill. Decision 0168
 * has the figures.
 */

import { headerAttributes } from '../../api/shared/header-fields.ts';
import { computeBills, total } from '../../bin/cost/bill.ts';
import { type ByReporting, measured, toLoad } from '../../bin/cost/load.ts';
import { type HeaderContent, unpackHeader } from '../../core/records/calls/header.ts';
import { type CallName, readCallId } from '../../core/records/calls/items.ts';
import { encodeMessagePack, packUuid } from '../../foundations/encoding/index.ts';
import { asBytes, scanTable } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import type { BenchContext, BenchPart } from '../harness/bench.ts';
import { counted, type Figure } from '../harness/figures.ts';
import { sendAll } from '../harness/reporting.ts';

/** A list without what is missing at its end. */
const trimmed = (list: readonly unknown[]): unknown[] =>
  list.slice(0, list.findLastIndex((value) => value !== null && value !== undefined) + 1);

/**
 * The header of a whole call as MessagePack, with what saves most for few lines: fields in one order, no
 * time that the key has, a place for the end's payload only if it is elsewhere, and short ids.
 */
const asMessagePack = ({ start, end }: HeaderContent, { projectId, id }: CallName): Uint8Array => {
  if (!start || !end || start.span || start.attributes.dotted)
    throw new Error('MessagePack is measured with whole calls of the API');
  const prefix = `svc:///${projectId}/op/`;
  const { segment, offset, length } = start.payload;
  const packId = (other: string | null): unknown => {
    if (other === id) return 0;
    if (other !== null && other === start.parentId) return 1;
    return other === null ? null : (packUuid(other) ?? other);
  };
  return encodeMessagePack([
    trimmed([
      start.opName.startsWith(prefix) ? start.opName.slice(prefix.length - 1) : start.opName,
      start.parentId && (packUuid(start.parentId) ?? start.parentId),
      packId(start.traceId),
      start.userId,
      start.bytes,
      segment === null ? null : Buffer.from(segment, 'hex'),
      offset,
      length,
      packId(start.threadId),
      packId(start.turnId),
      trimmed(headerAttributes.map((name) => start.attributes[name])),
      start.displayName,
      start.runId,
      start.runStep,
    ]),
    trimmed([
      end.endedAt - start.startedAt,
      ['success', 'error', 'descendant_error'].indexOf(end.status),
      end.bytes,
      end.payload.length,
      end.usage,
      end.waited,
      end.runStepEnd,
    ]),
  ]);
};

/** A month's bill, in dollars, if the header of each call that is reported whole takes so many bytes more. */
const billWith = (moreBytes: number): number => {
  const figures = measured();
  /** @param rows that have the header, without a thread and with one */
  const grown = (bytes: ByReporting, rows: readonly [number, number]): ByReporting => ({
    ...bytes,
    together: bytes.together + rows[0] * moreBytes,
    togetherInThreads: bytes.togetherInThreads + rows[1] * moreBytes,
  });
  const { service } = computeBills(toLoad(), {
    ...figures,
    headerBytes: grown(figures.headerBytes, [3, 4]),
    itemBytes: grown(figures.itemBytes, [1, 1]),
  });
  return total(service);
};

const run = async ({ bench, calls }: BenchContext): Promise<Figure[]> => {
  const projectId = String(calls[0]?.start.project_id) as ProjectId;
  const store = await (await bench()).newStore('calls');
  await sendAll(store, calls, 'together');
  let own = 0;
  let messagePack = 0;
  for await (const page of scanTable(store.table))
    for (const { k, p, h, ts } of page) {
      const key = asBytes(k);
      const header = asBytes(h);
      const timeKey = asBytes(ts);
      if (p !== 'S' || !key || !header || !timeKey) continue;
      const name = { projectId, id: readCallId(projectId, key) };
      own += header.length / calls.length;
      messagePack += asMessagePack(unpackHeader(header, name, timeKey), name).length / calls.length;
    }
  return [
    counted('a header', 'bytes', own),
    counted('a header as MessagePack', 'bytes', messagePack),
    counted('a month', '$', billWith(0)),
    counted('a month with MessagePack, by storage alone', '$', billWith(messagePack - own)),
  ];
};

/** Headers of calls in the service's own form, and as MessagePack. */
export const headers: BenchPart = {
  name: 'headers',
  title: 'Headers of whole calls: in the own form of the service, and as MessagePack',
  run,
};
