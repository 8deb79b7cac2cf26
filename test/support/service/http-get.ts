import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** An answer as it came over the wire: nothing unpacked, no redirect followed. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** GETs a URL as it is written. fetch would normalize it, and unpack and follow the answer. */
export const get = (url: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> => {
  const { hostname, port, origin } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: url.slice(origin.length), headers }, async (answer) => {
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers as Record<string, string | undefined>,
        body: await buffer(answer),
      });
    })
      .on('error', reject)
      .end();
  });
};
