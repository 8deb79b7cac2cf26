/**
 * Records what instrumented programs export, as captures for the tests.
 *
 *     npm ci --prefix test/otel/record
 *     npx node test/otel/record/record.mjs          # all programs
 *     npx node test/otel/record/record.mjs plain    # one of them
 *
 * Each program in `programs/` runs against a scripted model on loopback. Its requests go to
 * `captures/js-recorded-<program>/`, where `expect.json` says by hand what they should mean.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { scriptedModel } from './model.mjs';

const here = import.meta.dirname;
const captures = join(here, '../captures');
const kept = ['content-type', 'content-encoding', 'user-agent'];

const listen = (server) =>
  new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`)),
  );

/** Takes exports, and keeps bodies and headers as they were sent. */
const collector = () => {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.url.endsWith('/v1/traces')) {
      const headers = Object.fromEntries(
        kept.flatMap((name) => (request.headers[name] ? [[name, request.headers[name]]] : [])),
      );
      requests.push({ body: Buffer.concat(chunks), path: request.url, headers });
    }
    response.writeHead(200, { 'content-type': request.headers['content-type'] });
    response.end(request.headers['content-type']?.includes('json') ? '{}' : undefined);
  });
  return { server, requests };
};

const run = (program, env) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(here, 'programs', `${program}.mjs`)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`)),
    );
  });

const versions = (program) => {
  const source = readFileSync(join(here, 'programs', `${program}.mjs`), 'utf8');
  const wanted = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).dependencies;
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => source.includes(`'${name}`)));
};

const record = async (program) => {
  const model = scriptedModel();
  const receiver = collector();
  const modelUrl = await listen(model.server);
  const url = await listen(receiver.server);
  await run(program, {
    OPENAI_API_KEY: 'sk-scripted',
    OPENAI_BASE_URL: `${modelUrl}/v1`,
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    // Stacks would hold the paths of whoever records.
    NODE_OPTIONS: '--stack-trace-limit=0',
  });
  model.server.close();
  receiver.server.close();
  const folder = join(captures, `js-recorded-${program}`);
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder)) if (/^\d+\./.test(file)) rmSync(join(folder, file));
  for (const [index, { body, ...rest }] of receiver.requests.entries()) {
    const name = String(index + 1).padStart(3, '0');
    writeFileSync(join(folder, `${name}.bin`), body);
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(rest, null, 1)}\n`);
  }
  const meta = { name: `js-recorded-${program}`, versions: versions(program), truth: model.truth };
  writeFileSync(join(folder, 'meta.json'), `${JSON.stringify(meta, null, 1)}\n`);
  console.log(`${program}: ${receiver.requests.length} requests`, JSON.stringify(model.truth));
};

const all = readdirSync(join(here, 'programs'))
  .filter((file) => file !== 'tracing.mjs')
  .map((file) => file.replace('.mjs', ''));
const [wanted] = process.argv.slice(2);
for (const program of wanted ? [wanted] : all) await record(program);
