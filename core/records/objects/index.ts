export { createObject, type NewObject } from './create.ts';
export { deleteVersions } from './delete.ts';
export {
  addTags,
  labelsIn,
  readLabels,
  removeAliases,
  removeTags,
  setAliases,
} from './labels.ts';
export * from './model.ts';
export { objectJson, queryObjects } from './query.ts';
export { type Address, digestsOf, readObject } from './read.ts';
export { resolveRefs, streamRefs } from './refs.ts';
export * from './request.ts';
