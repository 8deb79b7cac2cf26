export { type Encoding, encodeAnswer, encodeStatus } from './answer.ts';
export type { Rejection } from './decode/spans.ts';
export { checkMetrics, decodeExport, storeSpans } from './export.ts';
export { projectHeader, projectsOf, type Selection, selectSpans } from './projects.ts';
