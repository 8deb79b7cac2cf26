export { type Encoding, encodeAnswer, encodeStatus } from './answer.ts';
export { decodeExport, storeSpans } from './export.ts';
export { projectHeader } from './project.ts';
export { projectsOf, type SelectedSpans, selectSpans } from './select.ts';
