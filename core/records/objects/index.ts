export {
  authorizeChange,
  authorizeDeletion,
  authorizeObject,
  checkObject,
  checkValue,
  describeCreation,
  describeDeletion,
  getOwnClass,
  type ParseObject,
  readClass,
  readNewest,
} from './classes.ts';
export { createObject, getBaseObjectClass, type NewObject, type ObjectChecks } from './create.ts';
export { deleteVersions } from './delete.ts';
export { listRanges } from './items.ts';
export {
  type Alias,
  type AliasMove,
  addTags,
  authorizeLabels,
  checkAliases,
  isPromptClass,
  labelsIn,
  type Mover,
  moveAliases,
  moveAliasesTo,
  readAliases,
  readLabels,
  readMoves,
  refuseLabelled,
  removeAliases,
  removeTags,
} from './labels.ts';
export * from './model.ts';
export { findAll, objectJson, queryObjects } from './query.ts';
export { type Address, findDigests, findVersions, readHeads, readObject, readValues } from './read.ts';
export { resolveRefs, streamRefs } from './refs.ts';
