import { type RowWriter, writeRows } from '../../core/workers/analytics/index.ts';
import { s3Client } from '../../foundations/storage/index.ts';
import { stores } from '../common/http/stores.ts';
import { deadLetters, streamHandler } from '../common/streams/batch.ts';
import { costsOfProject } from '../common/streams/costs.ts';
import { required } from '../common/streams/queues.ts';

/** Made once per container, while it starts. */
const writer: RowWriter = {
  calls: stores.calls,
  feedback: stores.feedback,
  costs: costsOfProject,
  bucket: { client: s3Client(), name: required('ANALYTICS_BUCKET') },
  deadLetters,
};

/** Writes what the streams of calls and feedback tell as Parquet files: docs/analytics.md. */
export const handler = streamHandler('analytics', async (records, budget) => ({
  rows: await writeRows(writer, records, budget),
}));
