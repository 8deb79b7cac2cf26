import { makeApp } from '../lib/app.ts';
import { SettingsError } from '../lib/config.ts';

// esbuild collects its garbage less often, and takes less time. More would take gigabytes.
process.env.GOGC ??= '200';
try {
  (await makeApp()).synth();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
