import { must, type Target, theLog } from './check.ts';

/** The page and its script load. */
export const page = async ({ url }: Target): Promise<void> => {
  const headers = { accept: 'text/html' };
  const answer = await fetch(`${url}/`, { headers });
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  must(
    answer.status === 200 && type.startsWith('text/html'),
    `GET / leads to ${answer.status} ${type}`,
    theLog,
  );
  must(
    answer.url.endsWith('/ui/'),
    `GET / leads to ${answer.url}`,
    'see docs/decisions/0176: relative addresses',
  );
  const [, script] = /<script[^>]* src="([^"]+)"/.exec(text) ?? [];
  must(script !== undefined, 'the page has no script', theLog);
  const code = await fetch(new URL(script ?? '', answer.url));
  must(code.status === 200, `the page’s script is ${code.status}`, theLog);
  await code.arrayBuffer();
};
