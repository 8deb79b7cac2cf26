/**
 * The shard of an id among `count`, from 0: FNV-1a (32 bits) over its UTF-16 code units, modulo the
 * count.
 */
export const shardOf = (id: string, count: number): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % count;
};
