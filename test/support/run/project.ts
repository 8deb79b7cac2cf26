import { mkdtempSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inject } from 'vitest';

/** The project's root, an absolute path. */
export const root = resolve(import.meta.dirname, '../../..');

/** Makes an empty folder, which is removed when the run ends. */
export const temporaryFolder = (): string => mkdtempSync(join(inject('scratch'), 'folder-'));

/** The context of cdk.json: CDK's feature flags, and the settings. */
export const cdkContext: Record<string, unknown> = JSON.parse(
  readFileSync(join(root, 'cdk.json'), 'utf8'),
).context;
