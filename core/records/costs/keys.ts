import { createHash } from 'node:crypto';
import { UUID } from 'uuidv7';
import { packUuid, unpackUuid } from '../../foundations/encoding/index.ts';
import type { TableKey, TableRange } from '../../foundations/storage/declared-keys.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import type { PriceTerms } from './model.ts';

/*
 * The keys of the costs table: k is the project, p the 16 bytes of the price's id. A project's
 * prices are one partition, in order of their ids. That is the order of the milliseconds from which
 * they are in force.
 */

/**
 * The id of a price: a UUIDv7. Its time is that from which the price is in force (1970 for earlier
 * ones). Its other bits are a digest of the project and the terms.
 */
export const priceId = (projectId: ProjectId, terms: PriceTerms): string => {
  const { cacheReadTokenCost, cacheWriteTokenCost } = terms;
  const content = JSON.stringify([
    projectId,
    terms.model,
    terms.promptTokenCost,
    terms.completionTokenCost,
    terms.promptTokenCostUnit,
    terms.completionTokenCostUnit,
    terms.effectiveDate,
    terms.providerId,
    // Other prices have the ids that they always had.
    ...(cacheReadTokenCost || cacheWriteTokenCost
      ? [cacheReadTokenCost ?? null, cacheWriteTokenCost ?? null]
      : []),
  ]);
  const digest = createHash('sha256').update(content).digest();
  const millis = Math.max(0, Math.floor(terms.effectiveDate / 1000));
  const [randA, randBHi] = [digest.readUInt16BE(0) & 0xfff, digest.readUInt32BE(2) & 0x3fff_ffff];
  return UUID.fromFieldsV7(millis, randA, randBHi, digest.readUInt32BE(6)).toString();
};

const partition = (projectId: ProjectId): Uint8Array => Buffer.from(projectId, 'utf8');

/** The key of a price; undefined for an id that no price can have. */
export const priceKey = (projectId: ProjectId, id: string): TableKey<'costs'> | undefined => {
  const bytes = packUuid(id);
  return bytes && { k: partition(projectId), p: bytes };
};

/** The price's id, out of the table's sort key. */
export const priceIdOf = (sortKey: Uint8Array): string => unpackUuid(sortKey);

/** Every price of a project. */
export const pricesRange = (projectId: ProjectId): TableRange<'costs'> => ({
  partition: ['k', partition(projectId)],
});
