/** Codex by `codex exec`: a command that works, and one that fails. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { HOME, SERVICE_URL, SERVICE_KEY, SERVICE_PROJECT, OPENAI_BASE_URL, QUESTION } = process.env;

const exporter = (signal) =>
  `{ otlp-http = { endpoint = "${SERVICE_URL}/otel/v1/${signal}", protocol = "binary", headers = { "authorization" = "Bearer ${SERVICE_KEY}", "project_id" = "${SERVICE_PROJECT}" } } }`;

mkdirSync(join(HOME, '.codex'));
writeFileSync(
  join(HOME, '.codex/config.toml'),
  `model = "gpt-5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = "${OPENAI_BASE_URL}"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[otel]
log_user_prompt = true
exporter = ${exporter('logs')}
${process.argv.includes('spans') ? `trace_exporter = ${exporter('traces')}` : ''}
`,
);
const folder = join(HOME, 'work');
mkdirSync(folder);
writeFileSync(join(folder, 'orders.txt'), 'NB-4471: shipped on Monday\n');

const cli = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/@openai/codex/bin/codex.js');
const { status } = spawnSync(process.execPath, [cli, 'exec', '--skip-git-repo-check', QUESTION], {
  cwd: folder,
  stdio: ['ignore', 'inherit', 'inherit'],
});
process.exit(status ?? 1);
