import type { BenchPart } from '../harness/part.ts';
import { cpu } from './cpu.ts';
import { encodings } from './encodings.ts';
import { extrasPart } from './extras.ts';
import { feedback } from './feedback.ts';
import { functions } from './functions.ts';
import { inference } from './inference.ts';
import { listPart } from './lists.ts';
import { otel } from './otel.ts';
import { page } from './page.ts';
import { queries } from './queries.ts';
import { rollups } from './rollups.ts';
import { scan } from './scan.ts';
import { service } from './service.ts';
import { speed } from './speed.ts';
import { starts } from './starts.ts';
import { statistics } from './statistics.ts';
import { streams } from './streams.ts';
import { tablePart } from './tables.ts';
import { threads } from './threads.ts';
import { tuning } from './tuning.ts';
import { writes } from './writes.ts';

/** All parts of the bench in order: counts, then times. */
export const parts: readonly BenchPart[] = [
  writes,
  queries,
  listPart,
  extrasPart,
  feedback,
  tablePart,
  threads,
  statistics,
  rollups,
  tuning,
  otel,
  streams,
  cpu,
  encodings,
  scan,
  starts,
  functions,
  speed,
  inference,
  service,
  page,
];
