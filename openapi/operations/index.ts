import type { WireNames } from '../../core/foundations/wire/index.ts';
import type { Operations } from '../operation.ts';
import { callOperations } from './calls.ts';
import { costOperations } from './costs.ts';
import { feedbackOperations } from './feedback.ts';
import { objectOperations } from './objects.ts';
import { inferenceOperations, openOperations, threadOperations } from './others.ts';
import { otlpOperations } from './otlp.ts';
import { projectOperations } from './projects.ts';
import { statsOperations } from './stats.ts';
import { weaveOperations } from './weave.ts';

/** What the document says of all routes. Their examples work in this order. */
export const operationsOf = (names: WireNames): Operations => ({
  ...callOperations(names),
  ...statsOperations(),
  ...otlpOperations(names),
  ...threadOperations,
  ...objectOperations(names),
  ...costOperations,
  ...feedbackOperations(names),
  ...inferenceOperations,
  ...projectOperations(names),
  ...openOperations,
  ...weaveOperations(),
});
