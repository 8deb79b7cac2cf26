export { type Encoding, encodeAnswer, encodeStatus } from './answer.ts';
export { decodeExport, storeSpans } from './export.ts';
export { projectHeader, projectsOf, type SelectedSpans, selectSpans } from './projects.ts';
