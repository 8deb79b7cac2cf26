export {
  type Encoding,
  encodeAnswer,
  encodeLogsAnswer,
  encodeMetricsAnswer,
  encodeStatus,
  messageOf,
} from './answer.ts';
export type { Rejection } from './decode/spans.ts';
export { checkMetrics, decodeExport, decodeLogs, storeRecords, storeSpans } from './export.ts';
export {
  projectHeader,
  projectOfHeader,
  projectsOf,
  type Selection,
  selectRecords,
  selectSpans,
} from './projects.ts';
