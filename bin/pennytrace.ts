import { makeApp } from '../lib/app.ts';
import { SettingsError } from '../lib/config.ts';

try {
  makeApp().synth();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
