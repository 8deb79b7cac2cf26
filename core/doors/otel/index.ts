export {
  type Encoding,
  encodeAnswer,
  encodeLogsAnswer,
  encodeMetricsAnswer,
  encodeStatus,
  toMessage,
} from './answer.ts';
export type { Rejection } from './decode/spans.ts';
export { addSpans, checkMetrics, decodeExport, decodeLogs, storeRecords, storeSpans } from './export.ts';
export {
  projectHeader,
  projectOfHeader,
  type Selection,
  selectRecords,
  selectSpans,
  uniqueProjects,
} from './projects.ts';
