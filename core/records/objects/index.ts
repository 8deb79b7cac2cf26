export { objectJson } from './answer.ts';
export { createObject, type NewObject } from './create.ts';
export { deleteVersions } from './delete.ts';
export { digestOf } from './digest.ts';
export {
  addTags,
  labelsIn,
  readLabels,
  removeAliases,
  removeTags,
  setAliases,
} from './labels.ts';
export { type Address, digestsOf } from './lookup.ts';
export * from './model.ts';
export { queryObjects } from './query.ts';
export { readObject } from './read.ts';
export { resolveRefs, streamRefs } from './refs.ts';
export * from './request.ts';
